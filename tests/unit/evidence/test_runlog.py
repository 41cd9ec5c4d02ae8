"""The run log: what may be appended, what a crash leaves, and that writers take turns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.evidence import runlog
from specledger.evidence.runlog import GENESIS, InvalidLog, announce, attempt_of, enter, read_runlog
from tests.toys.refusals import codes

ROOT = Path(__file__).parents[3]
MANIFEST = {"receipts": {"count": 2, "head": "a" * 64, "root": "b" * 64}, "result": {"verdict": "PASS"}}
ATTEMPT = attempt_of("suite", "heights", "c" * 64, "d" * 32, [2, 1, 2], "to see")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.log.jsonl"


@pytest.fixture
def log(path):
    """The bytes of a log with two attempts, the first with a result."""
    announce(path, ATTEMPT)
    enter(path, runlog.result_of(1, MANIFEST))
    announce(path, ATTEMPT)
    return path.read_bytes()


def test_a_log_is_a_chain_that_tells_what_was_announced_and_what_came_of_it(log):
    lines = [json.loads(line) for line in log.splitlines()]
    assert [(line["seq"], line["type"]) for line in lines] == [
        (0, "log"),
        (1, "attempt"),
        (2, "result"),
        (3, "attempt"),
    ]
    read = read_runlog(log)
    assert [line["prev"] for line in lines] == [GENESIS, *read.heads[:-1]]
    assert [(one.seq, one.result is not None) for one in read.attempts] == [(1, True), (3, False)]
    assert lines[1]["body"]["seeds"] == [1, 2]
    assert (read.head, read.torn) == (read.heads[-1], b"")


def test_a_result_needs_an_attempt_that_waits_for_one(path, log):
    for attempt in (0, 1, 2, 9):
        assert codes(enter, path, runlog.result_of(attempt, MANIFEST)) == ["E_RUNLOG"]
    assert path.read_bytes() == log
    enter(path, runlog.result_of(3, MANIFEST))


@pytest.mark.parametrize("kept", [0, 1, 30, 90])
def test_wherever_a_crash_tears_the_last_line_the_log_goes_on_from_the_last_whole_one(kept, path, log):
    whole = log[: log.rstrip(b"\n").rfind(b"\n") + 1]
    last = log[len(whole) : -1]
    path.write_bytes(whole + last[:kept])
    seq, found = announce(path, ATTEMPT)
    assert (seq, [one.code for one in found]) == (3, ["W_RUNLOG_TORN"] if kept else [])
    assert path.read_bytes() == log


@pytest.mark.parametrize("kept", [0, 5])
def test_a_log_that_was_hardly_begun_is_begun_again(kept, path, log):
    path.write_bytes(log[:kept])
    announce(path, ATTEMPT)
    assert read_runlog(path.read_bytes()).attempts[0].seq == 1


@pytest.mark.parametrize("data", [b"hello", b"hello\n", b"{}\n", b"\n", b"\x00" * 9 + b"hello" * 30, b'{"body":1}'])
def test_a_file_that_is_no_log_is_left_as_it_is(data, path):
    path.write_bytes(data)
    assert codes(announce, path, ATTEMPT) == ["E_RUNLOG"]
    assert path.read_bytes() == data


def edit(number, /, **fields):
    def change(lines):
        lines[number].update(fields)

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.pop(1),
        lambda lines: lines.pop(0),
        lambda lines: lines.insert(1, lines[1]),
        lambda lines: lines.reverse(),
        edit(1, body={**ATTEMPT, "purpose": "another"}),
        edit(1, seq=True),
        edit(3, prev="0" * 64),
        edit(3, type="result"),
        edit(3, type="note"),
        edit(3, body={**ATTEMPT, "more": 1}),
        edit(3, body={**ATTEMPT, "seeds": [True]}),
        edit(3, body={**ATTEMPT, "specs": "C" * 64}),
        edit(0, body={"format": "specledger/runlog/v2"}),
    ],
)
def test_a_changed_log_is_refused_and_not_appended_to(change, path, log):
    lines = [json.loads(line) for line in log.splitlines()]
    change(lines)
    data = b"".join(canonical_bytes(line) + b"\n" for line in lines)
    assert data != log
    with pytest.raises(InvalidLog):
        read_runlog(data)
    path.write_bytes(data)
    assert codes(announce, path, ATTEMPT) == ["E_RUNLOG"]
    assert path.read_bytes() == data


def test_every_byte_but_those_of_the_last_line_counts(log):
    last = len(log[:-1].rpartition(b"\n")[0])
    for place in range(last):
        changed = bytearray(log)
        changed[place] ^= 1
        with pytest.raises(InvalidLog):
            read_runlog(bytes(changed))


@pytest.mark.parametrize("spelled", [b' {"', b'{ "', b'{"body":{},"body"'])
def test_a_line_has_one_spelling(spelled, log):
    with pytest.raises(InvalidLog):
        read_runlog(log.replace(b'{"', spelled, 1))


@pytest.mark.slow
def test_writers_in_several_processes_take_turns(path, interruptible):
    program = (
        "import sys; from pathlib import Path; from specledger.evidence.runlog import *\n"
        "for n in range(5):\n"
        " seq, _ = announce(Path(sys.argv[1]), attempt_of('law', sys.argv[2], 'c' * 64, 'd' * 32, [n], None))\n"
        " manifest = {'receipts': {'count': 2, 'head': 'a' * 64, 'root': 'b' * 64}, 'result': {'verdict': 'PASS'}}\n"
        " enter(Path(sys.argv[1]), result_of(seq, manifest))\n"
    )
    commands = [[sys.executable, "-c", program, str(path), name] for name in ("one", "two", "three")]
    workers = [subprocess.Popen(command, cwd=ROOT, env=interruptible) for command in commands]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0, 0]
    read = read_runlog(path.read_bytes())
    assert len(read.attempts) == 15
    assert all(one.result is not None for one in read.attempts)


def test_what_cannot_be_written_is_said_and_leaves_whole_lines(path, log, monkeypatch):
    write = os.write

    def full(file, data):
        if len(data) < 50:
            raise OSError(28, "No space left on device")
        return write(file, data[:50])

    monkeypatch.setattr(os, "write", full)
    assert codes(announce, path, ATTEMPT) == ["E_RUNLOG_UNWRITABLE"]
    monkeypatch.undo()
    assert path.read_bytes() == log


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.symlink_to("/dev/null"), os.mkfifo])
def test_what_is_no_plain_file_is_refused(make, path):
    make(path)
    assert codes(announce, path, ATTEMPT)[0] in ("E_RUNLOG", "E_RUNLOG_UNWRITABLE")


def test_a_log_in_no_folder_is_refused(tmp_path):
    assert codes(announce, tmp_path / "nowhere" / "log", ATTEMPT) == ["E_RUNLOG_UNWRITABLE"]
