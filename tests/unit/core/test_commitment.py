"""The digests that bind a run's facts, from their definition: states, parts' receipts, and committed proposal sets."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.binding import (
    leaf,
    observation_digest,
    part_tip,
    proposal_digest,
    scope_digest,
    set_root,
    state_digest,
    token_document,
)

FEW = settings(max_examples=40)  # each example writes and hashes several documents
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)

NORTH = {"action": {"op": "move", "dir": "N"}, "score": -3}
SOUTH = {"action": {"op": "move", "dir": "S"}, "score": 4}
STAY = {"action": {"op": "stay"}, "score": 0}
LINES = [
    b'{"index":0,"proposal":{"action":{"dir":"N","op":"move"},"score":-3}}',
    b'{"index":1,"proposal":{"action":{"dir":"S","op":"move"},"score":4}}',
    b'{"index":2,"proposal":{"action":{"op":"stay"},"score":0}}',
]


def sha(data):
    return hashlib.sha256(data).digest()


A, B, C = (sha(b"\x00" + line) for line in LINES)
BY_HAND = {
    0: sha(b""),
    1: A,
    2: sha(b"\x01" + A + B),
    3: sha(b"\x01" + sha(b"\x01" + A + B) + C),
}


def leaves(proposals):
    return [leaf(index, proposal) for index, proposal in enumerate(proposals)]


def root(proposals):
    return set_root(leaves(proposals))


def test_a_leaf_is_the_canonical_proposal_at_its_index():
    assert leaves([NORTH, SOUTH, STAY]) == LINES


@pytest.mark.parametrize("size", BY_HAND)
def test_roots_by_hand(size):
    assert root([NORTH, SOUTH, STAY][:size]) == BY_HAND[size].hex()


@pytest.mark.parametrize("length", [0, 1300, 2000, 5000])
def test_roots_of_short_and_long_sets_by_hand_however_often_they_are_asked_for(length):
    """Roots of short sets are kept; sets that differ in one byte have roots of their own."""
    first, second, third, other = (byte * length + b"." for byte in (b"a", b"b", b"c", b"d"))
    for asked in ([first, second, third], [first, second, other], [first, second, third]):
        left, middle, last = (sha(b"\x00" + line) for line in asked)
        expected = sha(b"\x01" + sha(b"\x01" + left + middle) + last).hex()
        assert set_root(asked) == set_root(tuple(asked)) == expected


TEXTS = st.sampled_from(["", "a", "b", "é", 'n\n"\\', "🌊"])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
STATES = st.dictionaries(
    TEXTS, st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(TEXTS, SCALARS, max_size=2)), max_size=3
)
TIPS = st.binary(min_size=32, max_size=32).map(bytes.hex)


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tagged(tag, data):
    return hashlib.sha256(tag + b"\0" + data).hexdigest()


@FEW
@given(state=STATES, tip=TIPS)
def test_states_and_tips_by_definition(state, tip):
    assert state_digest(state) == tagged(b"specledger/state/v1", written(state))
    assert observation_digest(state) == tagged(b"specledger/observation/v1", written(state))
    assert part_tip(tip, state) == tagged(b"specledger/part/v1", tip.encode() + written(state))


def test_a_pinned_state():
    """Every golden depends on these bytes."""
    state = {"t": 0, "position": {"y": 1, "x": 2}, "grid": [[0, 1], [2, -3]], "name": "é"}
    assert written(state).decode() == '{"grid":[[0,1],[2,-3]],"name":"é","position":{"x":2,"y":1},"t":0}'
    assert state_digest(state) == "15969b2bbb23c161a4a745a3fe7a929f7939e77a9efd8a604c794c65c937343f"


def test_digests_by_definition():
    assert proposal_digest(LINES[1]) == tagged(b"specledger/proposal/v1", LINES[1])
    scope = scope_digest(3, 14, "move")
    assert scope == tagged(b"specledger/scope/v1", b'{"episode":3,"op":"move","t":14}')
    bound = {"commitment": "cc", "proposal": "aa", "scope": scope}
    identifier = tagged(b"specledger/token/v1", written(bound))
    assert token_document("aa", "cc", scope) == {"id": identifier, **bound}
