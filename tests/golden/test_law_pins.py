"""Every shipped law gives the pinned receipts and digests: of the law, its cases, its verdict and its certificate.

`pytest -n0 tests/golden --snapshot-update` and `spec golden --update --dir fixtures/laws` accept a change into the same files.
"""

import pytest

from specledger.pipeline.checking import load_cases
from specledger.pipeline.golden import pin
from tests.pins import ROOT, assert_pinned

FOLDER = "fixtures/laws"
LAWS = sorted((ROOT / "specs/law").glob("*.yaml"))


@pytest.mark.parametrize("path", LAWS, ids=lambda path: path.stem)
def test_law(path, snapshot):
    (bundle,) = load_cases(str(path))
    assert_pinned(pin(bundle), snapshot, FOLDER)


def test_nothing_else_is_pinned():
    named = {path.name for path in (ROOT / FOLDER).iterdir()}
    assert named == {f"{path.stem}{end}" for path in LAWS for end in (".json", ".jsonl")}
