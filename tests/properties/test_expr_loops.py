"""`reduce` and `closure`: the exact evaluator, generated code and the second evaluator against plain Python."""

import functools
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Environment, EvaluationError, IntType, ListType, check, compile_expression, evaluate
from specledger.verify.reference import Reference
from specledger.worlds.paths import digest_of
from tests.conftest import examples

NODES = 8
EDGES = ListType(ListType(IntType(0, NODES - 1), 4), NODES)
graphs = st.lists(st.lists(st.integers(0, NODES - 1), max_size=4), min_size=NODES, max_size=NODES)
few = st.lists(st.integers(-9, 9), max_size=6)


def values(text, **bindings):
    types = {"edges": EDGES, "n": INT, "xs": ListType(INT), "origins": ListType(IntType(0, NODES - 1), 3)}
    diagnostics = Diagnostics()
    checked = check(Text.inline(text), Environment(types), diagnostics)
    assert checked is not None, diagnostics.sorted()
    names = sorted(checked.variables)
    exact = evaluate(checked, bindings)
    assert compile_expression(checked, names)(*(bindings[name] for name in names)) == exact
    pytest.importorskip("cel_expr_python", reason="the extra `judge` is not installed")
    assert Reference().value(checked, bindings.get) == exact
    return exact


def breadth_first(origins, successors, limit):
    """A textbook search over a queue."""
    distance, queue = {}, deque((origin, 0) for origin in origins)
    while queue:
        node, steps = queue.popleft()
        if node not in distance and steps <= limit:
            distance[node] = steps
            queue.extend((each, steps + 1) for each in successors(node))
    return [{"item": node, "distance": steps} for node, steps in distance.items()]


@settings(max_examples=examples(60))
@given(graphs, st.lists(st.integers(0, NODES - 1), max_size=3), st.integers(0, 9))
def test_closure_is_a_breadth_first_search(edges, origins, limit):
    found = values(f"closure(origins, v, edges[v], {limit})", edges=edges, origins=origins)
    assert found == breadth_first(origins, edges.__getitem__, limit)


@pytest.mark.medium
@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(0, 5))
def test_closure_of_records_tells_equal_records_together(n, limit):
    text = "closure([{'x': 0, 'y': [0]}], c, [{'x': (c.x + 1) %% n, 'y': c.y}, {'y': [1 - c.y[0]], 'x': c.x}], %d)"
    found = values(text % limit, n=n)
    wanted = breadth_first([(0, 0)], lambda c: [((c[0] + 1) % n, c[1]), (c[0], 1 - c[1])], limit)
    assert [
        {"item": (each["item"]["x"], each["item"]["y"][0]), "distance": each["distance"]} for each in found
    ] == wanted


@pytest.mark.medium
@settings(max_examples=examples(60))
@given(few, st.integers(-9, 9))
def test_reduce_is_functools_reduce(xs, n):
    assert values("xs.reduce(a, v, n, a * 2 - v)", xs=xs, n=n) == functools.reduce(lambda a, v: a * 2 - v, xs, n)
    listed = values("xs.reduce(a, v, [], [v + n] + a)", xs=xs, n=n)
    assert listed == functools.reduce(lambda a, v: [v + n, *a], xs, [])
    nested = values(
        "xs.map(m, xs.reduce(a, v, m, a > v ? a : closure([v], w, [w + a], 2).reduce(s, r, 0, s + r.item)))", xs=xs
    )
    walked = lambda v, a: sum(each["item"] for each in breadth_first([v], lambda w: [w + a], 2))  # noqa: E731
    assert nested == [functools.reduce(lambda a, v: a if a > v else walked(v, a), xs, m) for m in xs]


@pytest.mark.medium
def test_items_that_share_their_parts_are_compared_up_to_a_bound():
    text = "closure([[range(30000)].map(b, range(20000).map(i, b))], x, [x], 5).size()"
    checked = check(Text.inline(text), Environment({}), Diagnostics())
    assert checked is not None
    with pytest.raises(EvaluationError, match="E_EVAL_LIMIT"):
        compile_expression(checked, ())()


def test_what_shares_its_parts_is_weighed_before_it_is_hashed():
    row = list(range(3000))
    with pytest.raises(ValueError, match="more than"):
        digest_of([row] * 30_000)
