"""Few calls lie between a command and what it is about: a reader follows each of them."""

import pytest

PROGRAM = """
import sys

command, target = sys.argv[1:3]
del sys.argv[1:3]
fewest = None

def where(frame):
    return f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"

def profile(frame, event, _):
    global fewest
    if event != "call" or where(frame) != target:
        return
    calls = 0
    while frame is not None and where(frame) != command:
        calls += frame.f_code.co_filename.find("specledger") >= 0
        frame = frame.f_back
    if frame is not None:
        fewest = calls if fewest is None else min(fewest, calls)

from specledger.cli.main import main
sys.setprofile(profile)
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    sys.setprofile(None)
print(fewest, file=sys.stderr)
"""
PATHS = {
    "from check to the type of an expression": (
        "specledger.cli.specs.check",
        "specledger.expr.check.checker.check",
        ("check", "specs/scenario/hazard.yaml"),
        10,
    ),
    "from run to the judgement of a proposal": (
        "specledger.cli.run.run",
        "specledger.run.controller.judge",
        ("run", "hazard", "--workers", "1", "--episodes", "1", "--out"),
        15,
    ),
}


@pytest.mark.parametrize(("command", "target", "words", "most"), PATHS.values(), ids=PATHS)
def test_few_calls_lead_to_it(command, target, words, most, root, run_python, tmp_path):
    words = [*words, str(tmp_path / "out")] if words[-1] == "--out" else [*words]
    done = run_python("-c", PROGRAM, command, target, *words, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 5 < int(done.stderr.splitlines()[-1]) <= most
