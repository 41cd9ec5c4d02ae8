"""Expressions as English: each form by itself, denials, long ones as lists, and nothing raw is ever left over."""

import re

import pytest
from hypothesis import given, settings

from specledger.lang.english import amount, condition, definition, denial, value
from specledger.lang.statement import lines_of
from tests.properties.test_expr_agreement import expressions

RAW = re.compile(r"&&|\|\||[!<>=]=|[()\[\]{}?|]| [+*/%<>] |[A-Za-z_]\.\w+ of |receipts\.filter")
"""What no sentence has outside of names in backticks and texts in quotation marks."""


def leftovers(text):
    """What of the notation of expressions a text still has."""
    return RAW.findall(re.sub(r"`[^`]*`|\"[^\"]*\"", "", text))


def written(statement):
    return "\n".join(lines_of([statement]))


CONDITIONS = {
    "eaten": ("`eaten` is true", "`eaten` is false"),
    "!eaten": ("`eaten` is false", "`eaten` is true"),
    "a == 1": ("`a` is 1", "`a` is not 1"),
    "a < b": ("`a` is less than `b`", "`a` is at least `b`"),
    "a >= -2": ("`a` is at least minus 2", "`a` is less than minus 2"),
    "action.op == 'walk'": ('the action is "walk"', 'the action is not "walk"'),
    "next.at != previous.at": ("the next `at` is not the previous `at`", "the next `at` is the previous `at`"),
    "(t + 1) % N == 0": ("the sum of `t` and 1 is a multiple of `N`", "the sum of `t` and 1 is no multiple of `N`"),
    "t % N == 1": ("`t` modulo `N` is 1", "`t` modulo `N` is not 1"),
    "a in [1, 2]": ("`a` is one of 1 and 2", "`a` is none of 1 and 2"),
    "position in danger": ("`position` is in `danger`", "`position` is not in `danger`"),
    "body.chosen != null": ("`chosen` of the receipt has a value", "`chosen` of the receipt has no value"),
    "has(action.dir)": ("`dir` of the action is present", "`dir` of the action is absent"),
    "open(stride(a, b))": (
        "`open` holds of `stride` of `a` and `b`",
        "`open` does not hold of `stride` of `a` and `b`",
    ),
    "name.startsWith('x')": ('`name` starts with "x"', '`name` does not start with "x"'),
    "(a == 1) == (b == 2)": ("`a` is 1 exactly if `b` is 2", "`a` is 1 exactly unless `b` is 2"),
    "size(xs) > 0": ("there is an entry in `xs`", "there is no entry in `xs`"),
    "size(xs.filter(x, x > 1)) == 0": (
        "there is no `x` of `xs` for which `x` is more than 1",
        "there is a `x` of `xs` for which `x` is more than 1",
    ),
    "xs.all(x, x > 1)": ("for every `x` of `xs`, `x` is more than 1", "for some `x` of `xs`, `x` is at most 1"),
    "xs.exists(x, x > 1)": ("for some `x` of `xs`, `x` is more than 1", "for no `x` of `xs`, `x` is more than 1"),
    "a && b": ("`a` is true and `b` is true", "`a` is false or `b` is false"),
    "a || !b": ("`a` is true or `b` is false", "`a` is false and `b` is true"),
    "a + b - 1 <= c * 2": (
        "`a` plus `b` minus 1 is at most `c` times 2",
        "`a` plus `b` minus 1 is more than `c` times 2",
    ),
}


@pytest.mark.parametrize(
    ("text", "said", "denied"), [(text, *both) for text, both in CONDITIONS.items()], ids=CONDITIONS
)
def test_a_condition_and_its_denial(text, said, denied):
    assert written(condition(text)) == f"{said}."
    assert written(denial(text)) == f"{denied}."


VALUES = {
    "(a + b) * c": "`c` times the sum of `a` and `b`",
    "a - (b - c)": "`a` minus the difference of `b` and `c`",
    "(a + b) / c": "the sum of `a` and `b`, divided by `c`",
    "ok ? 1 : 0": "1 if `ok` is true, otherwise 0",
    "sum(cs.map(c, c.cost))": "the sum of `c.cost` for every `c` of `cs`",
    "size(cs.filter(c, c.ok && c.n > 1))": "the number of `c` of `cs` for which both `c.ok` is true and `c.n` is more than 1",
    "minimum(xs, 0)": "the least of `xs` with 0 for none",
    "math.greatest(a, -b)": "the greatest of `a` and minus `b`",
    "math.greatest(a, math.least(b, c))": "the greatest of first `a`, then the least of `b` and `c`",
    "[]": "an empty list",
    "''": "the empty text",
}


@pytest.mark.parametrize(("text", "said"), VALUES.items(), ids=VALUES)
def test_a_value(text, said):
    assert value(text) == said


def test_what_is_long_is_a_list_in_which_nothing_depends_on_precedence():
    assert written(condition("a && (b || c && d) && e")).splitlines() == [
        "all of these hold:",
        "  - `a` is true.",
        "  - at least one of these holds:",
        "    - `b` is true.",
        "    - `c` is true and `d` is true.",
        "  - `e` is true.",
    ]
    assert written(amount("(breach ? -9 : 0) + worth + 2 * near")).splitlines() == [
        "the sum of these:",
        "  - minus 9 if `breach` is true, otherwise 0.",
        "  - `worth`.",
        "  - 2 times `near`.",
    ]
    assert written(amount("a == 1 ? 10 : a == 2 ? 20 : 0")).splitlines() == [
        "the first of these that applies:",
        "  - if `a` is 1: 10.",
        "  - if `a` is 2: 20.",
        "  - otherwise: 0.",
    ]


def test_a_name_stands_for_a_condition_or_a_value():
    assert definition("poor", "b < least").text == "`poor` means that `b` is less than `least`"
    assert definition("rate", "poor ? 0 : 1").text == "`rate` is 0 if `poor` is true, otherwise 1"


@pytest.mark.parametrize(
    "raw", ["a && b", "x || y", "if (a", "xs[0]", "a == 1", "a <= 1", "a ? 1 : 0", "2 * 3", "receipts.filter", "{a}"]
)
def test_what_is_left_over_is_noticed(raw):
    assert leftovers(f"Rejects a proposal if {raw}.")


@pytest.mark.medium
@given(expressions())
@settings(deadline=None, max_examples=300)
def test_whatever_an_expression_is_nothing_raw_is_left_of_it(text):
    for statement in (condition(text), denial(text), amount(text)):
        assert not leftovers(written(statement)), text
    assert not leftovers(value(text)), text
