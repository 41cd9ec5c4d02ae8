"""Whatever a spec says ends in a finding or an evaluation error, quickly."""

import inspect
import sys
import unicodedata

import pytest

from specledger.core.diagnostics import Diagnostics, render
from specledger.core.spans import Text
from specledger.expr import (
    INT,
    STRING,
    Defined,
    Environment,
    EvaluationError,
    ListType,
    check,
    compile_expression,
    evaluate,
)

ENVIRONMENT = Environment(variables={"xs": ListType(INT), "i": INT, "s": STRING})

TEXTS = {
    "100,000 brackets": "(" * 100_000,
    "brackets within the length": "(" * 8000,
    "closed brackets": "[" * 4000 + "]" * 4000,
    "braces": "{" * 8000,
    "calls": "f(" * 4000,
    "conditions": "true ? " * 1000 + "1",
    "else branches": "true ? 1 : " * 700 + "1",
    "a sum": "1 + " * 2000 + "1",
    "a conjunction": "true && " * 1000 + "true",
    "selections": "i" + ".a" * 4000,
    "indices": "xs" + "[0]" * 2700,
    "method calls": "s" + ".size()" * 1100,
    "macros": "xs.map(x, " * 800 + "x" + ")" * 800,
    "a huge integer": "9" * 8000,
    "a huge hexadecimal": "0x" + "f" * 8000,
    "a huge double": "9" * 8000 + ".0",
    "quotes": '"' * 8001,
    "an open string": "'" + "a" * 8000,
    "backslashes": "'" + "\\" * 8001,
    "escapes": "'" + "\\u12" * 2000 + "'",
    "a raw open string": "r'''" + "\\'" * 4000,
    "a comment": "//" + "x" * 8000,
    "spaces": " " * 8000,
    "nothing": "",
    "NUL": "\x00",
    "a lone surrogate": "'\ud800'",
    "a surrogate outside a string": "\udfff",
    "an emoji": "😀",
    "an emoji in a name": "a😀b",
    "right-to-left": "\u202e1 + 1",
    "a long name": "a" * 8000,
    "a long unknown field": "xs." + "a" * 8000,
    "a long unknown function": "a" * 8000 + "()",
    "a wide list": "[" + "1, " * 2600 + "1]",
    "a wide map": "{" + "1: 1, " * 1300 + "1: 1}",
    "items of a call": "math.greatest(" + "1, " * 2600 + "1)",
    "a non-breaking space": "1\u00a0+ 1",
    "a line separator": "1 +\u20281",
    "a closed parser": ")" * 8000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_a_finding(text):
    diagnostics = Diagnostics()
    assert check(Text.inline(text), ENVIRONMENT, diagnostics) is None
    for found in diagnostics.sorted():
        assert found.code.startswith("E_EXPR_")
        shown = render(found, lambda _: text)
        assert len(shown) < 3000
        assert not {unicodedata.category(character) for character in shown if character != "\n"} & {"Cc", "Cf", "Cs"}


@pytest.mark.medium
def test_the_checker_needs_little_stack(checked):
    """An engine that is itself deep in calls can still check and evaluate the largest expressions."""
    deepest = ["(i + " * 31 + "i" + ")" * 31, "xs.map(a, " * 6 + "i" + ")" * 6, "!(" * 32 + "i == 1" + ")" * 32]
    frames = len(inspect.stack())
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 700)
    try:
        for text in deepest:
            found = checked(text, ENVIRONMENT)
            compile_expression(found, sorted(found.variables))
            evaluate(found, {"i": 1, "xs": [1]})
    finally:
        sys.setrecursionlimit(before)


def chain(bodies, count=40):
    """Functions f0, f1 ..., each made of the next one, the last the identity."""
    functions = {f"f{number}": Defined(("x",), Text.inline(bodies(f"f{number + 1}"))) for number in range(count)}
    return ENVIRONMENT.extend(functions={**functions, f"f{count}": Defined(("x",), Text.inline("x"))})


BOMBS = {
    "doubling calls": lambda f: f"{f}(x) + {f}(x)",
    "calls with different ranges": lambda f: f"{f}(x) + {f}(x + 1)",
    "thirty calls each": lambda f: "[" + ", ".join(f"{f}(x + {n})" for n in range(30)) + "][0]",
    "growing types": lambda f: f"[{f}([x])] == [] ? 1 : 2",
    "nested macros": lambda f: f"xs.map(y, {f}(x))",
    "deep calls": lambda f: f"{f}((((x))))",
}


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param(bodies, id=name, marks=[pytest.mark.slow] * (name == "nested macros"))
        for name, bodies in BOMBS.items()
    ],
)
def test_functions_that_multiply_are_bounded(bodies):
    environment, diagnostics = chain(bodies), Diagnostics()
    found = check(Text.inline("f0(i)"), environment, diagnostics)
    if found is None:
        assert [each.code for each in diagnostics.sorted()] == ["E_EXPR_LIMIT"]
        return
    values = {"i": 1, "xs": [1, 2, 3]}
    outcomes = set()
    run = compile_expression(found, ["i", "xs"])
    for evaluation in (lambda: evaluate(found, values), lambda: run(1, [1, 2, 3])):
        try:
            outcomes.add(repr(evaluation()))
        except EvaluationError as error:
            outcomes.add(error.code)
    assert len(outcomes) == 1


@pytest.mark.parametrize(("name", "value"), [("s", "ab"), ("xs", [1])])
def test_strings_and_lists_that_double_are_bounded(checked, name, value):
    found = checked(f"f0({name})", chain(lambda f: f"{f}(x + x)", 30))
    with pytest.raises(EvaluationError, match="E_EVAL_LIMIT"):
        evaluate(found, {name: value})
    with pytest.raises(EvaluationError, match="E_EVAL_LIMIT"):
        compile_expression(found, [name])(value)


@pytest.mark.medium
def test_mistakes_in_functions_that_multiply_are_bounded(findings):
    environment = chain(lambda f: "[" + ", ".join(f"{f}(x + {n})" for n in range(30)) + "][0]", 9)
    wrong = environment.extend(functions={"f9": Defined(("x",), Text.inline("x + nowhere"))})
    assert {found.code for found in findings("f0(i)", wrong)} == {"E_EXPR_LIMIT", "E_EXPR_CAPTURE"}


def test_a_high_expression_over_high_functions_is_bounded(findings):
    environment = chain(lambda f: "-(" * 10 + f"{f}(x)" + ")" * 10, 8)
    (found,) = findings("-(" * 30 + "f0(i)" + ")" * 30, environment)
    assert found.code == "E_EXPR_LIMIT"
