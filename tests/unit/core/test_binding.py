"""The digests of states, observations and parts' receipts, recomputed from their definition."""

import copy
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.binding import GENESIS, observation_digest, part_tip, state_digest
from specledger.core.canonical import NotCanonical

FEW = settings(max_examples=40)  # each example writes and hashes several documents
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
TEXTS = st.sampled_from(["", "a", "b", "é", 'n\n"\\', "🌊"])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
STATES = st.dictionaries(
    TEXTS, st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(TEXTS, SCALARS, max_size=2)), max_size=3
)
TIPS = st.binary(min_size=32, max_size=32).map(bytes.hex)


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tagged(tag, data):
    return hashlib.sha256(tag.encode() + b"\0" + data).hexdigest()


@FEW
@given(state=STATES)
def test_by_definition(state):
    assert state_digest(state) == tagged("specledger/state/v1", written(state))
    assert observation_digest(state) == tagged("specledger/observation/v1", written(state))


@FEW
@given(tip=TIPS, receipt=STATES)
def test_a_tip_by_definition(tip, receipt):
    assert part_tip(tip, receipt) == tagged("specledger/part/v1", tip.encode() + written(receipt))


PINNED = "15969b2bbb23c161a4a745a3fe7a929f7939e77a9efd8a604c794c65c937343f"


def test_a_pinned_state():
    """Every golden depends on these bytes."""
    state = {"t": 0, "position": {"y": 1, "x": 2}, "grid": [[0, 1], [2, -3]], "name": "é"}
    assert written(state).decode() == '{"grid":[[0,1],[2,-3]],"name":"é","position":{"x":2,"y":1},"t":0}'
    assert state_digest(state) == PINNED


@FEW
@given(state=STATES, tip=TIPS)
def test_nothing_is_changed(state, tip):
    before = copy.deepcopy(state)
    for digest in (state_digest, observation_digest, lambda body: part_tip(tip, body)):
        assert digest(state) == digest(state)
        assert state == before


WITHOUT_FORM = {"too large": 2**53, "a lone surrogate": "\ud800", "a set": {1}, "a key that is no text": {1: 2}}


@pytest.mark.parametrize("value", WITHOUT_FORM.values(), ids=WITHOUT_FORM)
def test_what_has_no_canonical_form_has_no_digest(value):
    for digest in (state_digest, observation_digest, lambda body: part_tip(GENESIS, body)):
        with pytest.raises(NotCanonical):
            digest({"a": [value]})
