"""The watchdog's entry is the last one of a log that its kernel left."""

import time

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.entries import Entries, Mode
from specledger.core.verdict import Verdict
from specledger.run.watchdog import Watchdog
from specledger.wings.kernel.audit.log import AuditLog, record
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.verify.audit_log import verify_audit

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ACCEPTS = axion().check("audit_entry")
KNOWN = ("a" * 64, "b" * 64)


@pytest.fixture
def watchdog():
    return Watchdog(timeout_ms=100)


def kernel(path, act, mode=Mode.LIVE):
    """A kernel that logs a decision, evaluates a policy, and logs another decision, which it says it has carried out."""

    def work(pulse):
        entries = Entries(mode)
        with AuditLog(path, mode, ACCEPTS) as log:
            log.append(entries.seal("POLICY_DECISION", at_ms=600, proposal_hash=KNOWN[0], verdict="allow"))
            pulse.enter(7, *KNOWN)
            act()
            pulse.leave()
            log.append(entries.seal("POLICY_DECISION", at_ms=700, verdict="allow"))
            pulse.send(b"acted")

    return work


def tear(path):
    """Leave half a line in a log, as a process does that is ended while it writes, and hang."""
    with path.open("ab") as file:
        file.write(b'{"capability_tokens":[],"entry_ha')
    time.sleep(60)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("torn", [False, True])
def test_a_hang_is_the_last_entry_of_a_whole_log_and_nothing_was_done(watchdog, tmp_path, mode, torn):
    path = tmp_path / "audit.log.jsonl"
    assert list(watchdog.watch(kernel(path, lambda: tear(path) if torn else time.sleep(60), mode))) == []
    ending = watchdog.ending
    record(
        path, mode, ACCEPTS, "FATAL_HANG", at_ms=ending.tick * 100, proposal_hash=ending.proposal_hash,
        trace_hash=ending.trace_hash, codes=[ending.reason],
    )  # fmt: skip
    assert verify_audit(path).verdict is Verdict.PASS
    entries = Entries(mode)
    expected = [
        entries.seal("POLICY_DECISION", at_ms=600, proposal_hash=KNOWN[0], verdict="allow"),
        entries.seal("FATAL_HANG", at_ms=700, proposal_hash=KNOWN[0], trace_hash=KNOWN[1], codes=["timeout"]),
    ]
    assert path.read_bytes() == b"".join(canonical_bytes(entry) + b"\n" for entry in expected)
