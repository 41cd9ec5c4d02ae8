"""What intervals say of a condition, and how far a start is from meeting one, against all values of small ranges."""

from itertools import product
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import pytest

from specledger.wings.laws.claim import START, Binary, Const, Not, Observe
from specledger.wings.laws.preconditions import _compared, _distance, _outcomes

OPERATORS = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}
INTERVALS = [(low, high) for low in range(4) for high in range(low, 4)]


@pytest.mark.parametrize("op", OPERATORS)
def test_a_comparison_of_intervals_can_be_what_some_of_their_values_make_it(op):
    for left, right in product(INTERVALS, INTERVALS):
        outcomes = {OPERATORS[op](x, y) for x in range(left[0], left[1] + 1) for y in range(right[0], right[1] + 1)}
        assert _compared(op, left, right) == (True in outcomes, False in outcomes), (left, right)


JUNCTIONS = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "=>": lambda x, y: not x or y}


@pytest.mark.parametrize("op", JUNCTIONS)
def test_a_condition_of_known_parts_is_known(op):
    for x, y in product((False, True), (False, True)):
        holds = JUNCTIONS[op](x, y)
        condition = Binary(op, Const(x), Const(y))
        assert _outcomes(condition, {}, 3) == (holds, not holds)
        assert _outcomes(Not(condition), {}, 3) == (not holds, holds)


A, B = Observe("a", START), Observe("b", START)
VALUES = list(product(range(4), range(4)))


def read(a, b) -> Any:
    return lambda name, time: {"a": a, "b": b}[name]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("wanted", [True, False])
def test_a_start_is_no_distance_from_a_comparison_that_it_meets(op, wanted):
    for a, b in VALUES:
        holds = OPERATORS[op](a, b)
        condition = Binary(op, A, B) if wanted else Not(Binary(op, A, B))
        far = _distance(condition, True, read(a, b))
        assert (far == 0) is (holds is wanted)
        if far:
            apart = 1 if (op == "!=") is wanted and op in ("==", "!=") else max(1, abs(a - b))
            assert far == apart


@pytest.mark.parametrize("op", JUNCTIONS)
def test_a_start_is_no_distance_from_a_condition_that_it_meets(op):
    for a, b in VALUES:
        holds = JUNCTIONS[op](a > 1, b > 2)
        condition = Binary(op, Binary(">", A, Const(1)), Binary(">", B, Const(2)))
        assert (_distance(condition, True, read(a, b)) == 0) is holds
        assert (_distance(Not(condition), True, read(a, b)) == 0) is not holds


def test_distances_add_up_where_both_are_needed_and_the_nearer_counts_where_one_is_enough():
    near, far = Binary(">", A, Const(1)), Binary("==", B, Const(7))
    at = read(0, 0)
    assert (_distance(near, True, at), _distance(far, True, at)) == (1, 7)
    assert _distance(Binary("and", near, far), True, at) == 8
    assert _distance(Binary("or", near, far), True, at) == 1
    assert _distance(Binary("=>", Const(True), far), True, at) == 1  # that the left side is false is one step away
    assert _distance(Const(False), True, at) == 1
