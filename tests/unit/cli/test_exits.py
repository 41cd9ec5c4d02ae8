"""Each way to end has its own status, seen from outside the process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specledger.cli.main import UNDECIDED, _guarded
from specledger.pipeline import checking
from tests.toys.bundles import files_of

COMMAND = [sys.executable, "-m", "specledger"]


ENDS = {
    "it conforms": ([], 0, "climb  PASS", ""),
    "a violation": (["--set", "governor.invariants.bounded.with.top=1"], 1, "violations: bounded 2", ""),
    "nothing was checked": (["--set", "governor.invariants=[]"], 3, "climb  INCONCLUSIVE", f"{UNDECIDED}\n"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("change", "status", "said", "err"), ENDS.values(), ids=ENDS)
def test_a_run_ends_as_its_verdict_says(process, climb, tmp_path, change, status, said, err):
    done = process("run", climb, *change, "--out", str(tmp_path / "out"))
    assert (done.status, done.err) == (status, err)
    assert said in done.out


UNDECIDED_ENDS = {
    "a run": ["run", "{climb}", "--set", "governor.invariants=[]", "--out", "{out}/more"],
    "a verification without replay": ["verify", "{out}/climb", "--no-replay"],
    "a level that was asked for": ["verify", "{out}/climb", "--level", "L1", "-q"],
    "several verifications": ["verify", "{out}/climb", "{out}/climb", "--no-replay"],
    "as JSON": ["verify", "{out}/climb", "--no-replay", "--format", "json"],
    "a report": ["report", "{out}/climb", "--profile", "clatl-plan", "--out", "{out}/page.md"],
    "nothing to format": ["fmt", "{out}/*.yaml"],
}


@pytest.mark.parametrize("words", UNDECIDED_ENDS.values(), ids=UNDECIDED_ENDS)
def test_whatever_is_not_decided_says_so_in_words_with_its_exit_code(spec, climb, tmp_path, words):
    spec("run", climb, "--out", tmp_path / "climb")
    done = spec(*[word.format(climb=climb, out=tmp_path) for word in words])
    assert done.status == 3
    assert UNDECIDED in done.err.splitlines()
    assert "exit 3" in UNDECIDED


def test_what_is_decided_does_not_say_that_it_is_not(spec, climb, tmp_path):
    for change in ([], ["--set", "governor.invariants.bounded.with.top=1"]):
        assert UNDECIDED not in spec("run", climb, *change, "--out", tmp_path / "climb").err


@pytest.mark.medium
def test_a_golden_that_differs_ends_with_1(process, climb, tmp_path):
    done = process("golden", climb, "--dir", str(tmp_path))
    assert done.status == 1
    assert "E_GOLDEN_DIFFERS" in done.err


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "code"),
    [(["run", "--colour"], "E_USAGE"), (["run", "{climb}", "--out", "/dev/null/out"], "E_OUT_UNWRITABLE")],
    ids=" ".join,
)
def test_wrong_input_ends_with_2(process, climb, words, code):
    done = process(*[word.format(climb=climb) for word in words])
    assert (done.status, done.out) == (2, "")
    assert f"error[{code}]" in done.err
    assert "Traceback" not in done.err


def test_short_memory_is_no_defect(spec, monkeypatch, climb):
    def fall(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(checking, "load_runs", fall)
    done = spec("run", climb)
    assert (done.status, done.out) == (2, "")
    assert "error[E_SYSTEM]: operating system error: memory is short" in done.err


def test_a_defect_ends_with_70_and_no_traceback(spec, monkeypatch, climb):
    def fall(*arguments, **options):
        raise ZeroDivisionError("a \x1b[31mdefect")

    monkeypatch.setattr(checking, "load_runs", fall)
    done = spec("run", climb)
    assert (done.status, done.out) == (70, "")
    assert "error[E_INTERNAL]: internal error: ZeroDivisionError: a \\x1b[31mdefect" in done.err
    assert "SPECLEDGER_TRACEBACK=1" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("SPECLEDGER_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        _guarded()


@pytest.mark.parametrize("change", ["agent.with.fear=2", "governor.with.dread=2"])
def test_what_could_not_be_evaluated_ends_with_4_and_is_no_refutation(spec, climb, tmp_path, change):
    done = spec("run", climb, "--set", change, "--out", tmp_path / "out")
    assert (done.status, done.err) == (4, "")
    assert "climb  ERROR" in done.out
    assert "something could not be evaluated" in done.out
    assert spec("verify", tmp_path / "out").status == 0, "the evidence of an error is evidence"


@pytest.fixture
def long_run(interruptible, climb, tmp_path):
    """Start a run that would take minutes, and wait until it writes; what is still running at the end is killed."""
    started = []

    def start(*words):
        line = [*COMMAND, "run", climb, "--episodes", "100000", "--out", "out", *words]
        pipe = subprocess.PIPE
        running = subprocess.Popen(line, cwd=tmp_path, env=interruptible, stdout=pipe, stderr=pipe)
        started.append(running)
        receipts = tmp_path / f".out.{running.pid}.partial" / "new" / "receipts.jsonl"
        deadline = time.monotonic() + 120
        while not (receipts.exists() and receipts.stat().st_size):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return running

    yield start
    for running in started:
        if running.poll() is None:
            running.kill()
        running.communicate()


@pytest.mark.medium
@pytest.mark.parametrize(
    ("number", "status", "earlier"),
    [(signal.SIGINT, 130, False), (signal.SIGINT, 130, True), (signal.SIGTERM, 143, True)],
    ids=["Ctrl-C", "Ctrl-C over an earlier bundle", "SIGTERM over an earlier bundle"],
)
def test_an_interrupted_run_leaves_what_was_there(long_run, spec, climb, tmp_path, number, status, earlier):
    if earlier:
        spec("run", climb, "--out", tmp_path / "out")
    before = files_of(tmp_path)
    running = long_run("--format", "json")
    running.send_signal(number)
    out, err = running.communicate(timeout=120)
    assert running.returncode == status
    assert [finding["code"] for finding in json.loads(out)["diagnostics"]] == ["E_INTERRUPTED"]
    assert b"error[E_INTERRUPTED]" in err
    assert b"Traceback" not in err
    assert files_of(tmp_path) == before
    assert list(tmp_path.iterdir()) == [tmp_path / "out"] * earlier


@pytest.mark.medium
def test_an_interrupted_run_says_how_to_keep_it_and_a_kept_one_what_is_kept(long_run, climb, tmp_path):
    finding = {}
    for words, message in (((), "interrupted: the unfinished run was discarded"), (("--resume",), "interrupted; kept")):
        running = long_run(*words, "--format", "json")
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=120)
        (finding,) = json.loads(out)["diagnostics"]
        assert finding["message"].startswith(message)
        assert f"`spec run {climb} --episodes 100000 --out out" in finding["hint"]
        assert "--resume" in finding["hint"]
    receipts = next(tmp_path.glob(".out.*.partial")) / "new" / "receipts.jsonl"
    count = receipts.read_bytes().count(b'"type":"episode_end"')
    kept = f"{count} episode{'' if count == 1 else 's'}" if count else "nothing that is finished"
    assert finding["message"] == f"interrupted; kept beside out: {kept}"


FULL = Path("/dev/full")


@pytest.mark.medium
@pytest.mark.skipif(not FULL.exists(), reason="this system has no full device")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["run", "--colour"], 2),
        (["run", "--colour", "--format", "json"], 2),
        (["verify", "nothing"], 2),
        (["run", "{climb}", "--set", "governor.invariants=[]", "--out", "{out}"], 3),
    ],
    ids=["usage", "usage, as JSON", "no evidence", "inconclusive"],
)
def test_where_nothing_can_be_told_the_status_stays(environment, climb, tmp_path, words, status):
    with FULL.open("wb") as full:
        line = [*COMMAND, *(word.format(climb=climb, out=tmp_path / "out") for word in words)]
        stdout = subprocess.DEVNULL if status == 3 else full
        done = subprocess.run(line, env=environment, check=False, timeout=120, stdout=stdout, stderr=full)
    assert done.returncode == status


@pytest.mark.parametrize("words", [["check", "nothing.yaml"], ["agent", "check"], ["run", "climb.yaml"]], ids=" ".join)
def test_a_working_folder_that_was_deleted_is_no_defect(spec, tmp_path, monkeypatch, words):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    done = spec(*words)
    assert (done.status, done.out) == (2, "")
    assert (
        "error[E_USAGE]" in done.err if words[0] == "agent" else "error[E_SYSTEM]: operating system error" in done.err
    )


INTERRUPTED_IMPORT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), NUMBER)
sys.meta_path.insert(0, Interrupt())
signal.signal(NUMBER, signal.HANDLER)
from specledger.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("number", "handler", "status"),
    [(signal.SIGINT, "default_int_handler", 130), (signal.SIGTERM, "SIG_DFL", 143), (signal.SIGTERM, "SIG_IGN", 0)],
    ids=["Ctrl-C", "SIGTERM", "ignored"],
)
def test_an_interruption_while_modules_are_imported_is_no_traceback(interruptible, number, handler, status):
    program = INTERRUPTED_IMPORT.replace("NUMBER", str(int(number))).replace("HANDLER", handler)
    line = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(line, check=False, env=interruptible, capture_output=True, timeout=120)
    message = b"error[E_INTERRUPTED]: interrupted before the work began\n"
    assert (done.returncode, done.stderr) == (status, message if status else b"")


LOST_IN_AN_IMPORT = """
import os, signal, sys
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "specledger.pipeline.checking":
            Dropped()
