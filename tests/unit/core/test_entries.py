"""Entries are hashed and linked as the seed says, fit their schema whatever they are about, and are the same every time."""

import hashlib
import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.binding import GENESIS
from specledger.core.entries import CUT, MOST_NOTES, Entries, Mode, entry_hash, mode_of, uuid_of
from specledger.gates.documents import shipped_schemas


def made(mode=Mode.LIVE, count=3):
    entries = Entries(mode)
    return [entries.seal("POLICY_DECISION", at_ms=100 * tick, verdict="allow", codes=["ok"]) for tick in range(count)]


def test_the_chain_begins_with_zeros_and_each_entry_names_the_one_before():
    hashes = [GENESIS]
    for entry in made():
        bare = {name: value for name, value in entry.items() if name != "entry_hash"}
        text = json.dumps(bare, sort_keys=True, separators=(",", ":")).encode()
        assert entry["entry_hash"] == hashlib.sha256(text).hexdigest() == entry_hash(entry) == entry_hash(bare)
        assert entry["prev_entry_hash"] == hashes[-1]
        hashes.append(entry["entry_hash"])
    assert len(set(hashes)) == 4


def test_entries_go_on_from_a_head():
    first, second, third = made()
    again = Entries(Mode.LIVE, first["entry_hash"])
    assert again.seal("POLICY_DECISION", at_ms=100, verdict="allow", codes=["ok"]) == second
    assert again.head == third["prev_entry_hash"]


def test_entries_are_the_same_every_time_and_no_two_are_alike():
    assert made() == made()
    same = Entries(Mode.LIVE)
    identifiers = {same.seal("INTERNAL_ERROR", at_ms=0)["entry_id"] for _ in range(50)}
    assert len(identifiers) == 50


@pytest.mark.parametrize("mode", Mode)
def test_an_entry_tells_its_mode(mode):
    for entry in made(mode):
        assert mode_of(entry) is mode
        assert entry["kernel_decision"]["notes"] == f"mode:{mode} ok"


@pytest.mark.parametrize("notes", ["", "live", "mode:", "mode:other", "mode:live2", "ok mode:live", "Mode:live"])
def test_other_notes_tell_no_mode(notes):
    assert mode_of({"kernel_decision": {"notes": notes}}) is None


@pytest.mark.medium
@given(
    codes=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=900), max_size=12),
    witnesses=st.integers(0, 140),
    tokens=st.integers(0, 20),
)
def test_whatever_is_too_much_is_cut_and_said_so(codes, witnesses, tokens):
    scope = {"allowed_ops": ["move"], "rate_limit": {"max_calls": 1, "per_ms": 1}, "expiry_ms": 1}
    token = {
        "token_id": uuid_of("token", "t"), "capability": "move", "scope": scope, "issued_at_ms": 0, "expires_at_ms": 1,
        "binding": dict.fromkeys(["proposal_hash", "trace_hash", "scope_hash"], GENESIS), "signature": GENESIS,
        "revocation_id": uuid_of("revocation", "t"),
    }  # fmt: skip
    entry = Entries(Mode.SIMULATED).seal(
        "CAPABILITY_DENIED",
        at_ms=0,
        codes=codes,
        witnesses=[{"invariant": "I0", "severity": "fatal", "message": "c", "data_hash": GENESIS}] * witnesses,
        tokens=[token] * tokens,
    )
    assert shipped_schemas("axion").explain("audit_entry", entry) == []
    notes = entry["kernel_decision"]["notes"]
    fits = len(" ".join(["mode:simulated", *codes])) <= MOST_NOTES
    words = [code.replace(" ", "_") for code in codes]
    if fits and witnesses <= 128 and tokens <= 16:
        assert notes == " ".join(["mode:simulated", *words])
    else:
        assert notes.endswith(f" {CUT}")
        assert mode_of(entry) is Mode.SIMULATED


def test_an_identifier_is_a_uuid_of_version_5_and_depends_on_noun_and_name():
    found = {uuid_of(noun, name) for noun in ("entry", "token") for name in ("a", "b")}
    assert len(found) == 4
    assert {UUID(one).version for one in found} == {5}
    assert {str(UUID(one)) for one in found} == found
