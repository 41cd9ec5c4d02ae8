"""Arrays and `Rule.step` agree; a claim is the same as a tree and as a text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.claim import COMPARISONS, Binary, Const, Node, Not, Observe, Time, show, sort_of, to_json
from specledger.wings.laws.claim_parser import read_claim, read_text
from specledger.wings.laws.evolve import evolve
from specledger.wings.laws.layout import Batch
from specledger.wings.laws.primitive import Scan, measure_of
from specledger.wings.laws.transform import Image
from tests.conftest import examples


@st.composite
def rules(draw, symbols=(2, 3, 4), widest=7):
    count, width = draw(st.sampled_from(symbols)), draw(st.sampled_from([3, 3, 5, widest]))
    width = width if count**width <= 1000 else 3
    table = draw(st.binary(min_size=count**width, max_size=count**width))
    return Rule(count, tuple(cell % count for cell in table))


def rings(symbols, shortest=1, longest=9):
    return st.lists(st.integers(0, symbols - 1), min_size=shortest, max_size=longest).map(tuple)


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_look_up_is_the_rule(data):
    rule = data.draw(rules(symbols=(2, 3, 4, 7)))
    starts = data.draw(st.lists(rings(rule.symbols), min_size=1, max_size=6))
    found = evolve(Batch.of(starts, data.draw(st.integers(rule.radius, 4)), rule.radius), rule, 5)
    for case, start in enumerate(starts):
        assert [found.state(case, step) for step in range(6)] == rule.run(start, 5)


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_each_ring_may_have_its_own_rule(data):
    rule = data.draw(rules())
    starts = data.draw(st.lists(rings(rule.symbols), min_size=1, max_size=6))
    mutants = data.draw(st.lists(st.sampled_from(range(len(rule.table) * (rule.symbols - 1))), min_size=6, max_size=6))
    entries, symbols = np.array([rule.change(number) for number in mutants[: len(starts)]]).T
    found = evolve(Batch.of(starts, rule.radius, rule.radius), rule, 4, (entries, symbols))
    for case, start in enumerate(starts):
        assert found.state(case, 4) == rule.mutant(mutants[case]).run(start, 4)[-1]


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_measures_of_a_batch_are_those_of_each_ring(data):
    rule = data.draw(rules(symbols=(2, 3)))
    starts = data.draw(st.lists(rings(rule.symbols, 1, 12), min_size=1, max_size=5))
    width = data.draw(st.integers(1, 3))
    weights = data.draw(st.lists(st.integers(-200, 200), min_size=rule.symbols**width, max_size=rule.symbols**width))
    wanted = tuple(data.draw(st.lists(st.booleans(), min_size=rule.symbols, max_size=rule.symbols)))
    measures: list[Additive | Scan] = [
        Additive(rule.symbols, width, tuple(weights), 7),
        *(Scan(form, wanted) for form in ("first", "last", "longest", "extent")),
    ]
    found = evolve(Batch.of(starts, 3, rule.radius), rule, 3)
    for measure in measures:
        values = found.measure(measure)
        assert values.tolist() == [
            [measure_of(measure, found.state(case, step)) for case in range(len(starts))] for step in range(4)
        ]


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_transformed_batch_is_each_ring_transformed(data):
    starts = data.draw(st.lists(rings(3), min_size=1, max_size=5))
    image = Image(
        data.draw(st.booleans()), data.draw(st.integers(-12, 12)), tuple(data.draw(st.permutations(range(3))))
    )
    batch = Batch.of(starts).transformed(image)
    assert [evolve(batch, Rule(3, (0,) * 27), 0).state(case, 0) for case in range(len(starts))] == [
        image.of(start) for start in starts
    ]


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_a_batch_says_of_its_rings_is_what_their_states_say(data):
    rule = data.draw(rules())
    starts = data.draw(st.lists(rings(rule.symbols), min_size=1, max_size=6))
    found, empty = evolve(Batch.of(starts, 3, rule.radius), rule, 3), data.draw(st.integers(0, rule.symbols - 1))
    runs = [rule.run(start, 3) for start in starts]
    assert found.filled(empty).tolist() == [sum(cell != empty for cell in start) for start in starts]
    assert found.crossed(empty).tolist() == [any({s[0], s[-1]} - {empty} for s in states) for states in runs]
    assert found.changed().tolist() == [len(set(states)) > 1 for states in runs]
    assert found.cells().tolist() == [[cell for states in runs for cell in states[step]] for step in range(4)]


def test_a_window_wider_than_the_halo_is_refused():
    found = evolve(Batch.of([(0, 1, 0)], halo=1), Rule(2, (0, 1, 1, 0, 1, 0, 0, 1)), 1)
    with pytest.raises(ValueError, match="halo of 2"):
        found.measure(Additive(2, 3, tuple(range(8))))


def integers(names, times, depth=2):
    leaf = st.one_of(st.integers(-4, 6).map(Const), st.builds(Observe, st.sampled_from(names), st.sampled_from(times)))
    return st.recursive(
        leaf, lambda inner: st.builds(Binary, st.sampled_from(["+", "-", "*"]), inner, inner), max_leaves=3
    )


def conditions(names, times):
    number = integers(names, times)
    compared = st.builds(Binary, st.sampled_from(COMPARISONS), number, number)
    return st.recursive(
        compared,
        lambda inner: st.one_of(st.builds(Binary, st.sampled_from(["and", "or", "=>"]), inner, inner), inner.map(Not)),
        max_leaves=3,
    )


NOW, NEXT, START = Time(0), Time(1), Time(0, fixed=True)


@pytest.mark.medium
@settings(max_examples=examples(200), deadline=None)
@given(conditions(["A", "B"], [NOW, NEXT, START, Time(3, fixed=True)]))
def test_a_string_claim_is_its_tree(claim: Node):
    assert sort_of(claim) == "bool"
    assert read_claim(to_json(claim)) == claim
    assert read_text(show(claim)) == claim
