"""Generator steps that place things near, far, in a part of the map or as a picture, and maps of worlds without codes."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from specledger.core.diagnostics import Diagnostics
from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.lang.scope import Fields
from specledger.spec.scenario import Map
from specledger.worlds.check import check_world
from specledger.worlds.maps import Grid, MapError, make, read_drawing
from specledger.worlds.start import starter
from tests.conftest import examples

FILL = {"fill": ".", "width": 9, "height": 7}


def generated(*steps: dict[str, Any], seed: int = 0) -> Grid:
    return make(Map.model_validate({"generate": [FILL, *steps]}), Stream.named(seed, "map", 0))


def cells(grid: Grid, character: str) -> list[tuple[int, int]]:
    return [(x, y) for y, row in enumerate(grid) for x, held in enumerate(row) if held == character]


def nearest(grid: Grid, place: tuple[int, int], character: str) -> int:
    return min(abs(place[0] - x) + abs(place[1] - y) for x, y in cells(grid, character))


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32), st.integers(-1, 4), st.integers(2, 6), st.integers(1, 3))
def test_a_thing_is_placed_as_near_and_as_far_as_wanted(seed: int, beyond: int, more: int, count: int) -> None:
    bounds = {"within": beyond + more} | ({"beyond": beyond} if beyond >= 0 else {})
    grid = generated(
        {"scatter": "S", "over": ".", "count": count}, {"place": "c", "over": ".", "of": "S", **bounds}, seed=seed
    )
    [placed] = cells(grid, "c")
    assert max(beyond + 1, 1) <= nearest(grid, placed, "S") <= beyond + more


def test_every_cell_that_fits_is_drawn_sooner_or_later() -> None:
    fixed = [{"place": "S", "over": ".", "columns": [4, 4], "rows": [3, 3]}]
    found = {
        cells(generated(*fixed, {"place": "c", "over": ".", "of": "S", "within": 2, "beyond": 1}, seed=seed), "c")[0]
        for seed in range(200)
    }
    assert found == {(x, y) for x in range(9) for y in range(7) if abs(x - 4) + abs(y - 3) == 2}


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_columns_and_rows_are_kept(seed: int) -> None:
    [(x, y)] = cells(generated({"place": "c", "over": ".", "columns": [2, 3], "rows": [5, 200]}, seed=seed), "c")
    assert (2 <= x <= 3, 5 <= y <= 6) == (True, True)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_a_stamp_is_a_picture_whose_spaces_leave_cells_alone(seed: int) -> None:
    ground = {"scatter": "x", "over": ".", "count": 6}
    before, after = generated(ground, seed=seed), generated(ground, {"stamp": ["#!", "! "], "over": "."}, seed=seed)
    [(x, y)] = cells(after, "#")
    assert cells(after, "!") == [(x + 1, y), (x, y + 1)]
    assert {(a, b) for b in range(7) for a in range(9) if before[b][a] != after[b][a]} == {
        (x, y),
        (x + 1, y),
        (x, y + 1),
    }


@pytest.mark.parametrize("corner", [(0, 0), (7, 5), (7, 0), (0, 5)])
def test_a_stamp_may_touch_every_edge(corner: tuple[int, int]) -> None:
    x, y = corner
    grid = generated({"stamp": ["ab", "cd"], "over": ".", "columns": [x, x], "rows": [y, y]})
    assert [cells(grid, drawn) for drawn in "abcd"] == [[(x, y)], [(x + 1, y)], [(x, y + 1)], [(x + 1, y + 1)]]


IMPOSSIBLE: dict[str, tuple[dict[str, Any], ...]] = {
    "nothing to be near to": ({"place": "c", "over": ".", "of": "S", "within": 3},),
    "nothing to be far from": ({"place": "c", "over": ".", "of": "S", "beyond": 3},),
    "nowhere so far": (
        {"place": "S", "over": ".", "columns": [4, 4], "rows": [3, 3]},
        {"place": "c", "over": ".", "of": "S", "beyond": 7},
    ),
    "no room in the columns": ({"place": "c", "over": ".", "columns": [9, 20]},),
    "columns the wrong way round": ({"place": "c", "over": ".", "columns": [5, 2]},),
    "a stamp wider than the map": ({"stamp": ["#" * 10], "over": "."},),
    "a stamp over what is not there": ({"stamp": ["#"], "over": "x"},),
    "a stamp with no room in the rows": ({"stamp": ["#", "#"], "over": ".", "rows": [6, 6]},),
}


@pytest.mark.medium
@pytest.mark.parametrize("steps", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_step_without_room_is_told(steps: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(MapError, match="no room"):
        generated(*steps)


MALFORMED: dict[str, dict[str, Any]] = {
    "near to nothing": {"place": "c", "over": ".", "within": 3},
    "of something, but how far": {"place": "c", "over": ".", "of": "S"},
    "a ragged stamp": {"stamp": ["##", "#"], "over": "."},
    "an empty stamp": {"stamp": [], "over": "."},
    "a stamp of nothing": {"stamp": [""], "over": "."},
    "a stamp too wide": {"stamp": ["#" * 17], "over": "."},
    "one column": {"place": "c", "over": ".", "columns": [1]},
    "columns of no map": {"place": "c", "over": ".", "columns": [0, 256]},
}


@pytest.mark.parametrize("step", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_step_is_refused_by_its_shape(step: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        generated(step)


@pytest.mark.medium
def test_the_greatest_map_is_measured() -> None:
    steps = [
        {"fill": ".", "width": 256, "height": 256},
        {"place": "S", "over": ".", "columns": [0, 0], "rows": [0, 0]},
        {"place": "c", "over": ".", "of": "S", "beyond": 509},
    ]
    assert cells(make(Map.model_validate({"generate": steps}), Stream.named(0, "map", 0)), "c") == [(255, 255)]


ROOM: dict[str, Any] = {
    "state": {
        "extent": {"type": "object", "properties": {"w": "int", "h": "int"}},
        "walls": {"type": "array", "items": "cell"},
    },
    "start": {"walls": "[]"},
    "drawing": {
        "width": "extent.w",
        "height": "extent.h",
        "legend": {".": {}, "#": {"effects": [{"append": "walls", "value": "here"}]}},
    },
    "actions": {"wait": {}},
}


def room(folder: Path, **drawing: Any) -> tuple[Any, list[str]]:
    document = {"spec": "world/v1", "name": "room", **ROOM, "drawing": ROOM["drawing"] | drawing}
    (folder / "room.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    bundle = load(folder / "room.yaml")[0]
    found = Diagnostics()
    return check_world(bundle.main, bundle, found), [one.code for one in found.sorted()]


def test_a_map_becomes_lists_and_its_size(tmp_path: Path) -> None:
    world, found = room(tmp_path)
    assert found == []
    state = starter(world, Fields()).state(read_drawing("..#\n#..\n"))
    assert state == {"extent": {"w": 3, "h": 2}, "walls": [{"x": 2, "y": 0}, {"x": 0, "y": 1}]}


WRONG: dict[str, dict[str, Any]] = {
    "a size that is no int": {"width": "walls"},
    "a size that is nowhere": {"height": "extent.d"},
    "a size beyond a list": {"height": "walls.x"},
    "codes without cells": {"legend": {".": {"cell": "0"}}},
    "cells that are no field": {"cells": "walls", "legend": {".": {"cell": "0"}}},
}


@pytest.mark.parametrize("drawing", WRONG.values(), ids=WRONG)
def test_a_drawing_that_does_not_fit_the_state_is_found(tmp_path: Path, drawing: dict[str, Any]) -> None:
    _, found = room(tmp_path, **drawing)
    assert found == ["E_WORLD_START"]
