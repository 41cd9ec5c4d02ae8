"""The commitment to a proposal set: what its leaves are, its root by hand, and that it changes with every change."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.binding import leaf, proposal_digest, scope_digest, set_root, token_document
from specledger.core.merkle import verify_inclusion
from tests.toys.trees import inclusion_proof

FEW = settings(max_examples=40)  # each example writes and hashes several documents
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
ARGUMENTS = st.dictionaries(st.sampled_from(["dir", "n", "p"]), NUMBERS | st.sampled_from(["N", "S"]), max_size=2)
PROPOSALS = st.builds(
    lambda op, arguments, score, claims: {"action": {"op": op, **arguments}, "score": score, **claims},
    st.sampled_from(["move", "stay"]),
    ARGUMENTS,
    NUMBERS,
    st.dictionaries(st.sampled_from(["because", "zeal"]), NUMBERS, max_size=1),
)
SETS = st.lists(PROPOSALS, min_size=1, max_size=6)

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


@FEW
@given(proposals=SETS, place=st.integers(0, 8))
def test_each_leaf_can_be_shown_to_be_in_the_set(proposals, place):
    place %= len(proposals)
    lines, committed = leaves(proposals), bytes.fromhex(root(proposals))
    proof = inclusion_proof(lines, place)
    assert verify_inclusion(lines[place], place, len(lines), proof, committed)
    assert not verify_inclusion(leaf(place + 1, proposals[place]), place, len(lines), proof, committed)


def tagged(tag, data):
    return hashlib.sha256(tag + b"\0" + data).hexdigest()


def test_digests_by_definition():
    assert proposal_digest(LINES[1]) == tagged(b"specledger/proposal/v1", LINES[1])
    scope = scope_digest(3, 14, "move")
    assert scope == tagged(b"specledger/scope/v1", b'{"episode":3,"op":"move","t":14}')
    bound = {"commitment": "cc", "proposal": "aa", "scope": scope}
    identifier = tagged(b"specledger/token/v1", json.dumps(bound, sort_keys=True, separators=(",", ":")).encode())
    assert token_document("aa", "cc", scope) == {"id": identifier, **bound}
