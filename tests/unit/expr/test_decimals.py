"""Lists of decimals have the sort of the numbers that they meet; both evaluators agree; a hint can be written as it is."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Environment, IntType, ListType, RecordType, compile_expression
from specledger.expr.check.checker import check
from specledger.expr.check.types import DOUBLE, FIXED
from specledger.expr.eval.evaluator import evaluate
from specledger.lang.declare import read_constant

VALUES = {"level": 1_500_000, "tenths": 3, "d": 0.5, "i": 1, "tank": {"level": 5}}
NAMES = Environment(
    variables={
        "level": FIXED,
        "tenths": INT,
        "d": DOUBLE,
        "i": IntType(0, 2),
        "tank": RecordType("", {"level": FIXED}),
    },
    constants={"DOSES": read_constant([0.0, 0.25, 1.25])},
)
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


def values_of(text, expect=None):
    checked = check(Text.inline(text), NAMES, found := Diagnostics(), expect)
    assert checked is not None, found.sorted()
    names = sorted(checked.variables)
    return evaluate(checked, VALUES), compile_expression(checked, names)(*[VALUES[name] for name in names])


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
