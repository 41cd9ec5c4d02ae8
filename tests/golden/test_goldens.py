"""Every shipped scenario gives the pinned digests and the pinned canonical receipts.

`spec golden --update` accepts a change; the tree of digests is compared by syrupy, the receipts line by line.
"""

from pathlib import Path

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from specledger.core.canonical import pretty
from specledger.pipeline.checking import load_cases
from specledger.pipeline.golden import pin, pin_matches

FOLDER = Path("fixtures/golden")
SCENARIOS = sorted(Path("specs/scenario").glob("*.yaml"))


class Trees(SingleFileSnapshotExtension):
    """The files that `spec golden` writes, under the names that it gives them."""

    file_extension = "json"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location):
        return str(Path(test_location.filepath).resolve().parents[2] / FOLDER)

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0):
        return str(index)

    def serialize(self, data, **_):
        return pretty(data)


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda path: path.stem)
def made(request):
    (bundle,) = load_cases(str(request.param))
    return pin(bundle)


def test_digests_are_the_pinned_ones(made, snapshot):
    assert made.tree == snapshot(name=made.name, extension_class=Trees)


def test_receipts_are_the_pinned_ones(made):
    difference = pin_matches(made, FOLDER)
    assert difference is None, f"{difference}; accept: spec golden --update specs/scenario/{made.name}.yaml"


def test_nothing_else_is_pinned():
    named = {path.stem for path in SCENARIOS}
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}{end}" for name in named for end in (".json", ".jsonl")}


def test_pins_are_small():
    """Whole receipts are pinned, so that a change says what it changes; a checkout must be able to hold them."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 6_000_000
