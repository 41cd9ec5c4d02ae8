"""Trees as text for people and for another engine, and as JSON."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import DOUBLE, INT, Defined, Environment, ListType, evaluate, parse
from specledger.expr.unparse import to_cel

WRITTEN = [
    ("1+2*3", "1 + 2 * 3"),
    ("(1+2)*3", "(1 + 2) * 3"),
    ("1-(2-3)", "1 - (2 - 3)"),
    ("a&&b||c&&(d||e)", "a && b || c && (d || e)"),
    ("(a&&b)&&c", "(a && b) && c"),
    ("a?b:c?d:e", "a ? b : c ? d : e"),
    ("(a?b:c)?(d?1:2):e", "(a ? b : c) ? (d ? 1 : 2) : e"),
    ("!a.b", "!a.b"),
    ("(!a).b", "(!a).b"),
    ("-(5)", "-(5)"),
    ("-5", "-5"),
    ("-(-5)", "-(-5)"),
    ("(-5).f()", "(-5).f()"),
    ("--a", "a"),
    ("a[1].b.`c-d`", "a[1].b.`c-d`"),
    ("has( a.b )", "has(a.b)"),
    ("xs.map(x,x>0,x)", "xs.map(x, x > 0, x)"),
    ("{'a':1,b:[2,3]}", '{"a": 1, b: [2, 3]}'),
    ("'é\\n\"\\'\\\\'", '"\\u00e9\\n\\"\'\\\\"'),
    ("'\U0001f600'", '"\\U0001f600"'),
    ("1e3", "1000.0"),
    ("1e300", "1e+300"),
    ("a in b == c", "a in b == c"),
    ("a == (b in c)", "a == (b in c)"),
]


def parsed(text):
    ast = parse(Text.inline(text), Diagnostics())
    assert ast is not None
    return ast


@pytest.mark.parametrize(("text", "written"), WRITTEN, ids=[text for text, _ in WRITTEN])
def test_written(text, written):
    ast = parsed(text)
    assert to_cel(ast) == written
    assert parsed(written) == ast


EXPANDED = [
    ("dist(p, q)", "math.abs(p.x - q.x) + math.abs(p.y - q.y)"),
    ("at(p)", "p.x >= 0 && p.y >= 0 && p.y < size(grid) && p.x < size(grid[0]) ? grid[p.y][p.x] : 1"),
    ("next.danger", "minimum(next.hazards.map(h, math.abs(h.x - next.here.x) + math.abs(h.y - next.here.y)), 99) <= 1"),
    ("twice(1 / i)", "[1 / i].map(v, v + v)[0]"),
    ("WALL in NAMES.map(v, 1)", '1 in ["N", "E"].map(v, 1)'),
    ("HALF", "0.5"),
    ("s.contains('a')", 's.contains("a")'),
    ("deep.er.name", "deep.er.name"),
    ("[next][i].threat", "[[next][i]].map(record, minimum(record.hazards.map(h, math.abs(h.x - record.here.x) + "
                         "math.abs(h.y - record.here.y)), 99))[0]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "written"), EXPANDED, ids=[text for text, _ in EXPANDED])
def test_a_checked_expression_needs_nothing_of_the_spec(checked, text, written):
    assert to_cel(checked(text)) == written


def test_expansion_captures_nothing(checked, environment, values):
    more = environment.extend(
        functions={
            "over": Defined(("h",), Text.inline("ints.map(v, v + h)")),
            "plus": Defined(("v",), Text.inline("over(v)")),
        }
    )
    found = checked("ints.map(v, plus(v * 1)[0])", more)
    written = to_cel(found)
    assert written == "ints.map(v, [v * 1].map(v_2, ints.map(v_3, v_3 + v_2))[0][0])"
    again = checked(written, Environment(variables={"ints": ListType(INT)}))
    assert evaluate(again, values) == evaluate(found, values)


def test_a_constant_that_has_no_literal_is_written_as_a_division(checked):
    odd = {name: (DOUBLE, float(name)) for name in ("inf", "nan")}
    assert to_cel(checked("inf < -nan", Environment(constants=odd))) == "1.0 / 0.0 < -(0.0 / 0.0)"
