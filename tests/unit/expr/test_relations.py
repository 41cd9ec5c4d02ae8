"""Types: what fits where, what holds two, what can be compared."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    Defined,
    Environment,
    IntType,
    ListType,
    MapType,
    RecordType,
    assignable,
    check,
    conforms,
    contains,
    join,
)
from specledger.expr.check.relations import comparable
from specledger.expr.check.types import NOTHING, one_of

SMALL, SMALLER = IntType(0, 9), IntType(2, 5)
CELL = RecordType("cell", {"x": INT, "y": INT})
SAME_CELL = RecordType("place", {"y": INT, "x": INT})
OPTIONAL = RecordType("cell", {"x": INT, "y": INT}, frozenset({"y"}))
HALF = RecordType("half", {"x": INT})
DERIVED = RecordType("cell", {"x": INT, "y": INT}, derived={"far": Defined((), Text.inline("x > 9"))})
EMPTY = RecordType("", {})

# actual, expected: assignable, contained
FITS = [
    (INT, INT, True, True),
    (INT, SMALL, True, False),
    (SMALLER, SMALL, True, True),
    (SMALL, SMALLER, True, False),
    (INT, DOUBLE, False, False),
    (INT, DYN, True, True),
    (DYN, INT, False, False),
    (NULL, STRING, False, False),
    (NOTHING, STRING, True, True),
    (STRING, NOTHING, False, False),
    (ListType(NOTHING), ListType(STRING), True, True),
    (ListType(INT, 3), ListType(INT, 2), True, False),
    (ListType(INT, 2), ListType(INT, 2), True, True),
    (ListType(INT), ListType(STRING), False, False),
    (CELL, SAME_CELL, True, True),
    (DERIVED, CELL, True, True),
    (CELL, OPTIONAL, True, True),
    (OPTIONAL, CELL, False, False),
    (HALF, CELL, False, False),
    (HALF, OPTIONAL, True, True),
    (CELL, HALF, False, False),
    (CELL, MapType(INT), True, True),
    (CELL, MapType(SMALL), True, False),
    (CELL, MapType(STRING), False, False),
    (CELL, MapType(INT, INT), False, False),
    (EMPTY, MapType(STRING), True, True),
    (MapType(INT), CELL, False, False),
    (MapType(INT), MapType(DYN), True, True),
    (MapType(INT, INT), MapType(INT), False, False),
]


@pytest.mark.parametrize(
    ("actual", "expected", "fits", "proved"), FITS, ids=[f"{a!r} as {e!r}"[:90] for a, e, *_ in FITS]
)
def test_fit(actual, expected, fits, proved):
    assert assignable(actual, expected) is fits
    assert contains(expected, actual) is proved


JOINS = [
    (INT, INT, INT),
    (SMALLER, IntType(-3, 3), IntType(-3, 5)),
    (INT, DOUBLE, None),
    (INT, DYN, DYN),
    (NOTHING, STRING, STRING),
    (ListType(NOTHING, 0), ListType(INT, 3), ListType(INT, 3)),
    (ListType(INT), ListType(BOOL), None),
    (CELL, SAME_CELL, CELL),
    (CELL, HALF, RecordType("", {"x": INT, "y": INT}, frozenset({"y"}))),
    (CELL, OPTIONAL, OPTIONAL),
    (DERIVED, RecordType("", {"x": SMALL, "y": SMALL}), DERIVED),
    (CELL, RecordType("", {"x": STRING}), None),
    (CELL, MapType(INT), MapType(INT)),
    (CELL, MapType(STRING), None),
    (EMPTY, MapType(STRING), MapType(STRING)),
    (MapType(INT), MapType(INT, INT), None),
    (STRING, NULL, None),
]


@pytest.mark.parametrize(("first", "second", "result"), JOINS, ids=[f"{a!r} | {b!r}"[:90] for a, b, _ in JOINS])
def test_join(first, second, result):
    assert join(first, second) == result
    other = join(second, first)
    assert (other is None) == (result is None)
    if result is not None and other is not None:
        assert assignable(first, result) or result == NOTHING
        assert assignable(other, result)


COMPARABLE = [
    (INT, SMALL, True),
    (INT, DOUBLE, False),
    (INT, DYN, True),
    (STRING, NULL, False),
    (ListType(INT), ListType(NOTHING), True),
    (ListType(INT), ListType(STRING), False),
    (CELL, HALF, True),
    (CELL, RecordType("", {"x": STRING}), False),
    (CELL, MapType(INT), True),
    (CELL, MapType(STRING), False),
    (MapType(INT), MapType(DYN), True),
    (CELL, ListType(INT), False),
]


@pytest.mark.parametrize(("first", "second", "result"), COMPARABLE)
def test_comparable(first, second, result):
    assert comparable(first, second) is result
    assert comparable(second, first) is result


CONFORMS = [
    (1, INT, True), (10, SMALL, False), (True, INT, False), (1.0, INT, False), (2**63, INT, False), (1, DOUBLE, False), (1.0, DOUBLE, True),
    (True, BOOL, True), (0, BOOL, False), ("a", STRING, True), (None, NULL, True), (None, STRING, False), (object(), DYN, False), ([1, "a"], DYN, True),
    ([1, 2], ListType(INT), True), ([1, "a"], ListType(INT), False), ([1, 2], ListType(INT, 1), False), ((1, 2), ListType(INT), False),
    ({"x": 1, "y": 2}, CELL, True), ({"x": 1}, CELL, False), ({"x": 1}, OPTIONAL, True), ({"x": 1, "y": 2, "z": 3}, CELL, False), ([], CELL, False),
    ({"a": 1}, MapType(INT), True), ({1: 1}, MapType(INT), False), ({1: 1}, MapType(INT, INT), True), ({"a": "b"}, MapType(INT), False), ([], MapType(INT), False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "type_", "result"), CONFORMS)
def test_conforms(value, type_, result):
    assert conforms(value, type_) is result


def test_records_are_equal_by_structure():
    assert CELL == SAME_CELL
    assert hash(CELL) == hash(SAME_CELL)
    assert CELL not in (OPTIONAL, DERIVED, HALF, "cell")
    assert (str(CELL), str(RecordType("", {"a": INT}, frozenset({"a"})))) == ("cell", "{a?: int}")
    assert str(ListType(MapType(SMALL))) == "list<map<string, int>>"


@pytest.mark.parametrize(
    ("fields", "optional", "derived"),
    [({"x": INT}, {"y"}, {}), ({"x": INT}, set(), {"x": Defined((), Text.inline("1"))})],
)
def test_a_record_is_consistent(fields, optional, derived):
    with pytest.raises(ValueError, match="record 'r'"):
        RecordType("r", fields, frozenset(optional), derived)


CHOICES = Environment(
    variables={"way": one_of(["east", "west"]), "side": one_of(["left", "right"])},
    functions={
        "step": Defined(("a",), Text.inline("a.w == 'east' ? 1 : (a.w == 'right' ? 2 : 0)")),
        "any": Defined(("texts",), Text.inline("texts.exists(each, each == 'east' || each == 'right')")),
    },
    constants={"FLAT": (ListType(STRING), ["east", "west", "up"])},
)


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("way in FLAT", None),
        ("way in ['east', 'wst']", "wst"),
        ("way == 'eats'", "eats"),
        ("'eats' != way", "eats"),
        ("[way].exists(each, each == 'right')", "right"),
        ("step({'w': way}) + step({'w': side}) > 0", None),
        ("any([way]) && any([side])", None),
    ],
)
def test_a_text_that_is_one_of_a_few_is_compared_with_these(text, never):
    diagnostics = Diagnostics()
    checked = check(Text.inline(text), CHOICES, diagnostics)
    assert (checked is None) == (never is not None)
    assert [never in each.message for each in diagnostics.sorted()] == [True] * (never is not None)
