"""Functions over cells: each against a definition by brute force, and against sizes that somebody hostile would give."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.expr import EvaluationError
from specledger.worlds.cells import (
    cells_by_distance,
    cells_mask,
    dilate,
    fresh,
    reach,
    ring,
    wall_edits,
)
from specledger.worlds.fields import Cell, Field, distances
from tests.conftest import examples

SIDE = 7

spots = st.builds(lambda x, y: Cell(x=x, y=y), st.integers(0, SIDE - 1), st.integers(0, SIDE - 1))
lists = st.lists(spots, max_size=14, unique_by=lambda cell: (cell["x"], cell["y"]))


def apart(p: Cell, q: Cell) -> int:
    return abs(p["x"] - q["x"]) + abs(p["y"] - q["y"])


def everywhere(side: int) -> list[Cell]:
    return [{"x": x, "y": y} for y in range(side) for x in range(side)]


@given(spots, st.integers(0, 9))
def test_a_ring_and_a_ball_are_what_their_distances_say(p: Cell, n: int) -> None:
    around = everywhere(SIDE + 10)
    assert ring(p, n) == [q for q in around if apart(p, q) == n]
    assert cells_by_distance(p, n) == sorted((q for q in around if apart(p, q) <= n), key=lambda q: apart(p, q))


@given(lists, st.integers(0, SIDE), st.integers(0, SIDE))
def test_a_mask_is_one_at_the_cells_inside(cells: list[Cell], width: int, height: int) -> None:
    field = cells_mask(cells, width, height)
    assert field == [[int({"x": x, "y": y} in cells) for x in range(width)] for y in range(height)]


@given(lists, st.integers(0, 5))
def test_dilation_is_nearness(cells: list[Cell], n: int) -> None:
    near = [q for q in everywhere(SIDE) if any(apart(q, cell) <= n for cell in cells)]
    field = cells_mask(cells, SIDE, SIDE)
    assert dilate(field, n) == cells_mask(near, SIDE, SIDE)
    assert field == cells_mask(cells, SIDE, SIDE)


@given(lists, spots, st.integers(0, 8))
def test_a_reach_counts_short_distances(walls: list[Cell], p: Cell, n: int) -> None:
    blocked = cells_mask(walls, SIDE, SIDE)
    assert reach(blocked, p, n) == sum(0 <= d <= n for row in distances(blocked, p) for d in row)


@settings(max_examples=examples(60))
@given(lists, lists, spots, st.integers(0, 3))
def test_edited_walls_give_the_wanted_reach_and_spare_what_is_kept(
    walls: list[Cell], kept: list[Cell], p: Cell, n: int
) -> None:
    walls = [wall for wall in walls if wall != p and wall not in kept]
    blocked = cells_mask(walls, SIDE, SIDE)
    for wanted in range(27):
        for edited in wall_edits(walls, blocked, p, n, wanted, kept):
            field = cells_mask(edited, SIDE, SIDE)
            assert reach(field, p, n) == wanted
            assert not [cell for cell in (*kept, p) if cell in edited]
            assert sum(map(sum, field)) == len(edited)
            assert all(apart(cell, p) <= n for cell in (*walls, *edited) if (cell in walls) != (cell in edited))
    assert walls in wall_edits(walls, blocked, p, n, reach(blocked, p, n), kept)


def test_on_an_open_grid_every_reach_can_be_had() -> None:
    for wanted in range(1, 26):
        assert wall_edits([], cells_mask([], SIDE, SIDE), {"x": 3, "y": 3}, 3, wanted, [])
    shut: list[Cell] = [{"x": 3, "y": 2}, {"x": 4, "y": 3}, {"x": 3, "y": 4}, {"x": 2, "y": 3}]
    for wanted in range(1, 26):
        assert wall_edits(shut, cells_mask(shut, SIDE, SIDE), {"x": 3, "y": 3}, 3, wanted, [])


@given(st.text(max_size=3), st.lists(st.sampled_from(["a-1", "a-2", "a-3", "a-5", "b", "-1"])))
def test_a_fresh_id_is_the_first_free_one(prefix: str, taken: list[str]) -> None:
    found = fresh(prefix, taken)
    number = int(found.removeprefix(f"{prefix}-"))
    assert found not in taken
    assert all(f"{prefix}-{n}" in taken for n in range(1, number))


NOWHERE: Cell = {"x": 2**62, "y": -(2**62)}
BIG: Field = [[0] * 256 for _ in range(256)]
HOSTILE: dict[str, tuple[Any, ...]] = {
    "a ring too wide": (ring, NOWHERE, 513),
    "a ring of negative radius": (ring, NOWHERE, -1),
    "a ball too wide": (cells_by_distance, NOWHERE, 65),
    "a mask too wide": (cells_mask, [], 257, 1),
    "a mask too high": (cells_mask, [], 1, 2**62),
    "a mask of negative size": (cells_mask, [], -1, 1),
    "a dilation too far": (dilate, BIG, 65),
    "a reach too far": (reach, BIG, {"x": 0, "y": 0}, 65),
    "edits too far": (wall_edits, [], BIG, {"x": 0, "y": 0}, 5, 1, []),
    "a prefix too long": (fresh, "x" * 65_001, []),
}


@pytest.mark.parametrize("call", HOSTILE.values(), ids=HOSTILE)
def test_a_size_beyond_the_bound_is_an_evaluation_error(call: tuple[Any, ...]) -> None:
    function, *args = call
    with pytest.raises(EvaluationError, match="E_EVAL_ARGUMENT"):
        function(*args)


@pytest.mark.medium
def test_the_greatest_sizes_are_served() -> None:
    cells = everywhere(256)
    assert len(ring({"x": 600, "y": 600}, 512)) == 4 * 512
    assert len(cells_by_distance({"x": 128, "y": 128}, 64)) == 2 * 64 * 65 + 1
    assert cells_mask(cells, 256, 256) == [[1] * 256] * 256
    assert dilate(cells_mask(cells[:1], 256, 256), 64)[32][32] == 1
    assert reach(BIG, {"x": 128, "y": 128}, 64) == 2 * 64 * 65 + 1
    assert reach([], {"x": 0, "y": 0}, 3) == reach(BIG, NOWHERE, 3) == 0
    assert reach([[0], []], {"x": 0, "y": 0}, 3) == 1
    edits = wall_edits(cells[1:], cells_mask(cells[1:], 256, 256), {"x": 0, "y": 0}, 4, 15, [])
    assert [len(cells) - 1 - len(walls) for walls in edits][:1] == [14]
    assert wall_edits([], BIG, {"x": 9, "y": 9}, 4, 99, []) == []
