"""Lists of decimals have the sort of the numbers that they meet; both evaluators agree; a hint can be written as it is."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Environment, IntType, ListType, RecordType, compile_expression
from specledger.expr.check.checker import check
from specledger.expr.check.types import DOUBLE, FIXED, Defined
from specledger.expr.eval.evaluator import evaluate
from specledger.lang.declare import read_constant

VALUES = {"level": 1_500_000, "tenths": 3, "d": 0.5, "i": 1, "tank": {"level": 5}}
TYPES = {
    "level": FIXED,
    "tenths": INT,
    "d": DOUBLE,
    "i": IntType(0, 2),
    "tank": RecordType("", {"level": FIXED}),
}
CONSTANTS = {"DOSES": read_constant([0.0, 0.25, 1.25])}
NAMES = Environment(variables=TYPES, constants=CONSTANTS)
RIGHT = {
    "level + DOSES[i]": 1_750_000,
    "DOSES.exists(x, x == level - 0.25)": True,
    "DOSES.map(x, level + x)": [1_500_000, 1_750_000, 2_750_000],
    "DOSES.map(x, x < level, x + level)": [1_500_000, 1_750_000, 2_750_000],
    "DOSES.map(x, DOSES.map(y, y + level)[1] + x)": [1_750_000, 2_000_000, 3_000_000],
    "level in DOSES": False,
    "DOSES.reduce(a, x, level, a + x)": 3_000_000,
    "[0.5, 1.5].filter(x, x < level)": [500_000],
    "d + DOSES[1]": 0.75,
    "DOSES.map(x, d + x)": [0.5, 0.75, 1.75],
    "level + tenths * qfixed(0.1)": 1_800_000,
}


def values_of(text, expect=None, names=NAMES):
    checked = check(Text.inline(text), names, found := Diagnostics(), expect)
    assert checked is not None, found.sorted()
    read = sorted(checked.variables)
    return evaluate(checked, VALUES), compile_expression(checked, read)(*[VALUES[name] for name in read])


@pytest.mark.parametrize(("text", "value"), RIGHT.items(), ids=RIGHT)
def test_a_list_of_decimals_is_typed_by_what_it_meets(text, value):
    assert values_of(text) == (value, value)


def test_a_list_is_typed_by_its_place():
    assert values_of("DOSES", ListType(FIXED)) == ([0, 250_000, 1_250_000],) * 2
    assert values_of("DOSES[2]", FIXED) == (1_250_000,) * 2


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("level + tenths * 0.1", "tenths * qfixed(0.1)"),
        ("tenths * 0.1 + level", "tenths * qfixed(0.1)"),
        ("tank.level - 0.1 * tenths", "qfixed(0.1) * tenths"),
        ("level + (tenths + 0.5)", "qfixed(tenths) + 0.5"),
        ("tenths * 0.1 + d", "double(tenths)"),
    ],
)
def test_the_hint_about_an_int_beside_a_decimal_works(text, hint):
    assert check(Text.inline(text), NAMES, found := Diagnostics()) is None
    assert [one.hint for one in found.sorted()] == [f"write `{hint}`"]
    wrong = hint.replace("qfixed(0.1)", "0.1").replace("qfixed(tenths)", "tenths").replace("double(tenths)", "tenths")
    values_of(text.replace(wrong, hint))


def test_what_is_wrong_in_a_body_is_reported_once():
    assert check(Text.inline("DOSES.map(x, level + x + nope)"), NAMES, found := Diagnostics()) is None
    assert [one.message for one in found.sorted()] == ["unknown name `nope`"]


FUNCTIONS = {
    "plus": "a + b",
    "twice": "plus(a, a)",
    "above": "a > b",
    "dose": "DOSES[n]",
    "greatest_of": "list[2]",
    "any_above": "list.exists(x, x > least)",
    "scaled": "level * n + by",
    "deep": "plus(plus(a, 0.5), plus(0.25, b))",
}
PARAMS = {
    "plus": "a b",
    "twice": "a",
    "above": "a b",
    "dose": "n",
    "greatest_of": "list",
    "any_above": "list least",
    "scaled": "n by",
    "deep": "a b",
}
CALLED = Environment(
    variables=TYPES,
    constants=CONSTANTS,
    functions={name: Defined(tuple(PARAMS[name].split()), Text.inline(body)) for name, body in FUNCTIONS.items()},
)
THROUGH = {
    "plus(level, 0.25)": 1_750_000,
    "plus(0.25, level)": 1_750_000,
    "plus(d, 0.25)": 0.75,
    "plus(0.5, 0.25)": 0.75,
    "plus(i, 2)": 3,
    "above(level, 9.5)": False,
    "above(level, 0)": True,
    "above(d, 0.25)": True,
    "any_above([0.5, 1.75], level)": True,
    "any_above(DOSES, 1.0)": True,
    "any_above(DOSES, level)": False,
    "level + dose(2)": 2_750_000,
    "d + dose(2)": 1.75,
    "scaled(2, 0.5)": 3_500_000,
    "scaled(0, 0.5)": 500_000,
    "deep(level, 1.0)": 3_250_000,
    "deep(d, 1.0)": 2.25,
}
TO_FIXED = {
    "twice(0.25)": 500_000,
    "greatest_of(DOSES)": 1_250_000,
    "deep(0.25, 0.5)": 1_500_000,
    "plus(0, 0.5)": 500_000,
}


@pytest.mark.parametrize(("text", "value"), THROUGH.items(), ids=THROUGH)
def test_a_decimal_through_a_parameter_is_typed_by_what_it_meets(text, value):
    assert values_of(text, names=CALLED) == (value, value)


@pytest.mark.parametrize(("text", "value"), TO_FIXED.items(), ids=TO_FIXED)
def test_a_decimal_through_a_parameter_is_typed_by_its_place(text, value):
    assert values_of(text, FIXED, names=CALLED) == (value, value)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("plus(level, 0.1234567)", "E_EXPR_NO_PROMOTION", "`+` mixes qfixed and double"),
        ("plus(level, 1)", "E_EXPR_NO_PROMOTION", "`+` mixes qfixed and int"),
        ("plus(level, d)", "E_EXPR_NO_PROMOTION", "`+` mixes qfixed and double"),
        ("plus(level, 'x')", "E_EXPR_TYPE", "string"),
    ],
)
def test_what_fits_in_no_way_is_reported_once_in_the_body(text, code, message):
    found = Diagnostics()
    assert check(Text.inline(text), CALLED, found) is None
    (finding,) = found.sorted()
    assert finding.code == code
    assert message in finding.message
    assert finding.related


@pytest.mark.medium
def test_a_mistake_at_the_end_of_a_long_chain_of_calls_is_found():
    """Each call may be typed in several ways, and a chain of them must not multiply these."""
    functions = {f"f{n}": Defined(("a", "b"), Text.inline(f"b == b && f{n + 1}(a, 0.5)")) for n in range(40)}
    functions["f40"] = Defined(("a", "b"), Text.inline("a + b > 'x'"))
    names = Environment(variables=TYPES, constants=CONSTANTS, functions=functions)
    found = Diagnostics()
    assert check(Text.inline("f0(level, 0.5)"), names, found) is None
    codes = {finding.code for finding in found.sorted()}
    assert codes <= {"E_EXPR_TYPE", "E_EXPR_NO_PROMOTION"}
    assert codes
