"""How much may be hashed or told: told apart before anything is written, however often parts are shared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specledger.core.weight
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.weight import check_weight
from specledger.core.weight import weight as shared_weight

WIDE = [0] * 65_536
TEXT = "x" * 65_536
HEAVY = {
    "a list of one list": [WIDE] * 65_536,
    "a list of one text": [TEXT] * 65_536,
    "lists in lists": [[[[[[WIDE] * 99] * 99] * 99] * 99] * 99],
    "a map of one list": {str(key): WIDE for key in range(1000)},
    "a record of a list of records": {"rows": [{"cells": WIDE, "name": TEXT}] * 200},
    "a long key": [{TEXT: True}] * 200,
}


@pytest.mark.parametrize("value", HEAVY.values(), ids=HEAVY)
def test_what_would_take_gigabytes_is_refused_unwritten(monkeypatch, value):
    monkeypatch.setattr("specledger.core.weight.MAX_WEIGHT", 200_000)
    with pytest.raises(NotCanonical) as error:
        check_weight(value)
    assert (error.value.code, error.value.path) == ("E_CANON_SIZE", "$")


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


def weight(value):
    """Members of lists and objects, characters of texts and keys: counted in the plainest way."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(1 + len(key) + weight(member) for key, member in value.items())
    return sum(1 + weight(member) for member in value) if isinstance(value, list) else 0


def passes(check, value):
    try:
        check(value)
    except NotCanonical:
        return False
    return True


@given(values.map(lambda value: {"value": value}))
def test_the_bound_is_the_plain_weight(value):
    heavy = weight(value)
    assert heavy <= len(canonical_bytes(value))
    assert shared_weight(value, {}) == heavy
    assert shared_weight([value, value], {}) == 2 + 2 * heavy
    for most in (heavy, heavy - 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(specledger.core.weight, "MAX_WEIGHT", most)
            assert passes(check_weight, value) is (most == heavy)
