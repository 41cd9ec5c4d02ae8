"""Values of a log by the type that a rule names, and when something was."""

import pytest

from specledger.core.canonical import MAX_INTEGER
from specledger.core.unknown import Unknown
from specledger.spec.base import INTEGER_LIMIT, QFIXED_ONE
from specledger.wings.trajectories.model import Call, Message, Speaker
from specledger.wings.trajectories.rules.conditions import Event, qfixed_of, typed

HALF = {"$number": "0.5"}
MOST = INTEGER_LIMIT // QFIXED_ONE

VALUES = {
    "an integer": (3, "int", 3),
    "the largest": (INTEGER_LIMIT, "int", INTEGER_LIMIT),
    "a larger one": (INTEGER_LIMIT + 1, "int", None),
    "the least": (-INTEGER_LIMIT, "int", -INTEGER_LIMIT),
    "a smaller one": (-INTEGER_LIMIT - 1, "int", None),
    "a whole decimal": ({"$number": "3.0"}, "int", 3),
    "a decimal for an integer": (HALF, "int", None),
    "a text that is an integer": ("3", "int", 3),
    "a text that is whole": ("3.0", "int", 3),
    "a text that is too large": (str(INTEGER_LIMIT + 1), "int", None),
    "words for an integer": ("three", "int", None),
    "a truth for an integer": (True, "int", None),
    "nothing for an integer": (None, "int", None),
    "an integer for a number": (3, "number", 3 * QFIXED_ONE),
    "the largest number": (MOST, "number", MOST * QFIXED_ONE),
    "a larger number": (MOST + 1, "number", None),
    "the least number": (-MOST, "number", -MOST * QFIXED_ONE),
    "a smaller number": (-MOST - 1, "number", None),
    "a decimal": (HALF, "number", QFIXED_ONE // 2),
    "a decimal of six places": ("0.000001", "number", 1),
    "a decimal of seven places": ("0.0000001", "number", None),
    "a truth for a number": (False, "number", None),
    "a truth": (True, "bool", True),
    "no truth": (False, "bool", False),
    "yes": ("YES", "bool", True),
    "no": ("no", "bool", False),
    "perhaps": ("perhaps", "bool", None),
    "one for a truth": (1, "bool", None),
    "a text": ("a", "text", "a"),
    "a number for a text": (3, "text", "3"),
    "a list for a text": ([1], "text", None),
}


@pytest.mark.parametrize(("value", "as_", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_by_its_type(value, as_, expected):
    found = typed(value, as_, "args.a")
    if expected is None:
        assert isinstance(found, Unknown)
        assert found.reason.startswith("args.a ")
    else:
        assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", QFIXED_ONE), ("-0.000001", -1), ("0.0000005", None), (str(MOST), MOST * QFIXED_ONE), (str(MOST + 1), None), (str(-MOST - 1), None)],
)  # fmt: skip
def test_a_number_in_millionths(text, expected):
    assert qfixed_of(text) == expected


def heard(time):
    return Event(0, message=Message(Speaker.USER, "a", time=time))


def test_when_something_was():
    assert heard(5).time == Event(0, call=Call("1", "t", time=5)).time == 5
    assert heard("1970-01-01T00:00:01Z").time == 1_000_000
    assert heard("").time == Event(0).time == Unknown("time is not recorded")
    assert heard("soon").time == Unknown("time is no time stamp: 'soon'")
    assert heard(MAX_INTEGER).time == MAX_INTEGER


def call(batch, actor=""):
    return Event(0, call=Call("1", "t", batch=batch, actor=actor))


@pytest.mark.parametrize(
    ("one", "two", "parallel"),
    [
        (call(1), call(1), True),
        (call(1), call(2), False),
        (call(0), call(0), False),
        (call(1), call(1, "a"), False),
        (call(1, "a"), call(1, "a"), True),
        (call(1), heard(""), False),
        (heard(""), call(1), False),
    ],
)
def test_calls_of_one_message_are_parallel(one, two, parallel):
    assert one.parallel_to(two) == parallel
