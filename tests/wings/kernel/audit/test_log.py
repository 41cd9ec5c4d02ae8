"""The log is appended to or nothing is: one writer, whole lines, on the disk in time, mended after a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_bytes
from specledger.core.entries import Entries, Mode, entry_hash
from specledger.verify.checks import Broken
from specledger.wings.kernel.audit import log as audit
from specledger.wings.kernel.audit.log import AuditLog, record
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.verify.audit_log import check_log
from tests.toys.refusals import codes

ACCEPTS = axion().check("audit_entry")
LIVE, SIMULATED = Mode.LIVE, Mode.SIMULATED


def sealed(count, mode=LIVE, head=GENESIS):
    entries = Entries(mode, head)
    return [entries.seal("POLICY_DECISION", at_ms=100 * tick, verdict="allow") for tick in range(count)]


def lines(entries):
    return [canonical_bytes(entry) + b"\n" for entry in entries]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.log.jsonl"


@pytest.fixture
def log(path):
    with AuditLog(path, LIVE, ACCEPTS) as opened:
        yield opened


@pytest.mark.parametrize("mode", Mode)
def test_a_log_is_the_lines_of_its_entries_and_goes_on_when_opened_again(path, mode):
    entries = sealed(5, mode)
    for part in (entries[:2], entries[2:2], entries[2:]):
        with AuditLog(path, mode, ACCEPTS) as log:
            for entry in part:
                log.append(entry)
            log.sync()
            assert (log.written, log.findings) == (len(part), ())
            assert log.head == (part or entries[:2])[-1]["entry_hash"]
    assert path.read_bytes() == b"".join(lines(entries))


def test_the_log_of_a_run_ends_with_its_entries(path):
    entries = sealed(3)
    hashes = [entry["entry_hash"] for entry in entries]
    path.write_bytes(b"".join(lines(entries)))
    assert check_log(path, 3, hashes[2]) == f"3 entries of the run, head {hashes[2]}"
    assert check_log(path, 1, hashes[2]) == f"1 entries of the run, head {hashes[2]}"
    assert check_log(path, 0, GENESIS) == f"0 entries of the run, head {GENESIS}"
    for other in ((2, hashes[1]), (1, hashes[1]), (4, hashes[2])):
        with pytest.raises(Broken, match="E_AUDIT_DIFFERS"):
            check_log(path, *other)


# When it is on the disk


@pytest.fixture
def watched(monkeypatch):
    """What is done to files, in order."""
    done: list[str] = []

    def watch(name):
        real = getattr(os, name)

        def call(*arguments):
            done.append(name)
            return real(*arguments)

        monkeypatch.setattr(os, name, call)

    watch("write")
    watch("fsync")
    return done


def test_a_live_log_is_on_the_disk_before_append_returns(path, watched):
    with AuditLog(path, LIVE, ACCEPTS) as log:
        watched.clear()
        for entry in sealed(3):
            log.append(entry)
            watched.append("act")
    assert watched == ["write", "fsync", "act"] * 3


def test_a_simulated_log_is_with_the_system_at_once_and_on_the_disk_once_an_episode(path, watched):
    with AuditLog(path, SIMULATED, ACCEPTS) as log:
        watched.clear()
        for number, entry in enumerate(sealed(3, SIMULATED), 1):
            log.append(entry)
            assert path.read_bytes().count(b"\n") == number
        log.sync()
    assert watched == ["write"] * 3 + ["fsync"]


def test_a_new_log_has_its_name_on_the_disk(path, monkeypatch):
    synced = []

    def fsync(file):
        synced.append(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    AuditLog(path, LIVE, ACCEPTS).close()
    folder = path.parent.stat().st_ino
    assert synced == [folder]
    with AuditLog(path, LIVE, ACCEPTS) as log:  # whoever made it may have ended before the name was there
        log.append(sealed(1)[0])
    assert synced == [folder, folder, path.stat().st_ino]


def test_what_is_in_a_log_is_on_the_disk_before_anything_follows(path, monkeypatch):
    path.write_bytes(lines(sealed(1))[0])
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    AuditLog(path, LIVE, ACCEPTS).close()
    assert path.stat().st_ino in synced


# What is refused


def broken(**changes):
    entry = {**sealed(1)[0], **changes}
    return {**entry, "entry_hash": entry_hash(entry)} if "entry_hash" not in changes else entry


REFUSED = {
    "not schema-valid": broken(event="OTHER"),
    "a field more": broken(more=1),
    "no entry": {},
    "of another mode": sealed(1, SIMULATED)[0],
    "of no mode": broken(kernel_decision={"verdict": "allow", "notes": ""}),
    "not next": sealed(2)[1],
    "with a wrong hash": broken(entry_hash="0" * 64),
    "changed": {**sealed(1)[0], "timestamp_ms": 7},
    "with a number beyond 2^53": broken() | {"timestamp_ms": 2**60},
}


@pytest.mark.parametrize("entry", REFUSED.values(), ids=REFUSED)
def test_an_entry_that_does_not_fit_is_refused_and_nothing_is_written(path, log, entry):
    assert codes(log.append, entry) == ["E_AUDIT_ENTRY"]
    assert path.read_bytes() == b""
    log.append(sealed(1)[0])
    assert path.read_bytes() == lines(sealed(1))[0]


def test_the_largest_entry_that_the_schema_allows_fits_a_line():
    scope = {
        "allowed_ops": ["\0" * 80] * 16,
        "rate_limit": {"max_calls": 1000, "per_ms": 1000},
        "expiry_ms": 864_000_000,
    }
    wide = {"invariant": "\0" * 120, "severity": "fatal", "message": "\0" * 2000, "data_hash": GENESIS}
    token = {
        "token_id": "12345678-1234-5234-8234-123456789abc", "revocation_id": "12345678-1234-5234-8234-123456789abc",
        "capability": "\0" * 2000, "scope": scope, "issued_at_ms": 2**53 - 1, "expires_at_ms": 2**53 - 1,
        "binding": dict.fromkeys(["proposal_hash", "trace_hash", "scope_hash"], GENESIS), "signature": "\0" * 2048,
    }  # fmt: skip
    entry = Entries(LIVE).seal(
        "CAPABILITY_ISSUED", at_ms=0, codes=["\0" * 3980], witnesses=[wide] * 128, tokens=[token] * 16
    )
    assert ACCEPTS(entry)
    assert len(lines([entry])[0]) <= audit.MAX_ENTRY


def test_an_entry_that_is_too_long_is_refused(log, monkeypatch):
    monkeypatch.setattr(audit, "MAX_ENTRY", 100)
    assert codes(log.append, sealed(1)[0]) == ["E_AUDIT_ENTRY"]


OTHER = """
import sys
from pathlib import Path
from specledger.core.diagnostics import Rejected
from specledger.core.entries import Mode
from specledger.wings.kernel.audit.log import AuditLog
try:
    AuditLog(Path(sys.argv[1]), Mode.LIVE, lambda entry: True)
