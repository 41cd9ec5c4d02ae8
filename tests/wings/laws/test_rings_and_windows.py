"""Judging of claims on small rings, and sweeps over whole graphs of windows, at the exact bounds of their budgets."""

from typing import Any

import numpy as np
import pytest

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Commutes,
    Conserved,
    Eventually,
    Linear,
    Local,
    Monotone,
    Not,
    Opaque,
    Or,
    Question,
    Term,
)
from specledger.wings.laws.proofs.rings import (
    OutOfCells,
    admitted,
    first_violation,
    judge,
    necklaces,
    smallest_violation,
    truth,
)
from specledger.wings.laws.proofs.wide import TooManySweeps, Weights, WideGraph, later_weights

SHIFT = Rule(2, (0, 1, 0, 1, 0, 1, 0, 1))  # each cell becomes its right neighbour
FADE = Rule(2, (0, 0, 0, 0, 0, 0, 1, 1))  # a cell stays 1 beside a 1 to its left
ONES = Additive(2, 1, (0, 1))
SOME = Linear((Term(1, ONES),), ">=", 1)


def ones(op, bound, at=0):
    return Linear((Term(1, ONES, at),), op, bound)


# a rule, a claim, what else is asked, and the smallest ring on which the claim fails, or up to where there is none
SMALLEST: dict[str, tuple[Any, ...]] = {
    "conserved": (SHIFT, Conserved(ONES), {"longest": 4}, 4),
    "not conserved": (FADE, Conserved(ONES), {"longest": 4}, ((0, 1), 0)),
    "falling": (FADE, Monotone(ONES, "<="), {"longest": 4}, 4),
    "not rising": (FADE, Monotone(ONES, ">="), {"shortest": 3, "longest": 4}, ((0, 0, 1), 0)),
    "at most two": (SHIFT, Always(ones("<=", 2)), {"longest": 4}, ((1, 1, 1), 0)),
    "at most four on four": (SHIFT, Always(ones("<=", 4)), {"longest": 4}, 4),
    "of no ring": (SHIFT, Always(ones("<=", 0)), {"shortest": 3, "longest": 2}, 2),
    "from starts of one symbol": (SHIFT, Always(ones("<=", 0)), {"longest": 3, "start": frozenset({0})}, 3),
    "from some starts": (SHIFT, Always(ones("<=", 2)), {"longest": 4, "where": ones("<=", 3, None)}, ((1, 1, 1), 0)),
    "from fewer starts": (SHIFT, Always(ones("<=", 2)), {"longest": 3, "where": ones("<=", 2, None)}, 3),
    "later than the start": (FADE, Always(Or((ones("!=", 1), ones("==", 1, None)))), {"longest": 4}, ((0, 1, 1), 1)),
    "within a horizon": (FADE, Always(Or((ones("!=", 1), ones("==", 1, None)))), {"longest": 3, "horizon": 0}, 3),
    "at the horizon": (FADE, Always(Or((ones("!=", 1), ones("==", 1, None)))), {"longest": 3, "horizon": 1}, ((0, 1, 1), 1)),
    "in time": (FADE, Eventually(ones("==", 2), ones("==", 0), 2), {"longest": 3}, ((1, 1), 0)),
    "eventually": (FADE, Eventually(ones("==", 1), ones("==", 0), 1), {"shortest": 2, "longest": 4}, 4),
    "a step too late": (FADE, Eventually(ones("==", 2), ones("==", 0), 1), {"shortest": 3, "longest": 3}, ((0, 1, 1), 0)),
    "a rotation": (SHIFT, Commutes(False, 1, (0, 1)), {"longest": 4}, 4),
    "a reflection": (FADE, Commutes(True, 0, (0, 1)), {"longest": 4}, ((0, 1, 1), 0)),
    "symbols": (SHIFT, Commutes(False, 0, (1, 0)), {"longest": 4}, 4),
    "a cell": (FADE, Local(0, frozenset({0})), {"longest": 4}, 4),
    "a cell that changes": (FADE, Local(1, frozenset({1})), {"longest": 4}, ((0, 1), 0)),
    "a function": (SHIFT, Opaque("o", 0, lambda start, states: states[0] != (1, 0), False), {"longest": 3}, ((1, 0), 0)),
    "a function of the start": (SHIFT, Opaque("o", 0, lambda start, states: states[0] == start), {"longest": 3}, ((0, 1), 1)),
}  # fmt: skip


