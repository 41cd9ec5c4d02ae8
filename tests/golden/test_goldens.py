"""Every shipped scenario gives the pinned digests and the pinned canonical receipts.

`pytest -n0 tests/golden --snapshot-update` and `spec golden --update` accept a change into the same files.
"""

from pathlib import Path

import pytest

from specledger.pipeline.checking import load_cases
from specledger.pipeline.golden import pin
from tests.pins import ROOT, assert_pinned

FOLDER = "fixtures/golden"
SCENARIOS = sorted((ROOT / "specs/scenario").glob("*.yaml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_receipts_are_the_pinned_ones(path, snapshot):
    (bundle,) = load_cases(str(path))
    assert_pinned(pin(bundle), snapshot, FOLDER)


def test_nothing_else_is_pinned():
    named = {path.stem for path in SCENARIOS}
    pinned = {path.name for path in Path(FOLDER).iterdir()}
    assert pinned == {f"{name}{end}" for name in named for end in (".json", ".jsonl")}


def test_pins_are_small():
    """A pin holds whole receipts, so that a change shows its content. The sum is limited for the size of a checkout."""
    assert sum(path.stat().st_size for path in Path(FOLDER).iterdir()) < 8_000_000
