"""The parts of the provers, each against an independent way to the same result."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.circulations import Master, circuit, tours
from specledger.wings.laws.proofs.linear import find_links
from specledger.wings.laws.proofs.potentials import conserved_quantities
from specledger.wings.laws.proofs.question import Limits
from specledger.wings.laws.proofs.windows import graph


def elementary(number):
    return Rule(2, tuple(number >> i & 1 for i in range(8)))


def rings(symbols, longest):
    return (ring for length in range(1, longest + 1) for ring in product(range(symbols), repeat=length))


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


def test_links_are_looked_for_within_the_limit_of_windows():
    """What a cell adds is followed over a window two cells wider: 27 windows of three symbols."""
    keep = Rule(3, tuple(middle for _, middle, _ in product(range(3), repeat=3)))
    counts = [Additive(3, 1, (0, 0, 1))]
    assert list(find_links(keep, counts, Limits(windows=27)))
    assert not list(find_links(keep, counts, Limits(windows=26)))
