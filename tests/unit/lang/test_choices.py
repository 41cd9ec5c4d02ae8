"""The labels that an agent is offered: all of them where they can be listed, else one that shows their form."""

import pytest

from specledger.expr import BOOL, INT, STRING, EvaluationError, IntType, ListType, MapType, RecordType
from specledger.lang.choices import MOST_LABELS, choices_of
from specledger.lang.notation import Notation, Taken


def spelled(action):
    return " ".join(str(value) for value in action.values())


def labels(args, allowed=None, label=spelled):
    notation = Notation({"go": Taken(RecordType("args", args), allowed or {})}, label)
    (choice,) = choices_of(notation).values()
    return list(choice.labels), choice.listed


NUMBERS = tuple(range(MOST_LABELS + 1))

CASES = {
    "no arguments": ({}, {}, (["go"], True)),
    "what is allowed, in its order": ({"to": STRING}, {"to": ("N", "E")}, (["go N", "go E"], True)),
    "a truth value": ({"now": BOOL}, {}, (["go False", "go True"], True)),
    "all combinations": (
        {"to": STRING, "now": BOOL},
        {"to": ("N", "E")},
        (["go N False", "go N True", "go E False", "go E True"], True),
    ),
    "as many as are listed": ({"n": INT}, {"n": NUMBERS[:-1]}, ([f"go {n}" for n in NUMBERS[:-1]], True)),
    "one more": ({"n": INT}, {"n": NUMBERS}, (["go 0"], False)),
    "a free text": ({"to": STRING, "now": BOOL}, {}, (["go <to> False"], False)),
    "what is allowed beside a free text": ({"by": STRING, "to": STRING}, {"by": ("a", "b")}, (["go a <to>"], False)),
    "an integer of any size": ({"n": INT}, {}, (["go 0"], False)),
    "an integer from 3 on": ({"n": IntType(3, 9)}, {}, (["go 3"], False)),
    "an integer up to -3": ({"n": IntType(-9, -3)}, {}, (["go -3"], False)),
    "a list": ({"n": ListType(INT)}, {}, (["go []"], False)),
    "a map": ({"n": MapType(INT)}, {}, (["go {}"], False)),
    "a record": (
        {"r": RecordType("r", {"n": IntType(2, 4), "to": STRING, "now": BOOL})},
        {},
        (["go {'n': 2, 'to': '<to>', 'now': False}"], False),
    ),
}


@pytest.mark.parametrize(("args", "allowed", "expected"), CASES.values(), ids=CASES)
def test_the_labels_of_an_operation(args, allowed, expected):
    assert labels(args, allowed) == expected


def test_labels_that_are_alike_are_listed_once():
    assert labels({"to": STRING}, {"to": ("N", "E", "N")}, label=lambda action: "go") == (["go"], True)


@pytest.mark.parametrize("error", [EvaluationError("E_EVAL_ARGUMENT", "too much"), KeyError("n")])
def test_without_a_label_an_action_is_written_out(error):
    def none(action):
        raise error

    assert labels({"to": STRING, "now": BOOL}, {"to": ("N",)}, label=none)[0] == [
        "go(to=N, now=False)",
        "go(to=N, now=True)",
    ]


def test_operations_come_by_their_names():
    taken = Taken(RecordType("args", {}), {})
    assert list(choices_of(Notation({"b": taken, "a": taken, "c": taken}, spelled))) == ["a", "b", "c"]
