"""One step of a ring, its single-entry mutants, and sums over windows."""

from itertools import product

import pytest

from specledger.wings.laws.automaton import Rule

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


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_a_step_reads_each_cell_and_its_neighbours_within_the_radius(radius):
    offsets = range(-radius, radius + 1)
    rule = Rule(2, tuple(number * number % 7 % 2 for number in range(2 ** len(offsets))))
    assert (rule.radius, rule.width) == (radius, len(offsets))
    for size in range(1, 9):
        for ring in product((0, 1), repeat=size):
            windows = ["".join(str(ring[(place + k) % size]) for k in offsets) for place in range(size)]
            assert rule.step(ring) == tuple(rule.table[int(window, 2)] for window in windows)
