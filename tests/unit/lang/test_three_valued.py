"""Effects where some of what they read is unknown: the whole field becomes unknown, and nothing else."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.core.unknown import Unknown
from specledger.expr import BOOL, INT, Environment, ListType, RecordType, check
from specledger.lang.effects import PlannedEffect
from specledger.lang.scope import Fields, Let
from specledger.lang.three_valued import (
    any_unknown,
    known_effects,
    known_record,
    three_valued,
    unknown_effects,
    with_let,
)

PAIR = RecordType("pair", {"a": INT, "b": INT})
TYPES = {"n": INT, "m": INT, "b": BOOL, "pair": PAIR, "items": ListType(INT, 8)}
NAMES = Environment(TYPES)
UNKNOWN = Unknown("nobody knows")
RECORD = {"n": 1, "m": 2, "b": True, "pair": {"a": 3, "b": 4}, "items": [5]}


def expression(text, environment=NAMES):
    checked = check(Text.inline(text), environment, Diagnostics())
    assert checked is not None
    return checked


def effect(kind, target, *values, when=None):
    type_ = TYPES[target.split(".")[0]] if "." not in target else INT
    planned = None if when is None else expression(when)
    return PlannedEffect(kind, tuple(target.split(".")), type_, planned, tuple(map(expression, values)))


CASES = {
    "what is known is set": ([effect("set", "n", "m + 1")], {}, {"n": 3}),
    "what reads an unknown value is unknown": ([effect("set", "n", "m + 1")], {"m": UNKNOWN}, {"n": UNKNOWN}),
    "the whole field of a part": ([effect("set", "pair.a", "n")], {"n": UNKNOWN}, {"pair": UNKNOWN}),
    "a part that is known": ([effect("set", "pair.a", "n + 7")], {}, {"pair": {"a": 8, "b": 4}}),
    "a part of what is unknown stays unknown": ([effect("set", "pair.a", "n")], {"pair": UNKNOWN}, {}),
    "a whole that was unknown is known": ([effect("set", "pair", "{'a': n, 'b': n}")], {"pair": UNKNOWN}, {"pair": {"a": 1, "b": 1}}),
    "appended to what is unknown": ([effect("append", "items", "n")], {"items": UNKNOWN}, {}),
    "appended to what is known": ([effect("append", "items", "n")], {}, {"items": [5, 1]}),
    "a condition that holds": ([effect("set", "n", "9", when="b")], {}, {"n": 9}),
    "a condition that does not": ([effect("set", "n", "9", when="!b")], {}, {}),
    "a condition that is unknown": ([effect("set", "n", "9", when="b")], {"b": UNKNOWN}, {"n": UNKNOWN}),
    "one after the other": (
        [effect("set", "n", "9", when="!b"), effect("set", "m", "7"), effect("set", "pair.a", "1")],
        {"pair": UNKNOWN},
        {"m": 7},
    ),
    "effects after one on what is unknown": (
        [effect("set", "pair.a", "1"), effect("set", "n", "m"), effect("set", "m", "n")],
        {"pair": UNKNOWN},
        {"n": 2, "m": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("effects", "unknown", "changed"), CASES.values(), ids=CASES)
def test_effects(effects, unknown, changed):
    record = {**RECORD, **unknown}
    assert known_effects(effects, record, record) == {**record, **changed}


def test_the_record_before_stays_as_it_was():
    record = {**RECORD, "n": UNKNOWN}
    known_effects([effect("set", "m", "n"), effect("set", "pair.a", "7")], record, record)
    assert record == {**RECORD, "n": UNKNOWN}


def test_all_that_effects_may_change_is_unknown_where_it_is_whether_they_are_made():
    effects = [effect("set", "pair.a", "1"), effect("append", "items", "n")]
    assert unknown_effects(effects, UNKNOWN, RECORD) == {**RECORD, "pair": UNKNOWN, "items": UNKNOWN}


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([RECORD], False),
        ([RECORD, {"x": UNKNOWN}], True),
        ([UNKNOWN], True),
        ([], False),
        ([None, [UNKNOWN], 3], False),
    ],
)
def test_unknown_members_are_looked_for_in_records(records, found):
    assert any_unknown(*records) is found


def test_where_something_is_unknown_the_other_function_is_called():
    call = three_valued(lambda *given: ("fast", given), lambda *given: ("known", given), any_unknown)
    assert call({"a": 1}, 2) == ("fast", ({"a": 1}, 2))
    assert call({"a": UNKNOWN}, 2) == ("known", ({"a": UNKNOWN}, 2))


def test_a_let_reads_what_stands_before_it_and_a_record_does_not():
    inner = NAMES.extend(variables={"twice": INT})
    let = Let((("twice", expression("2 * n")), ("more", expression("twice + m", inner))))
    assert with_let(let, {"n": 3, "m": 1}) == {"n": 3, "m": 1, "twice": 6, "more": 7}
    assert with_let(let, {"n": UNKNOWN, "m": 1}) == {"n": UNKNOWN, "m": 1, "twice": UNKNOWN, "more": UNKNOWN}
    fields = Fields((("m", expression("n")), ("n", expression("m"))))
    assert known_record(fields, {"n": 3, "m": UNKNOWN}) == {"m": 3, "n": UNKNOWN}