@pytest.mark.parametrize("case", SMALLEST)
def test_the_smallest_ring_on_which_a_claim_fails(case):
    rule, claim, more, found = SMALLEST[case]
    assert smallest_violation(Question(rule, claim, **more), 10_000) == found


@pytest.mark.parametrize(("cells", "longest"), [(3, 0), (4, 1), (15, 1), (16, 2), (39, 2), (40, 3)])
def test_lengths_are_searched_as_far_as_the_budget_is_sure_to_reach(cells, longest):
    assert smallest_violation(Question(SHIFT, Always(ones(">=", 0)), longest=3), cells) == longest


def test_a_trajectory_is_judged_until_it_repeats_itself_or_the_budget_ends():
    question = Question(SHIFT, Always(ones("==", 1)), where=ones("==", 1, None))
    judging = judge(question, 3)
    assert (judging.span, judging.from_start, judging.rotates) == (0, False, True)
    budget = [9]
    assert first_violation(question, judging, (0, 0, 1), budget) is None
    assert budget == [0]
    with pytest.raises(OutOfCells):
        first_violation(question, judging, (0, 0, 1), [8])
    every = Question(SHIFT, Always(ones("==", 1)))
    budget = [3]
    assert first_violation(every, judge(every, 3), (0, 0, 1), budget) is None, "one instance stands for all"
    assert budget == [0]


@pytest.mark.parametrize(
    ("ring", "is_admitted"),
    [((1,), False), ((0, 1), True), ((1, 1, 1), True), ((0, 0, 1, 1), False), ((0, 2), False), ((0, 0), False)],
)
def test_which_rings_a_contract_admits(ring, is_admitted):
    rule = Rule(3, (0,) * 27)
    some = Linear((Term(1, Additive(3, 1, (0, 1, 1)), None),), ">=", 1)
    question = Question(rule, Local(0, frozenset({0})), 2, 3, frozenset({0, 1}), some)
    assert admitted(question, ring) is is_admitted


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (And(()), True),
        (Or(()), False),
        (Not(SOME), False),
        (And((SOME, Not(SOME))), False),
        (Or((SOME, Not(SOME))), True),
        (ones("==", 1, 1), True),
        (ones("==", 2, None), True),
        (Linear((Term(2, ONES), Term(-1, ONES, None)), "==", 4), True),
        (Linear((Term(2, ONES), Term(-1, ONES, None)), "<", 4), False),
    ],
)
def test_whether_a_condition_holds(condition, holds):
    assert truth(condition)((1, 1, 0), [(1, 1, 1), (1, 0, 0)]) is holds


@pytest.mark.parametrize(
    ("alphabet", "length", "least"),
    [
        ((0, 1), 1, ["0", "1"]),
        ((0, 1), 3, ["000", "001", "011", "111"]),
        ((0, 1), 4, ["0000", "0001", "0011", "0101", "0111", "1111"]),
        ((2,), 3, ["222"]),
        ((0, 2), 2, ["00", "02", "22"]),
    ],
)
def test_one_ring_stands_for_its_rotations(alphabet, length, least):
    assert ["".join(map(str, ring)) for ring in necklaces(alphabet, length)] == least


def graph(left, symbols=2, width=3):
    return WideGraph(symbols, width, [left])


