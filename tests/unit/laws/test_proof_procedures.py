"""The parts of the provers, each against an independent way to the same result."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.laws.automaton import Additive, Rule
from specledger.laws.proofs.circulations import Master, circuit, tours
from specledger.laws.proofs.clauses import clauses
from specledger.laws.proofs.linear import find_links
from specledger.laws.proofs.potentials import climb, conserved_quantities, current
from specledger.laws.proofs.question import And, Limits, Linear, Not, Or, Term
from specledger.laws.proofs.rings import OutOfCells, necklaces, spend, truth
from specledger.laws.proofs.windows import change, digits, graph, later_windows, over, weigh


def elementary(number):
    return Rule(2, tuple(number >> i & 1 for i in range(8)))


@st.composite
def weighted(draw, symbols=2):
    width = draw(st.integers(1, 4))
    count = symbols**width
    return graph(symbols, width), draw(st.lists(st.integers(-3, 3), min_size=count, max_size=count))


def ring_weight(windows, weights, ring):
    width = windows.width
    doubled = ring * (width // len(ring) + 2)
    return sum(weights[int("".join(map(str, doubled[i : i + width])), windows.symbols)] for i in range(len(ring)))


def rings(symbols, longest):
    return (ring for length in range(1, longest + 1) for ring in product(range(symbols), repeat=length))


@given(weighted())
def test_potentials_and_cycles_say_the_truth(case):
    windows, weights = case
    heaviest = max(ring_weight(windows, weights, ring) for ring in rings(2, 8))
    heights, cycle = climb(windows, weights)
    if heights is None:
        assert sum(weights[code] for code in cycle) > 0
        assert all(a % windows.nodes == b // 2 for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert len({code // 2 for code in cycle}) == len(cycle)
        assert heaviest > 0  # a cycle of at most 8 nodes is a ring of at most 8 cells
    else:
        assert all(weights[code] <= heights[head] - heights[tail] for code, tail, head in windows.arcs)
        assert heaviest <= 0


@given(weighted(), st.lists(st.integers(-4, 4), min_size=8, max_size=8))
def test_a_current_is_found_where_there_is_one(case, heights):
    windows, weights = case
    found = current(windows, weights)
    assert (found is not None) == all(ring_weight(windows, weights, ring) == 0 for ring in rings(2, 8))
    climbs = [heights[code % windows.nodes] - heights[code // 2] for code in range(2**windows.width)]
    found = current(windows, climbs)
    assert found is not None
    assert [found[head] - found[tail] for _, tail, head in windows.arcs] == climbs


@given(
    st.integers(1, 3),
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=5),
    st.tuples(*[st.integers(-4, 4)] * 3),
    st.tuples(*[st.booleans()] * 3),
)
def test_the_simplex_answers_with_a_proof_either_way(count, columns, bounds, equal):
    master = Master(bounds[:count], equal[:count])
    multipliers = master.settle()
    for column in columns:
        master.add(column[:count])
        multipliers = master.settle()
    if multipliers is None:
        taken = master.multiples()
        assert all(times > 0 for times in taken.values())
        for row in range(count):
            total = sum((columns[number][row] * times for number, times in taken.items()), Fraction())
            assert total == bounds[row] if equal[row] else total >= bounds[row]
    else:
        assert all(factor >= 0 or equal[row] for row, factor in enumerate(multipliers))
        assert sum(factor * bounds[row] for row, factor in enumerate(multipliers)) > 0
        assert all(sum(f * column[row] for row, f in enumerate(multipliers)) <= 0 for column in columns)


@pytest.mark.parametrize("symbols", [1, 2, 3])
@pytest.mark.parametrize("length", range(1, 7))
def test_necklaces_are_the_least_rotations(symbols, length):
    least = [
        word
        for word in product(range(symbols), repeat=length)
        if all(word[i:] + word[:i] >= word for i in range(length))
    ]
    assert list(necklaces(range(symbols), length)) == least


@pytest.mark.parametrize("number", [184, 110, 30, 204])
def test_windows_add_up_to_the_observable_of_later_steps(number):
    rule, observable = elementary(number), Additive(2, 2, (1, -2, 5, 0), 7)
    for ring in rings(2, 6):
        states = rule.run(ring, 2)
        for at in range(3):
            width = 2 + 2 * at
            value = ring_weight(graph(2, width), weigh(rule, observable, at, width), ring)
            assert value + 7 == observable.total(states[at])
        growth = observable.total(states[1]) - observable.total(states[0])
        assert ring_weight(graph(2, 4), change(rule, observable), ring) == growth


@pytest.mark.parametrize("start", [{0}, {1}, {0, 1}])
def test_later_windows_hold_whatever_occurs(start):
    for number, size in product(range(0, 256, 7), (1, 2, 3)):
        rule = elementary(number)
        known = later_windows(rule, frozenset(start), size)
        for length in range(1, 7):
            for ring in product(sorted(start), repeat=length):
                state = ring
                for _ in range(4):
                    state = rule.step(state)
                    doubled = state * (size + 1)
                    assert {int("".join(map(str, doubled[i : i + size])), 2) for i in range(length)} <= known


# The width-2 conserved quantities of elementary automata beyond the number of cells, by rank.
@pytest.mark.parametrize(
    ("number", "width", "count"),
    [(184, 1, 1), (226, 1, 1), (110, 1, 0), (170, 2, 2), (204, 2, 2), (184, 2, 1), (30, 2, 0)],
)
def test_conserved_quantities_are_all_found(number, width, count):
    rule = elementary(number)
    found = conserved_quantities(rule, width)
    assert len(found) == count
    for observable in found:
        assert all(observable.total(rule.step(ring)) == observable.total(ring) for ring in rings(2, 7))
    totals = {tuple(observable.total(ring) for ring in rings(2, 5)) for observable in found}
    assert len(totals) == count


@st.composite
def conditions(draw, depth=2):
    if depth == 0 or draw(st.booleans()):
        weights = draw(st.tuples(st.integers(-2, 2), st.integers(-2, 2)))
        op = draw(st.sampled_from(["<=", ">=", "==", "!=", "<", ">"]))
        return Linear((Term(1, Additive(2, 1, weights, 1)),), op, draw(st.integers(-3, 3)))
    parts = draw(st.lists(conditions(depth - 1), min_size=1, max_size=2))
    return draw(st.sampled_from([And(tuple(parts)), Or(tuple(parts)), Not(parts[0])]))


@given(conditions(), st.booleans())
def test_clauses_mean_the_condition(condition, negated):
    listed = clauses(condition, 1000, negated=negated)
    for ring in rings(2, 5):
        met = [
            all(truth(Linear(atom.terms, "==" if atom.equal else ">=", atom.bound))(ring, [ring]) for atom in clause)
            for clause in listed
        ]
        assert any(met) == (truth(condition)(ring, [ring]) != negated)


def test_a_whole_flow_becomes_its_ring_and_others_become_tours():
    windows = graph(2, 2)
    flow = [([0], Fraction(2)), ([1, 2], Fraction(1)), ([3], Fraction(1))]
    ring = circuit(flow, windows, 20)
    assert ring is not None
    assert sorted(ring_codes(ring)) == [0, 0, 1, 2, 3]
    assert circuit(flow, windows, 4) is None
    apart = [([0], Fraction(1, 2)), ([3], Fraction(1))]
    tour = next(iter(tours(apart, windows, 20)))
    assert {0, 3} <= set(ring_codes(tour))
    assert all(len(tour) <= 24 for tour in tours(apart, windows, 20))


def ring_codes(ring):
    return [2 * a + b for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]


def test_codes_are_digits():
    assert digits(5, 3, 3) == (0, 1, 2)
    assert over(3, 2, {0, 2}) == {0, 2, 6, 8}
    assert [code for code, _, _ in graph(2, 3, frozenset({0, 1, 2}), 2).arcs] == [0, 1, 2, 4, 5]


def test_a_budget_may_be_spent_to_its_end():
    budget = [5]
    for cells in (2, 3, 0):
        spend(budget, cells)
    with pytest.raises(OutOfCells):
        spend(budget, 1)


def test_links_are_looked_for_within_the_limit_of_windows():
    """What a cell adds is followed over a window two cells wider: 27 windows of three symbols."""
    keep = Rule(3, tuple(middle for _, middle, _ in product(range(3), repeat=3)))
    counts = [Additive(3, 1, (0, 0, 1))]
    assert list(find_links(keep, counts, Limits(windows=27)))
    assert not list(find_links(keep, counts, Limits(windows=26)))