sys.meta_path.insert(0, Interrupt())
from specledger.__main__ import main
main()
"""


@pytest.mark.medium
def test_an_interruption_in_an_import_of_a_command_is_neither_lost_nor_a_traceback(interruptible, climb):
    """Python ignores what is raised while an object is deleted, as its import machinery does, and prints it."""
    line = [sys.executable, "-c", LOST_IN_AN_IMPORT, "check", climb]
    done = subprocess.run(line, check=False, env=interruptible, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.startswith(b"error[E_INTERRUPTED]: interrupted")
    assert b"Traceback" not in done.stderr


# what lies in the folder beside a bundle, whether a run holds it, and what is said of it
LEFT = {
    "what a killed run left": (
        ["new/receipts.jsonl"],
        False,
        "was killed and left it: nothing in it counts, and it may",
    ),
    "an earlier bundle": (["new/x", "earlier/manifest.json"], False, "the next run there puts it back"),
    "what a run is making": (["new/receipts.jsonl"], True, "a run is writing there what will be `out` beside it"),
}


@pytest.mark.parametrize("word", ["verify", "trace"])
@pytest.mark.parametrize(("files", "taken", "hint"), LEFT.values(), ids=LEFT)
def test_whoever_meets_the_folder_of_a_run_that_did_not_end_is_told(spec, tmp_path, files, taken, hint, word):
    fcntl = pytest.importorskip("fcntl")
    folder = tmp_path / ".out.123.partial"
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    descriptor = os.open(folder, os.O_RDONLY)
    if taken:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    done = spec(word, folder, "--format", "json")
    os.close(descriptor)
    assert (done.status, done.codes) == (2, ["E_NO_EVIDENCE"])
    assert hint in done.json["diagnostics"][0]["hint"]
    assert (folder / files[0]).exists()
    (tmp_path / "other").mkdir()
    said = spec(word, tmp_path / "other", "--format", "json").json["diagnostics"][0]["hint"]
    assert said == "`spec run FILE --out DIR` writes a bundle"
