"""Planes, look-up and `Rule.step` agree; a claim is the same as a tree and as a text."""

from itertools import product

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specledger.laws.automaton import Additive, Rule
from specledger.laws.claim import COMPARISONS, Binary, Const, Node, Not, Observe, Time, show, sort_of, to_json
from specledger.laws.claim_parser import read_claim, read_text
from specledger.laws.evolve import evolve, evolve_packed
from specledger.laws.layout import Batch
from specledger.laws.planes import Words, network_of_rule
from specledger.laws.primitive import Scan, measure_of
from specledger.laws.transform import Image
from tests.conftest import examples


@st.composite
def rules(draw, symbols=(2, 3, 4), widest=7):
    count, width = draw(st.sampled_from(symbols)), draw(st.sampled_from([3, 3, 5, widest]))
    width = width if count**width <= 1000 else 3
    table = draw(st.binary(min_size=count**width, max_size=count**width))
    return Rule(count, tuple(cell % count for cell in table))


def rings(symbols, shortest=1, longest=9):
    return st.lists(st.integers(0, symbols - 1), min_size=shortest, max_size=longest).map(tuple)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_look_up_is_the_rule(data):
    rule = data.draw(rules(symbols=(2, 3, 4, 7)))
    starts = data.draw(st.lists(rings(rule.symbols), min_size=1, max_size=6))
    found = evolve(Batch.of(starts, data.draw(st.integers(rule.radius, 4)), rule.radius), rule, 5)
    for case, start in enumerate(starts):
        assert [found.state(case, step) for step in range(6)] == rule.run(start, 5)


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


LONG = (31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 193)
"""Lengths at which a ring begins to lie in another number of words, or its words in another way."""


@st.composite
def mixed(draw, symbols):
    """Rings of mixed lengths, up to several words."""
    sizes = draw(st.lists(st.one_of(st.integers(1, 9), st.sampled_from(LONG)), min_size=1, max_size=7))
    return [tuple(cell % symbols for cell in draw(st.binary(min_size=size, max_size=size))) for size in sizes]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_words_are_the_rule(data):
    rule = data.draw(rules(symbols=(2, 2, 4)))
    assume(network_of_rule(rule) is not None)
    starts = data.draw(mixed(rule.symbols))
    found = evolve_packed(Batch.of(starts), rule, 3)
    for case, start in enumerate(starts):
        assert [found.state(case, step) for step in range(4)] == rule.run(start, 3)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_words_turn_as_rings_do(data):
    starts = data.draw(mixed(2))
    words = Words(np.array([len(start) for start in starts]))
    planes = words.pack([bytes(start) for start in starts], 1)
    offset = data.draw(st.integers(-15, 15))
    turned = words.unpack((words.turned(planes, offset) & words.masks)[None])
    assert turned[0].tolist() == [
        start[(place + offset) % len(start)] for start in starts for place in range(len(start))
    ]
    assert words.unpack(planes[None])[0].tolist() == [cell for start in starts for cell in start]
    assert words.added(np.bitwise_count(planes[0]).astype(np.int64)).tolist() == [sum(start) for start in starts]


def test_the_network_of_every_elementary_rule_is_its_table():
    inputs = [sum((row >> at & 1) << row for row in range(8)) for at in range(3)]
    for number in range(256):
        network = network_of_rule(Rule(2, tuple(number >> entry & 1 for entry in range(8))))
        assert network is not None
        (output,) = network.evaluate(inputs, 255)
        assert output == sum(
            (number >> (left * 4 + own * 2 + right) & 1) << (left + 2 * own + 4 * right)
            for left, own, right in product((0, 1), repeat=3)
        ), number


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


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_words_say_is_what_cells_say(data):
    rule = data.draw(rules(symbols=(2, 4)))
    assume(network_of_rule(rule) is not None)
    batch = Batch.of(data.draw(mixed(rule.symbols)), 3, rule.radius)
    slow, fast = evolve(batch, rule, 4), evolve_packed(batch, rule, 4)
    width, high = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([1, 3, 300, 40_000]))
    weights = data.draw(st.lists(st.integers(-5, high), min_size=rule.symbols**width, max_size=rule.symbols**width))
    image = Image(
        data.draw(st.booleans()), data.draw(st.integers(-9, 9)), tuple(data.draw(st.permutations(range(rule.symbols))))
    )
    empty = data.draw(st.integers(0, rule.symbols - 1))
    for measure in (
        Additive(rule.symbols, width, tuple(weights), data.draw(st.integers(-3, 3))),
        Additive(rule.symbols, width, (1,) * rule.symbols**width),
        Scan("longest", (True, *[False] * (rule.symbols - 1))),
    ):
        assert fast.measure(measure).tolist() == slow.measure(measure).tolist()
    assert fast.cells().tolist() == slow.cells().tolist()
    assert fast.transformed(image).tolist() == slow.transformed(image).tolist()
    assert [fast.filled(empty).tolist(), fast.crossed(empty).tolist(), fast.changed().tolist()] == [
        slow.filled(empty).tolist(),
        slow.crossed(empty).tolist(),
        slow.changed().tolist(),
    ]


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


@settings(max_examples=examples(200), deadline=None)
@given(conditions(["A", "B"], [NOW, NEXT, START, Time(3, fixed=True)]))
def test_a_string_claim_is_its_tree(claim: Node):
    assert sort_of(claim) == "bool"
    assert read_claim(to_json(claim)) == claim
    assert read_text(show(claim)) == claim
