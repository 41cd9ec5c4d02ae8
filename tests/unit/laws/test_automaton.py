"""One step of a ring, its single-entry mutants, and sums over windows."""

from itertools import product

import pytest

from specledger.laws.automaton import Additive, Rule

MEETINGS = {
    "a right-mover moves": (">...", ".>.."),
    "a left-mover moves around the ring": ("<...", "...<"),
    "two that enter one cell collide": (">.<.", ".X.."),
    "a collision resolves in one step": (".X..", "<.>."),
    "neighbours pass through each other": ("><..", "<..>"[1:] + "<"),
    "two collisions make one between them": ("X.X.", ".X.X"),
}
MEETINGS["neighbours pass through each other"] = ("..><....", "..<>....")


@pytest.mark.parametrize(("before", "after"), MEETINGS.values(), ids=MEETINGS)
def test_movers_of_the_kinetic_grid(kinetic, before, after):
    assert kinetic.text(kinetic.rule.step(kinetic.cells(before))) == after


def test_incoming_collisions_are_the_collisions_one_step_later(kinetic):
    incoming = kinetic.primitives["incoming_collisions"].bind(())
    collisions = kinetic.primitives["count"].bind(("X",))
    for state in product(range(4), repeat=5):
        assert incoming.total(state) == collisions.total(kinetic.rule.step(state))


def test_mutants_differ_in_exactly_one_entry(kinetic):
    mutants = list(kinetic.rule.mutants())
    assert len(mutants) == len(set(mutants)) == 64 * 3
    assert {sum(a != b for a, b in zip(each.table, kinetic.rule.table, strict=True)) for each in mutants} == {1}


def test_a_window_may_go_around_a_short_ring_more_than_once():
    ones = Additive(2, 3, tuple(int(index == 7) for index in range(8)), constant=10)
    assert [ones.total(ring) for ring in [(1,), (0,), (1, 1), (1, 0), (1, 1, 1, 0)]] == [11, 10, 12, 10, 11]


def test_a_run_holds_the_start_and_every_step():
    shift = Rule(2, tuple(left for left, _, _ in product((0, 1), repeat=3)))
    assert shift.run((1, 0, 0), 3) == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_a_step_reads_each_cell_and_its_neighbours_within_the_radius(radius):
    offsets = range(-radius, radius + 1)
    rule = Rule(2, tuple(number * number % 7 % 2 for number in range(2 ** len(offsets))))
    assert (rule.radius, rule.width) == (radius, len(offsets))
    for size in range(1, 9):
        for ring in product((0, 1), repeat=size):
            windows = ["".join(str(ring[(place + k) % size]) for k in offsets) for place in range(size)]
            assert rule.step(ring) == tuple(rule.table[int(window, 2)] for window in windows)
