"""Rows of rings: layouts by example, and limits."""

import numpy as np
import pytest

from specledger.laws.automaton import Additive, Rule
from specledger.laws.evolve import evolve, windows
from specledger.laws.layout import Batch, Layout
from specledger.laws.primitive import Scan
from specledger.laws.transform import Image

COPY_LEFT = Rule(2, tuple(entry >> 2 for entry in range(8)))


def test_where_rings_stand():
    layout = Layout(np.array([3, 1]), halo=2)
    assert layout.starts.tolist() == [1, 7]
    assert layout.width == 11
    assert layout.columns.tolist() == [1, 2, 3, 7]
    assert layout.places.tolist() == [0, 1, 2, 0]
    assert layout.owner.tolist() == [0] * 6 + [1] * 5
    assert Batch.of([(1, 2, 3), (4,)], 2).row.tolist() == [3, 1, 2, 3, 1, 2, 4, 4, 4, 4, 0]


def test_a_ring_turns():
    found = evolve(Batch.of([(1, 0, 0), (1, 1, 0, 0)]), COPY_LEFT, 3)
    assert [found.state(0, step) for step in range(4)] == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    assert found.state(1, 2) == (0, 0, 1, 1)
    assert found.changed().tolist() == [True, True]
    assert found.filled(0).tolist() == [1, 2]


def test_what_stays_is_not_changed():
    found = evolve(Batch.of([(0, 0), (1, 0)]), COPY_LEFT, 0)
    assert found.changed().tolist() == [False, False]
    assert found.crossed(0).tolist() == [False, True]


def test_a_window_wider_than_the_halo_is_refused():
    found = evolve(Batch.of([(0, 1, 0)], halo=1), COPY_LEFT, 1)
    with pytest.raises(ValueError, match="halo of 2"):
        found.measure(Additive(2, 3, tuple(range(8))))


@pytest.mark.parametrize(("width", "dtype"), [(2, np.uint8), (8, np.uint8), (9, np.uint16), (16, np.uint16)])
def test_windows_are_as_narrow_as_they_can_be(width, dtype):
    found = windows(np.ones((1, 20), dtype=np.uint8), width, 2)
    assert (found.dtype, int(found[0, 0])) == (dtype, 2**width - 1)


SCANS = {"first": [-1, 0, 1], "last": [-1, 0, 4], "extent": [-1, 0, 3], "longest": [0, 1, 2]}


@pytest.mark.parametrize(("form", "values"), SCANS.items())
def test_scans(form, values):
    found = evolve(Batch.of([(0, 0), (1, 0, 0), (0, 1, 0, 1, 1)]), COPY_LEFT, 0)
    assert found.measure(Scan(form, (False, True))).tolist() == [values]


def test_an_image_is_reflected_then_turned_then_mapped():
    batch = Batch.of([(0, 1, 2), (2,)]).transformed(Image(True, 1, (1, 2, 0)))
    assert batch.states == (bytes((1, 0, 2)), bytes((0,)))
    assert batch.states[0] == bytes(Image(True, 1, (1, 2, 0)).of((0, 1, 2)))
