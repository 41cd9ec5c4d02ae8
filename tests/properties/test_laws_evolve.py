"""Fast judging is exact judging: planes, look-up and `Rule.step` agree, and so do the harness and brute force."""

import functools
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specledger.compile.law import compile_law
from specledger.kinds import load
from specledger.laws.automaton import Additive, Rule
from specledger.laws.candidate import bundle_of
from specledger.laws.claim import COMPARISONS, Binary, Const, Node, Not, Observe, Time, show, sort_of, to_json
from specledger.laws.claim_parser import read_claim, read_text
from specledger.laws.decision import answer_of
from specledger.laws.evolve import evolve
from specledger.laws.exact import Run
from specledger.laws.judge import judge
from specledger.laws.layout import Batch
from specledger.laws.packed import evolve_packed
from specledger.laws.planes import derive
from specledger.laws.primitive import Scan, measure_of
from specledger.laws.proofs import Proved, ProvedUpTo, Refuted
from specledger.laws.transform import Image
from specledger.laws.trial import try_law
from specledger.laws.words import Words
from tests.conftest import examples

TEMPLATES = [
    "invariant",
    "monotone",
    "implication_step",
    "implication_state",
    "eventually",
    "symmetry_commutation",
    "bound",
    "local_transition",
]


@functools.cache
def universe(name):
    return load(f"specs/universe/{name}.yaml")[0]


@functools.cache
def templates():
    return {name: load(f"specs/template/{name}.yaml")[0] for name in TEMPLATES}


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
    assume(derive(rule) is not None)
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
        network = derive(Rule(2, tuple(number >> entry & 1 for entry in range(8))))
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
    assume(derive(rule) is not None)
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


def law_of(data, template, name):
    """A random law of a form, in one of the universes, over few steps."""
    symbol = st.sampled_from(["0", "1"] if name == "elementary_rule" else ["0", "+", "-"])
    s = data.draw(symbol)
    observables = [
        {"name": "A", "expr": f"count('{s}')"},
        {
            "name": "B",
            "expr": data.draw(
                st.sampled_from([f"leftmost('{s}') + 1", "grid_length - A", f"2 * count('{s}') - grid_length", "A * A"])
            ),
        },
    ]
    horizon = data.draw(st.sampled_from([2, 3, 5, 32] if name == "elementary_rule" else [2, 4]))
    law = {
        "template": template,
        "forbidden": "x",
        "quantifiers": {"T": horizon},
        "observables": observables,
        "cases": 40,
        "mutations": 20,
    }
    now, both = conditions(["A", "B"], [NOW, START]), conditions(["A", "B"], [NOW, NEXT, START])
    if template == "invariant":
        law["claim_ast"] = to_json(data.draw(now))
    elif template in ("implication_state", "eventually", "implication_step"):
        claim = Binary("=>", data.draw(now), data.draw(both if template == "implication_step" else now))
        law["claim_ast"] = to_json(claim)
        if template == "eventually":
            law["quantifiers"]["H"] = data.draw(st.integers(0, 3))
    elif template == "monotone":
        f = data.draw(st.sampled_from(["A", "B"]))
        law["direction"] = data.draw(st.sampled_from(["<=", ">="]))
        law["claim_ast"] = to_json(Binary(law["direction"], Observe(f, NEXT), Observe(f, NOW)))
    elif template == "bound":
        law["bound_op"], law["bound_value"] = data.draw(st.sampled_from(COMPARISONS)), data.draw(st.integers(-2, 8))
        law["claim_ast"] = to_json(Binary(law["bound_op"], Observe("B", NOW), Const(law["bound_value"])))
    elif template == "symmetry_commutation":
        law["transform"] = data.draw(
            st.sampled_from(["mirror", "shift_k(2)", "complement" if name == "elementary_rule" else "flip"])
        )
    else:
        law |= {
            "trigger_symbol": s,
            "result_op": data.draw(st.sampled_from(["==", "!="])),
            "result_symbol": data.draw(symbol),
        }
    if data.draw(st.booleans()):
        law["preconditions"] = [
            f"count('{s}') {data.draw(st.sampled_from(['>', '<=', '!=']))} {data.draw(st.integers(0, 3))}"
        ]
    return compile_law(bundle_of(law, universe(name), templates()))


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_judging_is_brute_force_and_nobody_contradicts_it(template, data):
    """On all states of all rings of up to 6 cells, and in what the prover and the verdict then say."""
    plan = law_of(data, template, data.draw(st.sampled_from(["elementary_rule", "spin_tide"])))
    law = plan.law
    longest = 4 if len(law.starts) == 3 else 5 if law.T == 32 else 6  # 32 steps go around every cycle of 5 cells
    starts = [start for size in range(law.universe.shortest, longest + 1) for start in product(law.starts, repeat=size)]
    exact = [Run(law, start) for start in starts]
    judged = judge(law, starts)
    expected = [run.first_violation() for run in exact]
    assert judged.usable.tolist() == [run.usable() for run in exact]
    assert judged.violated.tolist() == [-1 if t is None else t for t in expected]
    for run, hits in zip(exact, judged.hits.tolist(), strict=True):
        assert hits == (len({each.t for each in run.instances() if each.counts}) if run.usable() else 0)
    shortest_violation = min(
        (len(start) for start, t in zip(starts, expected, strict=True) if t is not None), default=None
    )
    answer = answer_of(law)
    if isinstance(answer, Proved):
        assert shortest_violation is None
    if isinstance(answer, ProvedUpTo):
        assert shortest_violation is None or shortest_violation > answer.length
    if isinstance(answer, Refuted):
        assert Run(law, answer.ring).first_violation() is not None
    verdict = try_law(plan)
    assert verdict.status in ("PROVED", "PASS", "FAIL", "UNKNOWN")
    if verdict.status in ("PROVED", "PASS") and verdict.up_to is not None:
        assert shortest_violation is None or shortest_violation > verdict.up_to
    if verdict.status == "FAIL":
        assert verdict.counterexample is not None
        assert Run(law, law.universe.cells(verdict.counterexample.start)).first_violation() == verdict.counterexample.t
    if shortest_violation is not None:
        assert verdict.status != "PROVED"
