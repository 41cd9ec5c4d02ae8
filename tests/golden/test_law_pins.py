"""Every shipped law gives the pinned receipts and digests: of the law, its cases, its verdict and its certificate.

`pytest -n0 tests/golden/test_law_pins.py --snapshot-update` accepts a change. A mismatch names the changed specs first.
"""

import json
from functools import lru_cache
from pathlib import Path

import pytest
from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.base import AbstractSyrupyExtension

from specledger.core.canonical import canonical_bytes, pretty
from specledger.pipeline.checking import load_cases
from specledger.pipeline.golden import Pin, difference, pin

LAWS = sorted(Path("specs/law").glob("*.yaml"))


class LawPins(AbstractSyrupyExtension):
    """One file for all laws, a line of JSON for each."""

    file_extension = "jsonl"

    @classmethod
    def dirname(cls, *, test_location):
        return str(Path(test_location.filepath).resolve().parents[2] / "fixtures" / "laws")

    def serialize(self, data, **_):
        return json.dumps(data, indent=1, sort_keys=True)

    def diff_lines(self, serialized_data, snapshot_data):
        """The changed specs and the first field that differs, then the difference of the indented texts."""
        made, accepted = json.loads(str(serialized_data)), json.loads(str(snapshot_data))
        new, old = (tuple(map(canonical_bytes, one["receipts"])) for one in (made, accepted))
        yield difference(Pin("", made["digests"], new), pretty(accepted["digests"]).encode(), old)
        yield from super().diff_lines(serialized_data, snapshot_data)

    def read_snapshot_collection(self, *, snapshot_location):
        found = SnapshotCollection(location=snapshot_location)
        path = Path(snapshot_location)
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            pinned = json.loads(line)
            found.add(Snapshot(pinned["name"], json.dumps(pinned["pin"], indent=1, sort_keys=True)))
        return found

    @classmethod
    @lru_cache
    def _read_once(cls, snapshot_location, session_id):
        return cls().read_snapshot_collection(snapshot_location=snapshot_location)

    def read_snapshot_data_from_location(self, *, snapshot_location, snapshot_name, session_id):
        found = self._read_once(snapshot_location, session_id).get(snapshot_name)
        return None if found is None else found.data

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection, name_order=None):
        known = cls().read_snapshot_collection(snapshot_location=snapshot_collection.location)
        known.merge(snapshot_collection)
        cls._write(known)

    def delete_snapshots(self, *, snapshot_location, snapshot_names):
        known = self.read_snapshot_collection(snapshot_location=snapshot_location)
        for name in snapshot_names:
            known.remove(name)
        self._write(known)

    @classmethod
    def _write(cls, collection):
        lines = (
            json.dumps({"name": each.name, "pin": json.loads(each.data)}, sort_keys=True, separators=(",", ":"))
            for each in sorted(collection, key=lambda each: each.name)
        )
        Path(collection.location).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("path", LAWS, ids=lambda path: path.stem)
def test_law(path, snapshot):
    (bundle,) = load_cases(str(path))
    made = pin(bundle)
    assert {"digests": made.tree, "receipts": list(map(json.loads, made.receipts))} == snapshot.use_extension(LawPins)


def test_nothing_else_is_pinned():
    pinned = Path("fixtures/laws/test_law_pins.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["name"] for line in pinned] == sorted(f"test_law[{path.stem}]" for path in LAWS)
