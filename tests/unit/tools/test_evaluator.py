"""The evaluator of the one-file verifier agrees with the engine's exact one: on values, and on codes, texts and places.

The expressions are those that the engine's own evaluations are compared on. What takes more than the one file knows
(a function of a list of unknown elements) it may leave open; it never says anything else than the engine.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings

from specledger.expr import Defined, EvaluationError, evaluate
from tests.properties.test_expr_agreement import BINDINGS, ENVIRONMENT, RECORD, checked_of, expressions, same
from tools.verifier import cel
from tools.verifier.basis import Open, Refuted
from tools.verifier.syntax import parse
from tools.verifier.values import BUDGET, Failed

DOCS = Path(__file__).resolve().parents[3] / "docs"
DERIVED = {name: parse(one.body.value) for name, one in RECORD.derived.items()}


def halved(value):
    if value % 2:
        raise Failed("E_EVAL_ARGUMENT")
    return value // 2


FUNCTIONS: dict[str, Any] = {
    name: (one.params, parse(one.body.value)) for name, one in ENVIRONMENT.functions.items() if isinstance(one, Defined)
}
FUNCTIONS |= {"halved": halved, "first_of": lambda values, other: values[0] if values else other}


def by_engine(checked, values):
    try:
        return "value", evaluate(checked, values)
    except EvaluationError as error:
        return "error", (error.code, None if error.text is None else error.text.value, error.offset)


def by_one_file(text, values):
    constants = {name: value for name, (_, value) in ENVIRONMENT.constants.items()}
    names = {**constants, **values}
    names["rec"] = cel.View(values["rec"], DERIVED, constants, FUNCTIONS)
    try:
        return "value", cel.evaluate(parse(text), names, FUNCTIONS)
    except Failed as failed:
        return "error", (failed.code, failed.text, failed.offset)


@settings(max_examples=150)
@given(expressions(), BINDINGS)
def test_it_agrees_with_the_engine(text, values):
    checked = checked_of(text)
    if checked is None:
        return
    BUDGET.begin()
    wanted = by_engine(checked, values)
    try:
        found = by_one_file(text, values)
    except Open:
        event("left open")
        return
    event(wanted[0])
    assert found[0] == wanted[0], (text, found, wanted)
    if wanted[0] == "error" and wanted[1][0] != "E_EVAL_TYPE":
        assert found[1] == wanted[1]
    elif wanted[0] == "value":
        assert same(plainly(found[1]), wanted[1])


def plainly(value):
    if isinstance(value, dict):
        return {key: plainly(one) for key, one in value.items()}
    return [plainly(one) for one in value] if isinstance(value, list) else value


EXAMPLES = [
    found[1]
    for page in ("authoring", "variables")
    for line in (DOCS / f"{page}.md").read_text(encoding="utf-8").split("\n")
    if line.startswith("| `")
    for found in re.finditer(r"`([^`]*(?:[\])\w'] == |math\.isInf\(1)[^`]*)`", line)
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_manual_is_true(text):
    assert cel.evaluate(parse(text), {}) is True


def test_the_manual_has_examples():
    assert len(EXAMPLES) > 40


@pytest.mark.parametrize(
    "text",
    [
        "1 +", "a.b.", "[1,, 2]", "f(1,)", "'open", "'\\q'", "1u", "b'x'", "x ? y ? 1 : 2 : 3", "if", "a = b", "{'a' 1}", "has(x)",
        "l.all(1, true)", "l.map(x)", "9223372036854775808", "1e999", "'\\ud800'", "m{a: 1}", "(" * 40 + "1" + ")" * 40,
        "-" * 3 + "(" * 33 + "1", " + ".join(["1"] * 40), "a" * 9000, "[" + ",".join(["1"] * 300) + "]", "", "l.all(a, l.all(b, l.all(c,"
        " l.all(d, l.all(e, l.all(f, l.all(g, true)))))))",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(Refuted, match="no expression"):
        parse(text)


def test_work_is_bounded():
    BUDGET.begin()
    BUDGET.left = 1000
    try:
        with pytest.raises(Open, match="more work"):
            cel.evaluate(parse("range(900).all(x, range(900).all(y, true))"), {})
    finally:
        BUDGET.begin()


def test_functions_that_call_themselves_are_left_open():
    functions = {"f": (("n",), parse("f(n + 1)"))}
    with pytest.raises(Open, match="too deep"):
        cel.evaluate(parse("f(1)"), {}, functions)
