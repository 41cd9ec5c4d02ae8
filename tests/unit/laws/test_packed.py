"""Rings in words: how they lie there, and when words are used."""

import numpy as np
import pytest

from specledger.laws import evolve
from specledger.laws.automaton import Additive, Rule
from specledger.laws.evolve import PackedTrajectory, evolve_best, evolve_packed, weigher
from specledger.laws.layout import Batch
from specledger.laws.planes import Words, build

TWO = Rule(2, (0, 1, 1, 0, 1, 0, 0, 1))
THREE = Rule(3, (0,) * 27)

LAYOUTS = {
    "short rings": ([3, 64], [3, 64], [0, 1]),
    "one of two words": ([65, 4], [33, 4, 32], [2, 1, 0]),
    "two long ones": ([129, 2, 128], [43, 2, 64, 43, 43, 64], [3, 1, 5, 4, 0, 2]),
}


@pytest.mark.parametrize(("sizes", "cells", "following"), LAYOUTS.values(), ids=LAYOUTS)
def test_how_rings_lie_in_words(sizes, cells, following):
    words = Words(np.array(sizes))
    assert words.cells.tolist() == cells
    assert words.following.tolist() == following
    assert words.preceding[words.following].tolist() == list(range(len(cells)))
    assert [int(mask).bit_count() for mask in words.masks] == cells


def test_a_cell_is_a_bit():
    words = Words(np.array([4, 3]))
    assert words.pack([bytes((1, 0, 2, 3)), bytes((0, 3, 1))], 2).tolist() == [[0b1001, 0b110], [0b1100, 0b010]]


USED = {
    "two symbols": (TWO, {}, True),
    "three symbols": (THREE, {}, False),
    "single cells are asked for": (TWO, {"cells": True}, False),
}


@pytest.mark.parametrize(("rule", "options", "expected"), USED.values(), ids=USED)
def test_when_words_are_used(rule, options, expected):
    found = evolve_best(Batch.of([(0, 1, 0)]), rule, 2, **options)
    assert isinstance(found, PackedTrajectory) is expected
    assert found.state(0, 2) == rule.run((0, 1, 0), 2)[-1]


def test_rules_of_their_own_and_large_trajectories_are_looked_up(monkeypatch):
    batch = Batch.of([(0, 1, 0)] * 2)
    changes = np.array([0, 1]), np.array([1, 0])
    assert not isinstance(evolve_best(batch, TWO, 2, changes), PackedTrajectory)
    monkeypatch.setattr(evolve, "MAX_WORDS", 5)
    assert not isinstance(evolve_best(batch, TWO, 2), PackedTrajectory)


def test_three_symbols_do_not_fit():
    with pytest.raises(ValueError, match="no planes for 3 symbols"):
        evolve_packed(Batch.of([(0, 1)]), THREE, 1)


def test_pieces_make_no_difference(monkeypatch):
    batch, measure = Batch.of([(0, 1, 1), (1,) * 70]), Additive(2, 2, (1, 5, -2, 0), 3)
    expected = evolve_packed(batch, TWO, 9).measure(measure).tolist()
    monkeypatch.setattr(evolve, "MAX_PIECE", 1)
    assert evolve_packed(batch, TWO, 9).measure(measure).tolist() == expected


WEIGHERS = {
    "a count": (Additive(4, 1, (0, 0, 1, 0)), 1),
    "a negative weight": (Additive(2, 2, (-3, 0, 0, 4)), 3),
    "always the same": (Additive(2, 1, (7, 7)), 0),
}


@pytest.mark.parametrize(("measure", "bits"), WEIGHERS.values(), ids=WEIGHERS)
def test_a_weight_is_a_number_in_bits(measure, bits):
    network = weigher(measure)
    assert network is not None
    assert len(network.outputs) == bits


@pytest.mark.parametrize(
    "measure",
    [Additive(3, 1, (0, 1, 2)), Additive(4, 5, (0,) * 4**5), Additive(2, 1, (0, 1 << 16))],
    ids=["3", "5", "17"],
)
def test_what_is_too_large_is_looked_up(measure):
    assert weigher(measure) is None


def test_a_network_knows_what_it_reads():
    assert build(3, [0b11001100]).used == {1}
    assert build(2, [0b0110]).used == {0, 1}


def test_a_window_wider_than_the_halo_is_refused():
    found = evolve.evolve(Batch.of([(0, 1, 0)], halo=1), TWO, 1)
    with pytest.raises(ValueError, match="halo of 2"):
        found.measure(Additive(2, 3, tuple(range(8))))
