"""What a replay takes from recordings as it stands is told, for answers and for logs, also of bundles inside."""

import pytest

from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.verify.derived_files import not_made_again

ANSWERS = "who gave the answers in tape.jsonl: they are read again, and neither a program nor a model is asked"
LOGS = "whether what trajectories.jsonl records happened: nothing of it is executed"
HELD = {
    "neither": ([], []),
    "answers": (["tape.jsonl"], [ANSWERS]),
    "logs": (["trajectories.jsonl"], [LOGS]),
    "answers in a bundle inside": (["runs/a/tape.jsonl"], [ANSWERS]),
    "both, in two bundles inside": (["runs/a/trajectories.jsonl", "runs/b/tape.jsonl"], [ANSWERS, LOGS]),
    "in no bundle": (["elsewhere/tape.jsonl"], []),
}


@pytest.mark.parametrize(("files", "told"), HELD.values(), ids=HELD)
def test_recordings_are_told_by_what_they_hold(files, told, tmp_path):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert not_made_again(tmp_path, ["runs/a", "runs/b"]) == told


def test_a_verified_recording_tells_that_nothing_of_it_is_executed(tmp_path):
    (bundle,) = load_runs(["recorded-clerk"], [])
    execute(bundle, tmp_path / "out")
    assert verify(tmp_path / "out").unchecked == [LOGS]
