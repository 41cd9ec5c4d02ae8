"""Names: what can be declared, what it means, and what an expression reads."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import DYN, INT, STRING, Defined, Environment, IntType, ListType, RecordType, check, evaluate
from specledger.expr.limits import MAX_LIST


def define(params, body):
    return Defined(tuple(params), Text.inline(body))


WRONG = [
    ({"variables": {"a-b": INT}}, "not a name"),
    ({"variables": {"for": INT}}, "not a name"),
    ({"variables": {"a.in": INT}}, "not a name"),
    ({"constants": {"": (INT, 1)}}, "not a name"),
    ({"variables": {"a": INT}, "constants": {"a": (INT, 1)}}, "with two meanings: a"),
    ({"variables": {"a": INT}, "derived": {"a": define("", "1")}}, "with two meanings: a"),
    ({"functions": {"size": define("x", "x")}}, "standard functions cannot be replaced: size"),
    ({"functions": {"f": define("xx", "x")}}, "not different names"),
    ({"functions": {"f": define(["x.y"], "1")}}, "not different names"),
    ({"derived": {"d": define("x", "x")}}, "no parameters"),
]


@pytest.mark.parametrize(("names", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_declaration_is_the_callers_mistake(names, message):
    with pytest.raises(ValueError, match=message):
        Environment(**names)
    with pytest.raises(ValueError, match=message):
        Environment().extend(**names)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fresh", None),
        ("i", "is already a variable"),
        ("WALL", "is already a constant"),
        ("threat", "is already a derived value"),
        ("dist", "is already a function"),
        ("size", None),
        ("for", "is a reserved word of CEL"),
        ("a b", "is not a name: letters, digits and _, not beginning with a digit"),
        ("ünï", "is not a name: letters, digits and _, not beginning with a digit"),
        ("x\n", "is not a name: letters, digits and _, not beginning with a digit"),
    ],
)
def test_a_conflict_is_said_before(environment, name, reason):
    assert environment.conflict(name) == reason


def test_what_is_called_cannot_have_the_name_of_a_standard_function(environment):
    assert environment.conflict("size", called=True) == "is already a standard function"
    assert environment.conflict("fresh", called=True) is None


def test_a_macro_variable_hides_others_and_a_function_does_not_see_it(checked, values):
    assert evaluate(checked("ints.map(i, i)"), values) == [3, 1, 2]
    assert evaluate(checked("ints.map(grid, at(p))"), values) == [6, 6, 6]
    assert evaluate(checked("ints.map(here, threat)"), values) == [2, 2, 2]


def test_a_parameter_hides_a_variable(checked, environment, values):
    shadow = environment.extend(functions={"own": define(["grid"], "grid + at(p)")})
    assert evaluate(checked("own(100)", shadow), values) == 106


def test_a_qualified_function_and_variable(checked, environment, values):
    more = environment.extend(functions={"geo.twice": define("v", "v * 2")}, variables={"math": INT})
    assert evaluate(checked("geo.twice(deep.er.name) + math.abs(-math)", more), {**values, "math": 5}) == 29


def test_the_longest_qualified_name_wins(checked, environment):
    more = environment.extend(variables={"a.b": RecordType("r", {"c": INT}), "a.b.c": STRING})
    assert checked("a.b.c", more).type == STRING
    assert checked("ints.map(a, a)[0]", more).type == INT


READS = {
    "i + size(strings)": {"i", "strings"},
    "p.x + p.y": {"p.x", "p.y"},
    "p == q": {"p", "q"},
    "at(p)": {"p.x", "p.y", "grid"},
    "dist(next.here, p)": {"next.here.x", "next.here.y", "p.x", "p.y"},
    "next.threat": {"next.hazards", "next.here.x", "next.here.y"},
    "next.danger ? 1 : next.energy": {"next.hazards", "next.here.x", "next.here.y", "next.energy"},
    "hazards[i].x": {"hazards", "i"},
    "hazards.exists(h, h.x == here.x)": {"hazards", "here.x"},
    "threat": {"hazards", "here.x", "here.y"},
    "twice(dist(p, here))": {"p.x", "p.y", "here.x", "here.y"},
    "has(maybe.o) ? maybe.a : WALL": {"maybe.a", "maybe.o"},
    "deep.er.name": {"deep.er.name"},
    "ints.map(v, twice(v))": {"ints"},
    "[next][0].threat": {"next"},
    "1 + WALL": set(),
}


@pytest.mark.parametrize(("text", "paths"), READS.items(), ids=READS)
def test_reads(checked, text, paths):
    found = checked(text)
    assert {".".join(path) for path in found.reads} == paths
    assert {path[0] for path in found.reads} == found.variables


TYPES = {
    "n + 1": IntType(1, 10),
    "n - n": IntType(-9, 9),
    "n * -2": IntType(-18, 0),
    "n / 2": IntType(0, 4),
    "i % 5": IntType(-4, 4),
    "n % 4": IntType(0, 3),
    "size(hazards)": IntType(0, 8),
    "math.abs(n - 5)": IntType(0, 5),
    "math.greatest(0, n - 5)": IntType(0, 4),
    "math.least(n, 3)": IntType(0, 3),
    "b ? 1 : n": IntType(0, 9),
    "i >= 0 && i < 9 ? i : 3": IntType(0, 8),
    "i < 0 || i > 9 ? 3 : i": IntType(0, 9),
    "!(i < 2) && 7 >= i ? i : 2": IntType(2, 7),
    "ready() ? n : 5": IntType(4, 9),
    "next.strong ? next.energy : 95": IntType(91, 100),
    "!next.strong ? next.energy : 5": IntType(0, 90),
    "inside(p) ? p.x : 0": IntType(0, MAX_LIST - 1),
    "range(n)": ListType(IntType(0, 8), 9),
    "hazards.filter(h, h.x > 0)": "list<hazard>",
    "hazards.map(h, size(h.id) > 2 ? 1 : 0)": ListType(IntType(0, 1), 8),
    "hazards + hazards": "list<hazard>",
    "closure([n], v, [v], 3).map(found, found.distance)": ListType(IntType(0, 3), 4),
    "sum(hazards.map(h, n))": IntType(0, 72),
    "argmin(range(n))": IntType(-1, 8),
    "isqrt(n)": IntType(0, 3),
    "WALL": IntType(1, 1),
    "d": DYN,
    "d + 1": INT,
    "[]": "list<nothing>",
    "{'a': 1, 'b': 's'}": "{a: int, b: string}",
}


@pytest.mark.parametrize(("text", "type_"), TYPES.items(), ids=TYPES)
def test_proved_types(checked, text, type_):
    found = checked(text).type
    assert (str(found) if isinstance(type_, str) else found) == type_


def test_a_function_is_checked_for_each_type_it_is_given(checked, findings, values):
    assert evaluate(checked("twice(s) + string(twice(i)) + string(size(twice(ints)))"), values) == "héllohéllo146"
    assert [found.code for found in findings("twice(b)")] == ["E_EXPR_TYPE"]


def test_a_function_reads_what_is_visible_where_it_is_called(checked):
    names = {"cell": define("p", "grid[p.y][p.x]")}
    state = RecordType("state", {"grid": ListType(ListType(INT)), "here": RecordType("", {"x": INT, "y": INT})},
                       derived={"ground": define("", "cell(here)")})  # fmt: skip
    environment = Environment(variables={"next": state, "p": state.fields["here"]}, functions=names)
    diagnostics = Diagnostics()
    here, there = {"x": 0, "y": 0}, {"grid": [[7]], "here": {"x": 0, "y": 0}}
    assert evaluate(checked("next.ground", environment), {"next": there, "p": here}) == 7
    assert check(Text.inline("cell(p)"), environment, diagnostics) is None
    assert [found.code for found in diagnostics.sorted()] == ["E_EXPR_CAPTURE"]
    seen = environment.extend(variables={"grid": ListType(ListType(INT))})
    values = {"next": there, "p": here, "grid": [[9]]}
    assert evaluate(checked("cell(p) - next.ground", seen), values) == 2
