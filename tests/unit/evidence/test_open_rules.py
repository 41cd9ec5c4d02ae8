"""When a rule leaves a run inconclusive, and what stays of a file that cannot be written whole."""

import os

import pytest

from specledger.core.diagnostics import Rejected
from specledger.evidence import keys
from specledger.evidence.receipts.recording import is_open

OPEN = [
    (1, 0, 0, {}, False),
    (0, 1, 0, {}, False),
    (0, 0, 0, {}, False),
    (5, 0, 1, {}, True),
    (0, 0, 0, {"opportunity": "no call"}, True),
    (1, 0, 0, {"opportunity": "no call"}, False),
    (0, 1, 0, {"opportunity": "no call"}, False),
    (1, 1, 0, {"breach": "always true"}, True),
    (0, 0, 0, {"breach": "always true"}, True),
    (1, 0, 0, {"misspelt": "no tool is pya"}, True),
]


@pytest.mark.parametrize(("held", "broken", "unjudged", "unable", "is_"), OPEN)
def test_a_rule_is_open_if_it_was_not_always_judged_or_can_notice_nothing(held, broken, unjudged, unable, is_):
    counts = {"held": held, "broken": broken, "unjudged": unjudged, **({"unable": unable} if unable else {})}
    assert is_open(counts) is is_  # type: ignore[arg-type]


@pytest.mark.parametrize("gone", [False, True])
def test_a_key_that_cannot_be_written_whole_does_not_stay(tmp_path, monkeypatch, gone):
    path = tmp_path / "a/key"

    def fail(file):
        if gone:
            os.unlink(path)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("specledger.core.disk.sync_file", fail)
    with pytest.raises(Rejected) as refused:
        keys._create(path, b"data", 0o600)
    (finding,) = refused.value.diagnostics
    assert (finding.code, finding.message) == ("E_KEY", f"{path} cannot be written: No space left on device")
    assert not path.exists()


def test_a_key_that_is_there_is_kept(tmp_path):
    path = tmp_path / "key"
    keys._create(path, b"data", 0o600)
    with pytest.raises(Rejected) as refused:
        keys._create(path, b"other", 0o600)
    assert refused.value.diagnostics[0].message == f"{path} is there already"
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"data", 0o600)
