"""Snapshots of what `spec golden` pins: syrupy reads and writes the same files, and a difference is given in words.

`pytest --snapshot-update` accepts a change. A mismatch names the changed specs first, then the first receipt that
differs, with its step and its field.
"""

from functools import cache
from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from specledger.core.canonical import pretty
from specledger.pipeline.golden import NOT_PINNED, difference

ROOT = Path(__file__).resolve().parents[1]


class PinnedFile(SingleFileSnapshotExtension):
    """One file for each snapshot, under the name that the assertion gives."""

    _write_mode = WriteMode.TEXT
    folder = ""

    @classmethod
    def dirname(cls, *, test_location):
        return str(ROOT / cls.folder)

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0):
        return str(index)

    @classmethod
    def write_snapshot(cls, *, snapshot_location, snapshots, name_order=None):
        """Write without the warning about a name that is not the test's: `spec golden` names the files."""
        ((data, _, _),) = snapshots
        Path(snapshot_location).parent.mkdir(parents=True, exist_ok=True)
        Path(snapshot_location).write_bytes(data.encode())


@cache
def file_in(folder, extension):
    """The extension for the files of one folder that end with `.extension`."""
    return type("Pinned", (PinnedFile,), {"folder": str(folder), "file_extension": extension})


def assert_pinned(made, snapshot, folder):
    """Assert that a pin is the accepted one: the tree of digests is one snapshot, the receipts are another."""
    receipts = "".join(f"{line.decode()}\n" for line in made.receipts)
    words = _words(made, folder)  # before an update replaces the files
    same_tree = snapshot(name=made.name, extension_class=file_in(folder, "json")) == pretty(made.tree)
    same_receipts = snapshot(name=made.name, extension_class=file_in(folder, "jsonl")) == receipts
    assert (same_tree, same_receipts) == (True, True), f"{made.name}: {words}; accept: pytest --snapshot-update"


def _words(made, folder):
    try:
        tree = (ROOT / folder / f"{made.name}.json").read_bytes().replace(b"\r\n", b"\n")
        accepted = (ROOT / folder / f"{made.name}.jsonl").read_bytes().splitlines()
    except OSError:
        return NOT_PINNED
    return difference(made, tree, accepted)
