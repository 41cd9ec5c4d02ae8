"""Claims: their sorts, their exact value, and the two ways of reading them."""

import pytest

from specledger.expr import EvaluationError
from specledger.wings.laws.claim import (
    NEXT,
    NOW,
    START,
    Binary,
    Const,
    Not,
    Observe,
    SortError,
    Time,
    evaluator,
    show,
    sort_of,
    to_json,
)
from specledger.wings.laws.claim_parser import ClaimError, read_claim, read_text
from tests.toys.claims import T1, T, op

X, NEXT_X, FIRST_X = Observe("X", NOW), Observe("X", NEXT), Observe("X", START)


BAD = {
    "no mapping": (5, "E_CLAIM_NODE"),
    "an unknown node": ({"foo": 1}, "E_CLAIM_NODE"),
    "a node with another key": ({"const": 1, "note": "x"}, "E_CLAIM_NODE"),
    "a constant with a point": ({"const": 0.5}, "E_CLAIM_NODE"),
    "a constant beyond 64 bits": ({"const": 2**63}, "E_CLAIM_LIMIT"),
    "an observable without a time": ({"obs": "X"}, "E_CLAIM_NODE"),
    "a time as a value": (T, "E_CLAIM_NODE"),
    "t + 1 as a value": (T1, "E_CLAIM_NODE"),
    "another variable": ({"obs": "X", "t": {"var": "s"}}, "E_CLAIM_NODE"),
    "t_plus_1 that is false": ({"obs": "X", "t": {"t_plus_1": False}}, "E_CLAIM_NODE"),
    "t plus 0": ({"obs": "X", "t": {"t_plus": 0}}, "E_CLAIM_NODE"),
    "t plus a text": ({"obs": "X", "t": {"t_plus": "k"}}, "E_CLAIM_NODE"),
    "t plus 9": ({"obs": "X", "t": {"t_plus": 9}}, "E_CLAIM_LIMIT"),
    "t + 2 as a value": ({"t_plus": 2}, "E_CLAIM_NODE"),
    "a negative step": ({"obs": "X", "t": {"const": -1}}, "E_CLAIM_NODE"),
    "a truth value as a step": ({"obs": "X", "t": {"const": True}}, "E_CLAIM_NODE"),
    "division": (op("/", {"const": 4}, {"const": 2}), "E_CLAIM_DIVISION"),
    "an unknown operator": (op("xor", {"const": 4}, {"const": 2}), "E_CLAIM_OPERATOR"),
    "an operator without a side": ({"op": "+", "lhs": {"const": 1}}, "E_CLAIM_NODE"),
    "not with two sides": (op("not", {"const": True}, {"const": True}), "E_CLAIM_NODE"),
}


@pytest.mark.parametrize(("claim", "code"), BAD.values(), ids=BAD)
def test_what_is_no_claim_is_refused(claim, code):
    with pytest.raises(ClaimError) as refused:
        read_claim(claim)
    assert refused.value.code == code


def test_the_place_of_a_bad_node_is_told():
    with pytest.raises(ClaimError) as refused:
        read_claim(op("==", {"const": 1}, op("+", {"const": 1}, {"foo": 2})))
    assert refused.value.path == ("rhs", "rhs")


def test_division_comes_with_advice():
    with pytest.raises(ClaimError) as refused:
        read_text("X(t) <= L(t) / 2")
    assert (refused.value.code, "multiply out" in (refused.value.hint or "")) == ("E_CLAIM_DIVISION", True)


def test_hostile_claims_are_bounded():
    deep: dict[str, object] = {"const": True}
    for _ in range(3000):
        deep = {"op": "not", "arg": deep}
    for hostile in (
        lambda: read_claim(deep),
        lambda: read_text("not " * 3000 + "true"),
        lambda: read_text("(" * 3000),
        lambda: read_text("1+" * 300 + "1 == 1"),
        lambda: read_text("x" * 9000),
        lambda: read_text("9" * 40 + " == 1"),
        lambda: read_text("X(t+9) == 1"),
    ):
        with pytest.raises(ClaimError) as refused:
            hostile()
        assert refused.value.code == "E_CLAIM_LIMIT"


TEXTS = {
    "X(t+1) == X(t)": Binary("==", NEXT_X, X),
    "X( t + 1 ) == X(0)": Binary("==", NEXT_X, FIRST_X),
    "X(t+8) == X(t)": Binary("==", Observe("X", Time(8)), X),
    "2*X(t) + 1 <= X(7)": Binary(
        "<=", Binary("+", Binary("*", Const(2), X), Const(1)), Observe("X", Time(7, fixed=True))
    ),
    "X(t) - 1 - -1 > 0": Binary(">", Binary("-", Binary("-", X, Const(1)), Const(-1)), Const(0)),
    "true => false => true": Binary("=>", Const(True), Binary("=>", Const(False), Const(True))),
    "not X(t) > 0 and true or false": Binary(
        "or", Binary("and", Not(Binary(">", X, Const(0))), Const(True)), Const(False)
    ),
    "(X(t) > 0) => (X(t+1) > 0)": Binary("=>", Binary(">", X, Const(0)), Binary(">", NEXT_X, Const(0))),
}


@pytest.mark.parametrize(("text", "claim"), TEXTS.items())
def test_a_string_is_compiled_to_the_tree(text, claim):
    assert read_text(text) == claim == read_text(show(claim)) == read_claim(to_json(claim))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "X",
        "X > 3",
        "X(t) >",
        "X(s) > 3",
        "X(t+k) > 3",
        "X(t+0) > 3",
        "X(t) > 3)",
        "X(t) == 1 == 1",
        "and",
        "X(t) & 3",
        "not",
        "X(t > 3",
        "X(t) > 0.5",
    ],
)
def test_a_string_that_leaves_something_open_is_refused(text):
    with pytest.raises(ClaimError) as refused:
        read_text(text)
    assert refused.value.code == "E_CLAIM_TEXT"


@pytest.mark.parametrize(
    "claim", ["X(t) and true", "not X(t)", "true + 1", "(X(t) > 0) > 1", "true < false", "X(t) == true"]
)
def test_operands_of_the_wrong_sort(claim):
    with pytest.raises(SortError):
        sort_of(read_text(claim))


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("X(t) + 2 * X(t+1) - X(0)", 5 + 2 * 6 - 4),
        ("X(t) > 4 => X(t+1) > 6", False),
        ("X(t) > 5 => false", True),
        ("not X(t) == 5 or X(0) != 4", False),
        ("X(t) >= 5 and X(t) <= 5 and X(t) < 6", True),
    ],
)
def test_values(claim, value):
    assert (
        evaluator(read_text(claim))(lambda name, time: {NOW: 5, NEXT: 6, START: 4}[time]) is value
        or evaluator(read_text(claim))(lambda name, time: {NOW: 5, NEXT: 6, START: 4}[time]) == value
    )


@pytest.mark.parametrize(
    "claim", ["X(t) + 1 > 0", "X(t) * X(t) > 0", "0 - X(t) - 2 < 0", "false and X(t) + 1 > 0", "true or X(t) * 2 > 0"]
)
def test_an_integer_beyond_64_bits_is_an_error_wherever_it_stands(claim):
    with pytest.raises(EvaluationError) as error:
        evaluator(read_text(claim))(lambda name, time: 2**63 - 1)
    assert error.value.code == "E_EVAL_OVERFLOW"
