"""Fixed point: a type of its own, which mixes with no other number."""

from decimal import ROUND_DOWN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    INT,
    Defined,
    Environment,
    EvaluationError,
    ListType,
    RecordType,
    check,
    compile_expression,
    evaluate,
)

VARIABLES = {"q": FIXED, "r": FIXED, "n": INT, "x": DOUBLE, "d": DYN, "qs": ListType(FIXED)}
CONSTANTS = {"LOW": (INT, 19), "HIGH": (DOUBLE, 22.5), "STEPS": (ListType(DOUBLE, 2), [0.5, 1.0]), "NONE": (INT, 0)}
FUNCTIONS = {
    "top": Defined(("list",), Text.inline("list.reduce(m, v, 0.0, v > m ? v : m)")),
    "best": Defined(("list",), Text.inline("list.reduce(m, v, qfixed(0.0), v > m ? v : m)")),
}
ENVIRONMENT = Environment(VARIABLES, FUNCTIONS, CONSTANTS)


def checked(text, expect=None):
    diagnostics = Diagnostics()
    return check(Text.inline(text), ENVIRONMENT, diagnostics, expect), diagnostics.sorted()


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("q + r - q % r", FIXED), ("q * n", FIXED), ("n * q", FIXED), ("q / n", FIXED), ("q / r", INT), ("-q", FIXED),
        ("q < r && q == r && q >= 0 && 0.5 > q && q in qs", BOOL), ("qfixed(n)", FIXED), ("qfixed(0.1)", FIXED),
        ("millionths(q)", INT), ("n > 0 ? q : 0.5", FIXED), ("n > 0 ? 0 : q", FIXED), ("[0.5, q, 0]", ListType(FIXED)),
        ("math.greatest(q, 0.5)", FIXED), ("math.abs(q)", FIXED), ("sum(qs)", FIXED), ("minimum(qs, 0.0)", FIXED),
        ("argmin(qs)", INT), ("qs.reduce(a, v, q, a + v)", FIXED), ("q < HIGH && q in STEPS", BOOL),
        ("q * 1 / 2", FIXED), ("q + best(STEPS)", FIXED), ("q > STEPS[n] && q > best(STEPS) + 0.5", BOOL),
    ],
)  # fmt: skip
def test_what_is_made_of_fixed_point(text, type_):
    found, findings = checked(text)
    assert found is not None, findings
    assert str(found.type) == str(type_)


@pytest.mark.parametrize(
    ("text", "part", "message", "hint"),
    [
        ("q < 19", "q < 19", "`<` mixes qfixed and int", "write `19.0`; if millionths are meant"),
        ("q < LOW", "q < LOW", "`<` mixes qfixed and int", "write `19.0`, and `LOW: 19.0` where it is defined"),
        ("q < NONE", "q < NONE", "`<` mixes qfixed and int", "`NONE: 0.0` where it is defined"),
        ("q + n", "q + n", "`+` mixes qfixed and int", "write `qfixed(n)`, or `millionths(...)`"),
        ("q == x", "q == x", "`==` mixes qfixed and double", "use fixed point for both"),
        ("q + 0.1234567", "q + 0.1234567", "`+` mixes qfixed and double", "at most six decimals"),
        ("q * r", "q * r", "`*`", "write `millionths(q) * millionths(r)`"),
        ("q * 0.5", "q * 0.5", "`*` mixes qfixed and double", "integers alone: write `* 1 / 2`"),
        ("2.0 * q", "2.0 * q", "`*` mixes double and qfixed", "integers alone: write `* 2`"),
        ("q * 1.75", "q * 1.75", "`*` mixes qfixed and double", "integers alone: write `* 7 / 4`"),
        ("q + top(STEPS)", "q + top(STEPS)", "`+` mixes qfixed and double", "decimals in `top` as `qfixed(0.5)`"),
        ("q + qfixed(q)", "q", "`qfixed` cannot take (qfixed)", "write `q`, which is fixed point"),
        ("n / q", "n / q", "`/` mixes int and qfixed", "write `qfixed(n)`"),
        ("n > 0 ? q : n", None, "different types: qfixed and int", "write `qfixed(n)`"),
        ("[q, n]", "n", "a list of qfixed and int", "write `qfixed(n)`"),
        ("n in qs", None, "`in` mixes int and qfixed", "write `qfixed(n)`"),
        ("math.greatest(q, n)", None, "cannot take (qfixed, int)", None),
        ("string(q)", None, "cannot take (qfixed)", None),
        ("isqrt(q)", None, "cannot take (qfixed)", None),
        ("millionths(n)", None, "cannot take (int)", None),
        ("[1, 2][q]", "q", "indexed by an int, not by qfixed", None),
    ],
)
def test_fixed_point_mixes_with_nothing(text, part, message, hint):
    found, (finding,) = checked(text)
    assert found is None
    assert message in finding.message
    assert hint is None or hint in finding.hint
    if part is not None:
        assert text[finding.span.start.column - 1 : finding.span.end.column - 1] == part


def test_decimals_fit_a_fixed_point_place_and_ints_do_not():
    record = RecordType("r", {"at": FIXED, "n": INT})
    for text, expect, value in [
        ("0.5", FIXED, 500_000),
        ("-0.000001", FIXED, -1),
        ("0", FIXED, 0),
        ("HIGH", FIXED, 22_500_000),
        ("n > 0 ? 0.5 : 1.5", FIXED, 500_000),
        ("[0.5, 1.0]", ListType(FIXED), [500_000, 1_000_000]),
        ("STEPS", ListType(FIXED), [500_000, 1_000_000]),
        ("{'at': 2.5, 'n': 1}", record, {"at": 2_500_000, "n": 1}),
    ]:
        found, findings = checked(text, expect)
        assert found is not None, findings
        assert evaluate(found, {"n": 1, "q": 0}) == value
    for text, expect, hint in [
        ("19", FIXED, "write `19.0`"),
        ("n", FIXED, "write `qfixed(n)`"),
        ("q", INT, "write `millionths(q)`"),
        ("x", FIXED, "use fixed point"),
    ]:
        found, (finding,) = checked(text, expect)
        assert found is None
        assert hint in finding.hint


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(-1000, 1000).filter(bool))
def test_arithmetic_is_that_of_decimals(q, r, n):
    """A second way to compute it: decimals, cut off after six places."""
    one = Decimal(1_000_000)
    values = {"q": q, "r": r, "n": n}

    def value(text):
        return evaluate(checked(text)[0], values)

    cut = (Decimal(q) / one / n).quantize(Decimal("0.000001"), ROUND_DOWN)
    assert value("q + r * n") / one == Decimal(q) / one + Decimal(r) / one * n
    assert value("q / n") == int(cut * one)
    assert r == 0 or value("q / r") == int(Decimal(q) / Decimal(r))
    assert value("qfixed(n) / n") == 1_000_000
    assert value("millionths(qfixed(n))") == n * 1_000_000


def test_a_list_of_fixed_point_has_the_range_of_all_its_items():
    text = "sum([q / 9223372036854775807, 9000000.0])"
    found, _ = checked(text)
    assert found.type.high >= 9_000_000_000_000
    product, _ = checked(f"{text} * 9000000")
    with pytest.raises(EvaluationError, match="E_EVAL_OVERFLOW"):
        compile_expression(product, ["q"])(0)
