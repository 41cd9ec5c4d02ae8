"""Names that expressions read or mention, as their syntax shows."""

import pytest

from specledger.core.spans import Text
from specledger.lang.words import chained_in, listed_literals, mentioned_in, named_in, selected_in, surely_selected

NAMED = {
    "a + b.c": ({"a", "b"}, set()),
    "f(a) + g(b)": ({"a", "b"}, {"f", "g"}),
    "a.f(b)": ({"a", "b"}, {"f"}),
    "xs.map(x, x + y)": ({"xs", "y"}, set()),
    "xs.map(x, ys.exists(y, x == y && z))": ({"xs", "ys", "z"}, set()),
    "x + xs.map(x, x).size()": ({"x", "xs"}, {"size"}),
    "xs.reduce(sum, x, start, sum + x)": ({"xs", "start"}, set()),
    "has(a.b) ? [c] : {'d': e}": ({"a", "c", "e"}, set()),
    "1 + 'a'": (set(), set()),
    "a +": (set(), set()),
}


@pytest.mark.parametrize(("source", "expected"), NAMED.items(), ids=NAMED)
def test_names_and_functions(source, expected):
    assert named_in(source) == expected


MENTIONED = {
    "a.b + f('c')": {"a", "b", "f", "c"},
    "has(a.b)": {"a", "b"},
    "1 + 2": set(),
    "a[": set(),
}


@pytest.mark.parametrize(("source", "expected"), MENTIONED.items(), ids=MENTIONED)
def test_words_that_could_lead_to_something(source, expected):
    assert mentioned_in(source) == expected


SURE = {
    "a.x": {"x": (0, 3)},
    "a.x + a.y": {"x": (0, 3), "y": (6, 9)},
    "a.x + a.x": {"x": (0, 3)},
    "b.x": {},
    "a.x.y": {"x": (0, 3)},
    "c ? a.x : a.y": {},
    "a.c ? a.x : a.y": {"c": (0, 3)},
    "a.x && a.y": {},
    "a.x || a.y": {},
    "!a.x": {"x": (1, 4)},
    "a.x.map(i, a.y)": {"x": (0, 3)},
    "a.x.reduce(s, i, a.z, a.y)": {"x": (0, 3)},
    "size(a.x)": {"x": (5, 8)},
    "math.greatest(a.x, 1)": {"x": (14, 17)},
    "own(a.x)": {},
    "has(a.x)": {},
    "a.x +": {},
}


@pytest.mark.parametrize(("source", "expected"), SURE.items(), ids=SURE)
def test_fields_that_are_read_whenever_it_is_evaluated(source, expected):
    assert surely_selected(Text.inline(source), "a") == expected


LITERALS = {
    "[1, 'a']": [(1, (1, 2)), ("a", (4, 7))],
    "1": [],
    "[[1]]": [],
    "[1] + [2]": [(1, (1, 2)), (2, (7, 8))],
    "[1 + 2]": [],
    "[x]": [],
    "c ? [1] : [2]": [(1, (5, 6)), (2, (11, 12))],
    "[c ? 1 : 2]": [(1, (5, 6)), (2, (9, 10))],
    "[1] - [2]": [],
    "f([1])": [],
    "[": [],
}


@pytest.mark.parametrize(("source", "expected"), LITERALS.items(), ids=LITERALS)
def test_literals_of_a_list(source, expected):
    assert listed_literals(Text.inline(source)) == expected


SELECTED = {"a.x + b.y": {("a", "x"), ("b", "y")}, "has(a.x)": {("a", "x")}, "a.x.y": {("a", "x")}, "f(a).x": set()}


@pytest.mark.parametrize(("source", "expected"), SELECTED.items(), ids=SELECTED)
def test_fields_of_plain_names(source, expected):
    assert selected_in(source) == expected


CHAINS = {
    "a < b < c": (("a < b", "<", "b < c"),),
    "a <= b + 1 > c": (("a <= b + 1", ">", "b + 1 > c"),),
    "a < b == c": (),
    "a == b < c": (),
    "a < b && b < c": (),
    "a < (b < c)": (),
    "f(a < b < c)": (("a < b", "<", "b < c"),),
}


@pytest.mark.parametrize(("source", "expected"), CHAINS.items(), ids=CHAINS)
def test_comparisons_that_are_chained(source, expected):
    assert chained_in(source) == expected
