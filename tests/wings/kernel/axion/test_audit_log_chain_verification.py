"""The audit log is a chain as the seed defines it, and its verification notices every single change."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.entries import Entries, Mode
from specledger.core.verdict import Verdict, exit_code
from specledger.wings.kernel.audit.log import MAX_ENTRY, AuditLog
from specledger.wings.kernel.documents.digests import receive, witness
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.signatures import sign_by_secret
from specledger.wings.kernel.documents.tokens import TokenActuator
from specledger.wings.kernel.verify.audit_log import verify_audit

PROPOSAL = json.loads((Path(__file__).resolve().parents[4] / "fixtures/axion/proposal.json").read_bytes())
SCOPE = PROPOSAL["requested_capabilities"][0]["scope"]


def decide():
    """What a kernel logs: a proposal denied, one that is no JSON, one allowed, its token, a refusal, a hang, an error."""
    entries, good, bad = Entries(Mode.SIMULATED), receive(PROPOSAL), receive(b'{"prob_mass":NaN}')
    token = TokenActuator(lambda *_: ({}, {}), sign_by_secret(0)).issue(good, "move", SCOPE, 300)
    known: dict[str, Any] = {"proposal_hash": good.proposal_hash, "trace_hash": good.trace_hash}
    return [
        entries.seal(
            "POLICY_DECISION", at_ms=100, **known, codes=["I1"], witnesses=[witness("I1", "mass", 89_000_000)]
        ),
        entries.seal(
            "POLICY_DECISION",
            at_ms=200,
            proposal_hash=bad.proposal_hash,
            witnesses=[witness("schema", "no_json", None)],
        ),
        entries.seal("POLICY_DECISION", at_ms=300, **known, verdict="allow"),
        entries.seal("CAPABILITY_ISSUED", at_ms=300, **known, verdict="allow", tokens=[token]),
        entries.seal("CAPABILITY_DENIED", at_ms=300, **known, codes=["wrong_action"], tokens=[token]),
        entries.seal("FATAL_HANG", at_ms=400, **known, codes=["timeout"]),
        entries.seal("INTERNAL_ERROR", at_ms=500, codes=["E_EVAL_OVERFLOW"]),
    ]


ENTRIES = decide()
LINES = [canonical_bytes(entry) + b"\n" for entry in ENTRIES]


@pytest.fixture
def verify(tmp_path):
    """Verify some bytes as a log: (exit code, codes of failed checks)."""
    path = tmp_path / "audit.log.jsonl"

    def check(data):
        path.write_bytes(data)
        try:
            verification = verify_audit(path)
        except Rejected as rejected:
            return 2, [one.code for one in rejected.diagnostics]
        return exit_code(verification.verdict), [made.code for made in verification.checks if made.code]

    return check


def seal(entries):
    """The lines of entries whose hashes are all made anew, by somebody who knows how."""
    head, lines = GENESIS, []
    for entry in entries:
        bare = {**entry, "prev_entry_hash": head}
        bare.pop("entry_hash", None)
        head = hashlib.sha256(json.dumps(bare, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        lines.append(canonical_bytes({**bare, "entry_hash": head}) + b"\n")
    return b"".join(lines)


def test_a_log_that_was_written_is_verified_to_its_end(tmp_path):
    path = tmp_path / "audit.log.jsonl"
    with AuditLog(path, Mode.SIMULATED, axion().check("audit_entry")) as log:
        for entry in ENTRIES:
            log.append(entry)
        log.sync()
    verification = verify_audit(path)
    assert verification.verdict is Verdict.PASS
    assert [made.number for made in verification.checks] == [1, 2, 3]
    told = " ".join(made.message or "" for made in verification.checks)
    assert f"7 entries, 7 of mode simulated head {log.head} 1 tokens" == told


def test_the_chain_is_the_seeds(verify):
    """Written with a JSON writer and SHA-256 alone, the log is the same bytes."""
    assert seal(ENTRIES) == b"".join(LINES)
    assert verify(seal(ENTRIES)) == (0, [])


def test_a_log_without_modes_is_a_log(verify):
    entries = [{**entry, "kernel_decision": {**entry["kernel_decision"], "notes": ""}} for entry in ENTRIES]
    assert verify(seal(entries)) == (0, [])


def test_no_byte_of_a_log_can_be_changed_unnoticed(verify):
    data = b"".join(LINES[2:4])
    short = seal(ENTRIES[2:4])
    assert len(short) == len(data)
    assert verify(short) == (0, [])
    for place in range(0, len(short), 7):
        for flip in (1, 0x80):
            changed = bytearray(short)
            changed[place] ^= flip
            status, codes = verify(bytes(changed))
            assert status in (1, 2), place
            assert len(codes) == 1


def edited(number, **changes):
    """The lines with another field in one entry, whose own hash is right again."""
    entry = {**ENTRIES[number], **changes}
    bare = {name: value for name, value in entry.items() if name != "entry_hash"}
    entry["entry_hash"] = hashlib.sha256(canonical_bytes(bare)).hexdigest()
    return b"".join([*LINES[:number], canonical_bytes(entry) + b"\n", *LINES[number + 1 :]])


def tampered(number, change):
    """The entries with one of them changed, all hashes made anew."""
    entries = json.loads(json.dumps(ENTRIES))
    change(entries[number])
    return seal(entries)


TOKEN = {"capability_tokens": ENTRIES[3]["capability_tokens"]}
FAULTS = {
    "an entry edited": (LINES[0].replace(b'"I1"', b'"I2"', 1) + b"".join(LINES[1:]), "E_AUDIT_CHAIN"),
    "an entry edited and hashed again": (edited(2, timestamp_ms=7), "E_AUDIT_CHAIN"),
    "the first entry dropped": (b"".join(LINES[1:]), "E_AUDIT_CHAIN"),
    "an entry dropped": (b"".join(LINES[:2] + LINES[3:]), "E_AUDIT_CHAIN"),
    "an entry twice": (b"".join(LINES[:2] + LINES[1:]), "E_AUDIT_CHAIN"),
    "two entries swapped": (b"".join([LINES[0], LINES[2], LINES[1], *LINES[3:]]), "E_AUDIT_CHAIN"),
    "another log behind it": (b"".join(LINES + LINES), "E_AUDIT_CHAIN"),
    "a first entry that follows another": (edited(0, prev_entry_hash="1" * 64), "E_AUDIT_CHAIN"),
    "a torn last line": (b"".join(LINES)[:-10], "E_AUDIT_TORN"),
    "a last line without its newline": (b"".join(LINES)[:-1], "E_AUDIT_TORN"),
    "white space": (LINES[0].replace(b":", b": ", 1) + b"".join(LINES[1:]), "E_AUDIT_LINE"),
    "carriage returns": (b"".join(LINES).replace(b"\n", b"\r\n"), "E_AUDIT_LINE"),
    "a key twice": (LINES[0].replace(b"{", b'{"entry_id":"",', 1) + b"".join(LINES[1:]), "E_AUDIT_LINE"),
    "another spelling of a number": (LINES[0].replace(b":100,", b":1e2,") + b"".join(LINES[1:]), "E_AUDIT_LINE"),
    "an empty line": (LINES[0] + b"\n" + b"".join(LINES[1:]), "E_AUDIT_LINE"),
    "no JSON in the middle": (b"".join([*LINES[:3], b"hello\n", *LINES[3:]]), "E_AUDIT_LINE"),
    "no JSON at the beginning": (b"hello\n" + b"".join(LINES), "E_AUDIT_LINE"),
    "a line without end": (LINES[0] + b"x" * (MAX_ENTRY + 9), "E_AUDIT_LINE"),
    "an unknown event": (tampered(5, lambda entry: entry.update(event="SLOW")), "E_AUDIT_LINE"),
    "a field more": (tampered(5, lambda entry: entry.update(more=1)), "E_AUDIT_LINE"),
    "a field less": (tampered(5, lambda entry: entry.pop("witnesses")), "E_AUDIT_LINE"),
    "a verdict that is none": (tampered(2, lambda entry: entry["kernel_decision"].update(verdict="ok")), "E_AUDIT_LINE"),
    "a token for another proposal": (tampered(3, lambda entry: entry.update(proposal_hash="1" * 64)), "E_AUDIT_TOKEN"),
    "a token for another trace": (tampered(3, lambda entry: entry.update(trace_hash="1" * 64)), "E_AUDIT_TOKEN"),
    "a token with a wider scope": (
        tampered(3, lambda entry: entry["capability_tokens"][0]["scope"]["rate_limit"].update(max_calls=9)), "E_AUDIT_TOKEN"
    ),
    "a token that lasts longer": (
        tampered(3, lambda entry: entry["capability_tokens"][0].update(expires_at_ms=10**6)), "E_AUDIT_TOKEN"
    ),
    "a token of another time": (tampered(3, lambda entry: entry.update(timestamp_ms=200)), "E_AUDIT_TOKEN"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "code"), FAULTS.values(), ids=FAULTS)
def test_a_single_fault_refutes_the_chain(verify, data, code):
    assert data != b"".join(LINES)
    assert verify(data) == (1, [code])


def test_a_refusal_may_log_a_token_that_does_not_fit(verify):
    """A denial tells what was presented, which is bound to something else as a rule."""
    assert verify(tampered(4, lambda entry: entry.update(proposal_hash="1" * 64, timestamp_ms=999))) == (0, [])


NO_LOGS = {
    "nothing": b"",
    "text": b"hello\nworld\n",
    "other JSON": b'{"a":1}\n{"b":2}\n',
    "receipts": b'{"body":{},"prev":"0","run":"0","seq":0,"type":"start"}\n',
    "binary": bytes(range(256)) * 40,
    "one long line": b"x" * (MAX_ENTRY * 2),
}


@pytest.mark.parametrize("data", NO_LOGS.values(), ids=NO_LOGS)
def test_what_is_no_log_is_not_refuted(verify, data):
    assert verify(data) == (2, ["E_AUDIT_NO_LOG"])


def test_a_log_that_is_not_there_or_no_plain_file_is_none(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "absent", tmp_path / "absent" / "deeper", tmp_path / "pipe"):
        with pytest.raises(Rejected, match="E_AUDIT_NO_LOG"):
            verify_audit(path)


def test_a_log_that_cannot_be_read_is_none(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "log").write_bytes(LINES[0])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(Rejected, match="Permission denied"):
        verify_audit(tmp_path / "log")


def test_nothing_is_said_of_what_was_not_read(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(FAULTS["an entry dropped"][0])
    assert [made.status.value for made in verify_audit(path).checks] == ["not made", "failed", "not made"]


def test_a_place_in_a_hostile_entry_cannot_steer_a_terminal(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LINES[0].replace(b'"entry_id"', '"\x1b[31m\u202e"'.replace("\x1b", "\\u001b").encode(), 1))
    messages = [made.message or "" for made in verify_audit(path).checks]
    assert all(message.isprintable() and message.isascii() for message in messages)
