"""Sentences, and the lines that they are printed on."""

import pytest

from specledger.lang.statement import Statement, lines_of, listed

INNER = Statement("either", (Statement("a is 1"), Statement("b is 2.")))


def test_parts_stand_below_their_sentence():
    whole = Statement("all of these hold", (Statement("x is 0"), INNER))
    assert list(lines_of([whole, Statement("done.")])) == [
        "all of these hold:",
        "  - x is 0.",
        "  - either:",
        "    - a is 1.",
        "    - b is 2.",
        "done.",
    ]


def test_a_stop_is_not_written_twice():
    assert list(lines_of([Statement("a:"), Statement("b."), Statement("c"), Statement("")])) == ["a:", "b.", "c.", "."]


def test_words_before_and_a_capital_leave_the_parts():
    assert INNER.after("if ") == Statement("if either", INNER.parts)
    assert INNER.sentence() == Statement("Either", INNER.parts)
    assert Statement("`x` is 1").sentence() == Statement("`x` is 1")
    assert Statement("").sentence() == Statement("")


@pytest.mark.parametrize(("items", "text"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")])
def test_items_in_words(items, text):
    assert listed(items, "or") == text
