"""The bound of an evaluation's work: by hand for each form, and never less than what an evaluation is charged."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Environment, IntType, ListType, Native, Signature, check
from specledger.expr.check.analysis import most, size, work
from specledger.expr.check.overloads import choose, takes, wrong_argument
from specledger.expr.check.types import STRING, MapType, RecordType
from specledger.expr.eval.evaluator import evaluate_within
from specledger.expr.limits import CHARACTERS_OF_WORK, MAX_LIST, MAX_STRING

TYPES = {
    "xs": ListType(INT, 10),
    "rows": ListType(ListType(INT, 4), 5),
    "edges": ListType(ListType(IntType(0, 7), 3), 8),
    "origins": ListType(IntType(0, 7), 2),
    "m": MapType(INT),
    "p": RecordType("p", {"a": INT, "b": INT}),
    "n": INT,
    "s": STRING,
}
FULL = {
    "xs": list(range(10)),
    "rows": [list(range(4))] * 5,
    "edges": [[(node + step) % 8 for step in (1, 2, 3)] for node in range(8)],
    "origins": [0, 1],
    "m": {str(number): number for number in range(50)},
    "p": {"a": 1, "b": 2},
    "n": 3,
    "s": "text",
}


def checked(text):
    diagnostics = Diagnostics()
    expression = check(Text.inline(text), Environment(TYPES), diagnostics)
    assert expression is not None, diagnostics.sorted()
    return expression


BOUNDS = {
    "n + 1": 0,
    "xs[0]": 0,
    "n in xs": 10,
    "xs == xs": 20,
    "xs + xs": 20,
    "[1, 2] == [3, n]": 0,
    "xs.all(v, v > n)": 10 * (1 + 3),
    "xs.map(v, v)": 10 * (1 + 1),
    "xs.filter(v, v in xs)": 10 * (1 + 3) + 10 * 10,
    "rows.all(r, r.all(v, v > n))": 5 * (1 + 1 + 1) + 5 * 4 * (1 + 3),
    "s + s": MAX_STRING // CHARACTERS_OF_WORK,
}


@pytest.mark.parametrize(("text", "bound"), BOUNDS.items(), ids=BOUNDS)
def test_the_bound_is_items_times_the_work_of_one(text, bound):
    assert work(checked(text).root) == bound


CHARGED = [
    *BOUNDS,
    "xs.map(v, v > 2, v + 1)",
    "xs.exists_one(v, v == n)",
    "sum(xs) + size(xs) + maximum(xs, 0)",
    "xs.reduce(total, v, 0, total + v)",
    "closure(origins, v, edges[v], 8)",
    "closure(origins, v, edges[v].filter(w, w in origins), 8)",
    "closure(origins, v, edges[v].map(w, (w + size(xs)) % 8), 8).map(found, found.distance)",
    "closure(origins, v, edges[v], 8).map(a, closure(origins, v, edges[v], 8).map(b, b.distance))",
    "rows.map(r, r.map(v, xs.map(w, w + v)))",
    "m.all(key, m[key] >= 0)",
    "rows.map(r, sum(r))",
]


@pytest.mark.parametrize("text", CHARGED)
def test_no_evaluation_is_charged_more_than_the_bound(text):
    expression = checked(text)
    budget = size(expression.root).weight + work(expression.root)
    _, left = evaluate_within(expression, FULL, budget)
    assert 0 <= left <= budget


def test_the_bound_of_a_search_counts_each_node_with_what_it_leads_to():
    """`closure` of one origin finds as many nodes as its bound and its steps allow: 1 + 3 + 9 for two steps of three."""
    expressions = [checked(f"closure([0], v, edges[v], {steps})") for steps in (1, 2)]
    nodes = [1 + 3, 1 + 3 + 9]
    assert [most(expression.type) for expression in expressions] == nodes
    successors, own = 3, 4  # what a node leads to, and the node with its body
    bounds = [1 + count * (own + successors) for count in nodes]  # the origin is looked at once more
    assert [work(expression.root) for expression in expressions] == bounds


def test_a_map_counts_as_the_longest_list():
    assert work(checked("m.all(key, n > 0)").root) == MAX_LIST * (1 + 3)


JOIN = Native("join", (Signature((STRING, INT), INT, variadic=True),), lambda *values: 0)


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ((STRING,), False),
        ((STRING, INT), True),
        ((STRING, INT, INT), True),
        ((STRING, INT, INT, INT), True),
        ((INT, INT), False),
        ((STRING, STRING), False),
        ((STRING, INT, STRING), False),
        ((), False),
    ],
)
def test_only_the_last_parameter_of_a_variadic_function_is_repeated(args, fits):
    assert (choose(JOIN, args) is not None) is fits


def test_a_variadic_function_takes_one_argument_for_each_parameter_or_more():
    assert [takes(JOIN, count) for count in range(5)] == [False, False, True, True, True]
    assert wrong_argument(JOIN, (STRING, INT, STRING)) == (2, INT)
    assert wrong_argument(JOIN, (STRING,)) is None