except Rejected as rejected:
    print(rejected.diagnostics[0].code)
"""


def test_a_writer_in_another_process_is_refused(path, log):
    def other():
        done = subprocess.run([sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert other() == "E_AUDIT_BUSY"
    log.close()
    assert other() == ""


@pytest.mark.parametrize(("make", "found"), [(Path.mkdir, "E_AUDIT_UNWRITABLE"), (os.mkfifo, "E_AUDIT_FOREIGN")])
def test_what_is_no_plain_file_is_refused(path, make, found):
    assert codes(AuditLog, path / "deeper", LIVE, ACCEPTS) == ["E_AUDIT_UNWRITABLE"]
    make(path)
    assert codes(AuditLog, path, LIVE, ACCEPTS) == [found]


FOREIGN = {
    "other text": b"hello\n",
    "other text without a newline": b"hello",
    "another JSON": b'{"a":1}\n',
    "a last line with a wrong hash": lines([{**sealed(1)[0], "timestamp_ms": 7}])[0],
    "an empty last line": lines(sealed(1))[0] + b"\n",
    "a last line that is no entry": lines(sealed(1))[0] + b"{}\n",
    "zeros before something else": b"\0" * 5000 + b"\x7fELF",
    "zeros before other text": b"\0" * 3 + b"hello",
    "a very long line": b"x" * (2 * audit.MAX_ENTRY + 10),
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_log_is_left_as_it_is(path, data):
    path.write_bytes(data)
    assert codes(AuditLog, path, LIVE, ACCEPTS) == ["E_AUDIT_FOREIGN"]
    assert path.read_bytes() == data


# If it cannot be written


class Disk:
    """A disk that takes so many bytes, and then no more."""

    def __init__(self, room):
        self.room = room
        self.write = os.write

    def __call__(self, file, data):
        if self.room == 0:
            raise OSError(28, "No space left on device")
        written = self.write(file, data[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_stops_the_run_and_leaves_whole_lines(path, log, monkeypatch, room):
    entries = sealed(3)
    log.append(entries[0])
    monkeypatch.setattr(os, "write", Disk(room))
    assert codes(log.append, entries[1]) == ["E_AUDIT_UNWRITABLE"]
    monkeypatch.undo()
    assert codes(log.append, entries[1]) == ["E_AUDIT_UNWRITABLE"]
    assert codes(log.sync) == ["E_AUDIT_UNWRITABLE"]
    assert path.read_bytes() == lines(entries)[0]
    with AuditLog(path, LIVE, ACCEPTS) as again:
        again.append(entries[1])


def test_a_line_that_is_written_in_pieces_is_whole(path, log, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    log.append(sealed(1)[0])
    assert path.read_bytes() == lines(sealed(1))[0]


@pytest.mark.parametrize("mode", Mode)
def test_a_disk_that_does_not_sync_stops_the_run(path, monkeypatch, mode):
    def fail(file):
        raise OSError(5, "Input/output error")

    entries = sealed(2, mode)
    with AuditLog(path, mode, ACCEPTS) as log:
        monkeypatch.setattr(os, "fsync", fail)
        if mode is LIVE:
            assert codes(log.append, entries[0]) == ["E_AUDIT_UNWRITABLE"]
        else:
            log.append(entries[0])
            assert codes(log.sync) == ["E_AUDIT_UNWRITABLE"]
        assert codes(log.append, entries[1]) == ["E_AUDIT_UNWRITABLE"]


def test_a_file_that_may_not_be_cut_is_mended_by_the_next(path, log, monkeypatch):
    def fail(file, size):
        raise OSError(5, "Input/output error")

    entries = sealed(2)
    log.append(entries[0])
    monkeypatch.setattr(os, "write", Disk(50))
    monkeypatch.setattr(os, "ftruncate", fail)
    assert codes(log.append, entries[1]) == ["E_AUDIT_UNWRITABLE"]
    monkeypatch.undo()
    assert len(path.read_bytes()) == len(lines(entries)[0]) + 50
    with AuditLog(path, LIVE, ACCEPTS) as again:
        assert [one.code for one in again.findings] == ["W_AUDIT_TORN"]
        again.append(entries[1])
    assert path.read_bytes() == b"".join(lines(entries))


# After a crash


@given(cut=st.integers(1, 10_000), whole=st.integers(0, 3))
def test_wherever_a_crash_tears_the_last_line_the_log_goes_on_from_the_last_whole_entry(tmp_path_factory, cut, whole):
    path = tmp_path_factory.mktemp("torn") / "log"
    entries = sealed(whole + 2)
    kept, torn = lines(entries[:whole]), lines(entries)[whole]
    torn = torn[: cut % (len(torn) - 1) + 1]
    assert b"\n" not in torn
    path.write_bytes(b"".join([*kept, torn]))
    with AuditLog(path, LIVE, ACCEPTS) as log:
        (finding,) = log.findings
        assert (finding.code, finding.severity) == ("W_AUDIT_TORN", "warning")
        assert f"{len(torn)} bytes" in finding.message
        assert log.head == (entries[whole - 1]["entry_hash"] if whole else GENESIS)
        for entry in entries[whole:]:
            log.append(entry)
    assert path.read_bytes() == b"".join(lines(entries))


@pytest.mark.parametrize("whole", [0, 1])
@pytest.mark.parametrize(
    "torn",
    [b"\0" * 3000, b'{"cap' + b"\0" * 50 + b'"}\n', b"\0" * 99 + b"x" * 99 + b"\n"],
    ids=["all of it", "in a line that ends", "the beginning"],
)
def test_zeros_that_a_crash_of_the_machine_left_behind_are_cut_off_on_the_disk_too(path, watched, torn, whole):
    kept = b"".join(lines(sealed(1))[:whole])
    path.write_bytes(kept + torn)
    with AuditLog(path, LIVE, ACCEPTS) as log:
        assert [one.code for one in log.findings] == ["W_AUDIT_TORN"]
        assert watched[-1] == "fsync"
    assert path.read_bytes() == kept


def test_a_hang_is_recorded_behind_a_torn_line(path):
    first = lines(sealed(1))[0]
    path.write_bytes(first + b'{"capability_tokens":[],"ent')
    entry, findings = record(
        path, LIVE, ACCEPTS, "FATAL_HANG", at_ms=500, proposal_hash="a" * 64, trace_hash="b" * 64, codes=["timeout"]
    )
    assert path.read_bytes() == first + lines([entry])[0]
    assert entry["prev_entry_hash"] == sealed(1)[0]["entry_hash"]
    assert (entry["event"], entry["proposal_hash"]) == ("FATAL_HANG", "a" * 64)
    assert entry["kernel_decision"] == {"verdict": "deny", "notes": "mode:live timeout"}
    assert [one.code for one in findings] == ["W_AUDIT_TORN"]


def test_nothing_is_recorded_while_a_writer_lives(path, log):
    assert codes(record, path, LIVE, ACCEPTS, "FATAL_HANG", at_ms=0) == ["E_AUDIT_BUSY"]
    assert path.read_bytes() == b""


def test_no_log_can_be_written_where_there_are_no_locks(path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert codes(AuditLog, path, LIVE, ACCEPTS) == ["E_AUDIT_UNWRITABLE"]
    assert not path.exists()
