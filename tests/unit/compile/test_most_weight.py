"""What values can weigh by their types: exactly, and from where they are weighed before they are written."""

import pytest

from specledger.compile.size_bounds import may_exceed_limit, most_weight
from specledger.core.weight import MAX_WEIGHT, weigh
from specledger.expr import BOOL, INT, STRING, ListType, MapType, RecordType
from specledger.expr.check.types import DYN, JSON
from specledger.expr.limits import MAX_LIST, MAX_STRING

PLAIN = RecordType("p", {"a": INT, "name": INT})
TEXT = "x" * MAX_STRING
WEIGHTS = {
    "a number": (INT, 7),
    "a truth": (BOOL, True),
    "a text": (STRING, TEXT),
    "a list of numbers": (ListType(INT, 3), [1, 2, 3]),
    "a list of texts": (ListType(STRING, 2), [TEXT, TEXT]),
    "lists in a list": (ListType(ListType(INT, 2), 3), [[1, 2]] * 3),
    "a record": (PLAIN, {"a": 1, "name": 2}),
    "records in a list": (ListType(PLAIN, 2), [{"a": 1, "name": 2}] * 2),
}


@pytest.mark.parametrize(("type_", "value"), WEIGHTS.values(), ids=WEIGHTS)
def test_the_heaviest_value_of_a_type(type_, value):
    assert most_weight(type_) == weigh(value)


def test_a_map_has_as_many_keys_as_a_list_has_members():
    assert most_weight(MapType(INT)) == 32 + MAX_LIST * (8 + MAX_STRING)
    assert most_weight(DYN) == most_weight(JSON) == 4 * MAX_WEIGHT


def of_weight(weight):
    """A type whose heaviest value weighs so much."""
    return ListType(INT, (weight - 16) // 8)


@pytest.mark.parametrize(("more", "heavy"), [(0, False), (8, True)])
def test_what_is_hashed_is_weighed_where_it_may_be_too_heavy(more, heavy):
    assert most_weight(of_weight(MAX_WEIGHT + more)) == MAX_WEIGHT + more
    assert may_exceed_limit([INT, of_weight(MAX_WEIGHT + more)], []) is heavy


@pytest.mark.parametrize(("more", "heavy"), [(0, False), (8, True)])
def test_what_a_receipt_holds_may_be_twice_as_heavy(more, heavy):
    type_ = of_weight(2 * MAX_WEIGHT + more)
    for compiled in ([type_], [[type_]], [{"a": (type_,)}], [{"b": INT}, "text", type_]):
        assert may_exceed_limit([], compiled) is heavy
