"""Sums and products in fingerprints: equal to arithmetic, as long as they are small."""

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.wings.discovery import fingerprint
from specledger.wings.discovery.fingerprint import combined, polynomial_of
from specledger.wings.laws.observable import Combined, Number

THINGS = ("a", "b", "c")
TERMS = st.lists(st.sampled_from(THINGS), max_size=3).map(lambda things: tuple(sorted(things)))
POLYNOMIALS = st.dictionaries(TERMS, st.integers(-5, 5).filter(bool), max_size=4)
VALUES = st.fixed_dictionaries({thing: st.integers(-4, 4) for thing in THINGS})


def value(polynomial, values):
    return sum(factor * prod(values[thing] for thing in things) for things, factor in polynomial.items())


@given(st.sampled_from("+-*"), POLYNOMIALS, POLYNOMIALS, VALUES)
def test_a_combination_has_the_value_of_its_operation(op, left, right, values):
    result = combined(op, left, right)
    assert result is not None
    both = value(left, values), value(right, values)
    assert value(result, values) == {"+": sum(both), "-": both[0] - both[1], "*": both[0] * both[1]}[op]
    assert all(result.values())
    assert all(list(things) == sorted(things) for things in result)


def test_what_is_too_large_on_one_side_is_so_on_both():
    assert combined("+", None, {}) is combined("*", {}, None) is None


def apart(size, thing="a"):
    return {(f"{thing}{number}",): 1 for number in range(size)}


def test_bounds_are_reached_and_not_passed(monkeypatch):
    monkeypatch.setattr(fingerprint, "MOST_MONOMIALS", 6)
    assert [combined("+", apart(n), apart(3, "b")) is None for n in (2, 3, 4)] == [False, False, True]
    assert [combined("*", apart(n), apart(3, "b")) is None for n in (2, 3)] == [False, True]
    monkeypatch.setattr(fingerprint, "MOST_MONOMIALS", 99)
    monkeypatch.setattr(fingerprint, "MOST_PRODUCTS", 6)
    assert [combined("*", apart(n), apart(3, "b")) is None for n in (1, 2, 3)] == [False, False, True]
    monkeypatch.setattr(fingerprint, "MOST_DEGREE", 5)
    degrees = [combined("*", {(): 1, ("a",) * n: 1}, {("b",) * 3: 1}) is None for n in (1, 2, 3)]
    assert degrees == [False, False, True]
    assert combined("*", {}, {("b",) * 5: 1}) == {}


@pytest.mark.parametrize(("number", "expected"), [(0, {}), (3, {(): 3}), (-3, {(): -3})])
def test_a_number_is_a_constant(number, expected):
    assert polynomial_of(Number(number)) == expected


def test_a_sum_that_is_too_large_is_one_thing_whatever_its_order(monkeypatch):
    monkeypatch.setattr(fingerprint, "MOST_MONOMIALS", 0)
    first, second = (Combined("+", Number(left), Number(right)) for left, right in ((1, 2), (2, 1)))
    assert polynomial_of(first) == polynomial_of(second) != polynomial_of(Combined("-", Number(1), Number(2)))
    assert list(polynomial_of(first).values()) == [1]
    assert polynomial_of(Combined("-", Number(1), Number(2))) != polynomial_of(Combined("-", Number(2), Number(1)))