WAYS = {(0, 0): [], (0, 1): [1], (0, 2): [1, 2], (0, 3): [1, 3], (1, 0): [2, 4], (1, 2): [2], (1, 3): [3],
        (2, 0): [4], (2, 1): [5], (2, 3): [5, 3], (3, 0): [6, 4], (3, 1): [6, 5], (3, 2): [6], (3, 3): []}  # fmt: skip


@pytest.mark.parametrize("ends", WAYS)
def test_a_shortest_way_between_two_nodes(ends):
    assert graph(0).way(*ends) == WAYS[ends]


@pytest.mark.parametrize(
    ("times", "code", "found", "sweeps"),
    [(1, 7, (None, [7]), 1), (1, 0, (None, [0]), 1), (1, 1, (None, [1, 2, 4]), 3), (-1, 7, (0, []), 1), (0, 7, (0, []), 1)],
)  # fmt: skip
def test_sweeps_end_where_no_node_rises_or_find_a_cycle(times, code, found, sweeps):
    wide = graph(8 * sweeps)
    assert wide.climb([(times, wide.indicator([code]))]) == found
    assert wide.left == [0]
    short = graph(8 * sweeps - 1)
    with pytest.raises(TooManySweeps, match=rf"^{sweeps - 1} sweeps over 2\^3 windows do not decide them$"):
        short.climb([(times, short.indicator([code]))])


def test_heights_that_fit_no_more_are_refused():
    wide = graph(40)
    largest, rest = divmod((1 << 63) - 1, 7)
    assert rest == 0
    assert wide.climb([(-largest, wide.indicator([7]))]) == (0, [])
    with pytest.raises(TooManySweeps, match="the heights would leave 64 bits"):
        graph(40).climb([(largest + 1, wide.indicator([7]))])


@pytest.mark.parametrize(
    ("symbols", "width", "nodes", "block"), [(2, 3, 4, 4), (3, 4, 27, 27), (2, 21, 1 << 20, 1 << 20), (2, 22, 1 << 21, 1 << 20)]
)  # fmt: skip
def test_blocks_are_as_large_as_the_graph_up_to_a_bound(symbols, width, nodes, block):
    wide = graph(0, symbols, width)
    assert (wide.nodes, wide.block) == (nodes, block)


def test_weights_are_tables_and_single_windows():
    weights = Weights(2, 3, [(2, 1, np.array([1, -3], dtype=np.int8))])
    weights.single[5] = 4
    assert [weights[code] for code in range(8)] == [2, 2, 2, 2, -6, -2, -6, -6]
    assert weights.largest() == 10
    for first, size, times, summed in [
        (0, 8, 1, [2, 2, 2, 2, -6, -2, -6, -6]),
        (4, 4, 3, [-18, -6, -18, -18]),
        (4, 2, 1, [-6, -2]),
        (6, 2, 1, [-6, -6]),
    ]:
        block = np.zeros(size, dtype=np.int64)
        weights.add_to(block, times, first)
        assert block.tolist() == summed


@pytest.mark.parametrize(
    ("largest", "kind"),
    [(127, "int8"), (128, "int16"), (-127, "int8"), (32767, "int16"), (32768, "int32"), (2**31 - 1, "int32"), (2**31, "int64")],
)  # fmt: skip
def test_weights_are_kept_in_the_smallest_type_that_holds_them(largest, kind):
    assert later_weights(SHIFT, Additive(2, 1, (0, largest)), 0).dtype == kind


@pytest.mark.parametrize("rule", [SHIFT, FADE])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_weights_after_steps_are_those_of_what_the_window_becomes(rule, at):
    width = 2 + 2 * at
    found = later_weights(rule, Additive(2, 2, (0, 1, 2, 5)), at)
    assert len(found) == 2**width
    for code in range(2**width):
        cells = [code >> (width - 1 - place) & 1 for place in range(width)]
        for _ in range(at):
            cells = [rule.table[4 * a + 2 * b + c] for a, b, c in zip(cells, cells[1:], cells[2:], strict=False)]
        assert found[code] == (0, 1, 2, 5)[2 * cells[0] + cells[1]]
