"""How much may be hashed or told: told apart before anything is written, however often parts are shared."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specledger.core.weight
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.weight import Allowance, check_weight, footprint, weigh, write
from specledger.expr.eval.values import remaining
from specledger.expr.eval.values import weight as shared_weight

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


def members(value):
    """Members of lists and objects, characters of texts and keys: counted in the plainest way."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(1 + len(key) + members(member) for key, member in value.items())
    return sum(1 + members(member) for member in value) if isinstance(value, list) else 0


def weight(value):
    """What a value weighs, counted in the plainest way."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 32 + sum(8 + len(key) + weight(member) for key, member in value.items())
    return 16 + sum(8 + weight(member) for member in value) if isinstance(value, list) else 0


def passes(check, value):
    try:
        check(value)
    except NotCanonical:
        return False
    return True


@given(values.map(lambda value: {"value": value}))
def test_the_bound_is_the_plain_weight(value):
    heavy = weight(value)
    assert heavy <= 24 * len(canonical_bytes(value))
    assert weigh(value) == heavy
    for most in (heavy, heavy - 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(specledger.core.weight, "MAX_WEIGHT", most)
            assert passes(check_weight, value) is (most == heavy)


@given(values.map(lambda value: {"value": value}))
def test_members_are_counted_of_shared_parts_as_well(value):
    count = members(value)
    assert count <= len(canonical_bytes(value))
    assert shared_weight(value, {}) == count
    assert shared_weight([value, value], {}) == 2 + 2 * count


CONTAINERS = {
    "empty lists": lambda number: [[] for _ in range(number)],
    "lists": lambda number: [[1000 + index] for index in range(number)],
    "objects": lambda number: [{"a": 1000 + index} for index in range(number)],
    "numbers": lambda number: [1000 + index for index in range(number)],
    "texts": lambda number: [f"{index:06}" for index in range(number)],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_value_takes_no_more_memory_than_its_weight_allows(name):
    value: Any = CONTAINERS[name](1000)
    taken = sys.getsizeof(value) + sum(map(size_of, value))
    assert taken <= 8 * weigh(value)


def size_of(value):
    """The bytes that a value takes, with what the collector of cycles adds to a container."""
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return 16 + sys.getsizeof(value) + sum(map(size_of, inner))
    return sys.getsizeof(value)


BODIES = {
    "within": ["0" * 9] * 10_000,
    "empty lists": [[]] * 350_000,
    "numbers": [0] * 1_045_000,
}


@pytest.mark.parametrize("name", BODIES)
def test_what_a_receipt_may_not_hold_is_not_written(name):
    if name == "within":
        assert write(BODIES[name], BODIES[name]) == canonical_bytes(BODIES[name])
        return
    with pytest.raises(NotCanonical, match=r"a volume of [0-9]+, more than 1040384") as refused:
        write(BODIES[name], [])
    assert refused.value.code == "E_CANON_SIZE"


@pytest.mark.medium
def test_what_is_kept_for_a_receipt_is_charged_as_its_weight():
    allowance = Allowance()
    kept = [[[index] for index in range(50_000)] for _ in range(5)]  # no list that is made later has their identity
    for value in kept:
        allowance.keep(value)
    with pytest.raises(NotCanonical, match="a value being 8 at least"):
        allowance.keep([[index] for index in range(50_000)] + [[]] * 50_000)


SMALL = -5, 256
"""Integers that are there once, whatever holds them."""


def taken(value):
    """The bytes of memory of a value that shares nothing, in the plainest way."""
    if isinstance(value, str):
        return 64 + 2 * len(value)
    if not isinstance(value, list | dict):
        return 32
    inner = [*value.values()] if isinstance(value, dict) else value
    apart = [member for member in inner if isinstance(member, str | list | dict) or type(member) not in (int, bool)]
    apart += [member for member in inner if type(member) is int and not SMALL[0] <= member <= SMALL[1]]
    return 64 + (8 if isinstance(value, list) else 32) * len(value) + sum(map(taken, apart))


scalars_of_any_size = st.none() | st.booleans() | st.sampled_from([-6, -5, 0, 256, 257, 10**9]) | st.text(max_size=3)
sized = st.recursive(
    scalars_of_any_size,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


def apart(value):
    """The same value without shared parts."""
    if isinstance(value, list):
        return [apart(member) for member in value]
    return {key: apart(member) for key, member in value.items()} if isinstance(value, dict) else value


@given(sized.map(apart))
def test_the_footprint_of_a_value_counts_all_its_members(value):
    assert footprint(value, 10**9) == taken(value)


def test_a_shared_part_takes_its_memory_once():
    part = ["x" * 100, 1000]
    assert footprint([part, part, part], 10**9) == 64 + 3 * 8 + taken(part)
    assert footprint({"a": part, "b": part}, 10**9) == 64 + 2 * 32 + taken(part)


def test_no_more_of_a_value_is_measured_than_the_bound_allows():
    texts = ["x" * 100 for _ in range(1000)]
    whole, least = footprint(texts, 10**9), 64 + 8 * len(texts)
    assert footprint(texts, least - 1) == least + 264
    assert footprint(texts, least) == least + 264
    assert footprint(texts, least + 264) == least + 2 * 264
    assert footprint(texts, whole) == whole


@pytest.mark.medium
@given(st.dictionaries(st.text(max_size=3), values, max_size=3) | st.lists(values, max_size=3))
def test_what_remains_of_a_bound_is_less_by_all_members_and_characters(value):
    count = members(value)
    assert remaining(value, count) == 0
    assert remaining(value, count + 7) == 7
    assert count == 0 or remaining(value, count - 1) < 0


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("x" * 5, 0),  # the least that a text is charged
        ("x" * 6, -1),
        ([], -16),
        ([1, 1], -24),
        ({"k": 1}, -48),
        ({"x" * 6: 1}, -49),
    ],
)
def test_what_is_left_of_eight_bytes_after_a_value(value, left):
    assert specledger.core.weight._room(value, 8) == left


@pytest.mark.parametrize(("members", "left"), [(0, 8), (1, 0), (2, -8), (3, -8), (9, -8)])
def test_no_member_is_looked_at_once_the_bound_is_exceeded(members, left):
    assert specledger.core.weight._room([1] * members, 32) == left


@pytest.mark.parametrize("value", [[10**400, 1.0], [1, "x"], [1, None], [1, [2]]])
def test_a_row_that_begins_with_a_number_is_weighed_whatever_comes_after(value):
    assert weigh(value) == 16 + sum(8 + weight(member) for member in value)
