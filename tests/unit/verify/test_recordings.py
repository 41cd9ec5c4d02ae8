"""What a replay takes from recordings as it stands is told, for answers and for logs, also of bundles inside."""

import pytest

from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.verify.derived_files import not_made_again

ANSWERS = "who gave the answers in tape.jsonl: they are read again, and neither a program nor a model is asked"
LOGS = "whether what trajectories.jsonl records happened, what its logs were called: nothing of it is executed"
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


HEAD = '{"format":"specledger/tape/v2","head":"%s",%s"mode":"simulated"%s}\n'
NONE = "which program answered, if one did: no file of it is recorded, and the specs hold its command alone"
PROGRAMS = {
    "none": ("", [NONE]),
    "two": (
        f',"programs":{{"a.py":"{"1" * 64}","b.json":"{"2" * 64}"}}',
        [
            f"which program answered: when the run began there was a.py with the SHA-256 {'1' * 64}, b.json with the "
            f"SHA-256 {'2' * 64}, which the manifest covers; not recorded: what it imports, its interpreter, whether "
            "this file was what ran"
        ],
    ),
    "malformed": (',"programs":{"a.py":"1"}', []),
    "no file": (',"programs":{}', []),
}


@pytest.mark.parametrize(("programs", "told"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_known_of_the_program_that_answered_is_told(programs, told, tmp_path):
    (tmp_path / "tape.jsonl").write_text(HEAD % ("0" * 64, "", programs))
    assert not_made_again(tmp_path, []) == [ANSWERS, *told]


def test_a_verified_recording_tells_that_nothing_of_it_is_executed(tmp_path):
    (bundle,) = load_runs(["recorded-clerk"], [])
    execute(bundle, tmp_path / "out")
    assert verify(tmp_path / "out").unchecked == [LOGS]
