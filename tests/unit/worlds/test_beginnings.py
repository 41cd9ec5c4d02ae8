"""What a checked world has of its beginning: values that are drawn once, start values, glyphs, and conditions in full."""

from typing import Any

import pytest

from tests.toys import compile_specs, documents_of, told_of
from tests.unit.worlds.test_start import AGENT, GRID, PLAIN, drawing

ONCE: dict[str, Any] = {
    **PLAIN,
    "state": {"x": "int"},
    "draw": {"luck": {"from": [5, 6], "once": "episode"}, "away": {"from": [7]}},
    "start": {"x": "away + LOW"},
    "constants": {"LOW": 1},
    "observe": {"x": "x", "luck": "luck"},
}


@pytest.fixture
def make(tmp_path):
    """Compile a scenario of the given world; keywords go into the scenario."""
    return lambda world, **scenario: compile_specs(tmp_path, documents_of(world, AGENT, **scenario))


def test_a_value_that_is_drawn_once_is_a_field_and_another_one_is_not(make):
    plan = make(ONCE, episodes=12)
    starts = [plan.start(episode) for episode in range(12)]
    assert {tuple(sorted(start)) for start in starts} == {("luck", "x")}
    assert {start["luck"] for start in starts} == {5, 6}
    assert {start["x"] for start in starts} == {8}


def test_a_start_value_may_read_what_is_drawn_once(make):
    plan = make({**ONCE, "start": {"x": "luck * 10"}}, episodes=6)
    assert all(start["x"] == 10 * start["luck"] for start in map(plan.start, range(6)))


def limited(**parts):
    """The map's world with another condition, or other parts."""
    return {**GRID, **parts}


LOW = {"map": drawing("S.G"), "start": {"energy": "-1"}}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a condition without words": (
        GRID,
        LOW,
        ["E_START_ILL_FORMED at `'S.G`: the start state breaks 'rested' | the condition that fails: `energy >= 0`"],
    ),
    "a condition with words": (
        limited(well_formed=[{"id": "rested", "require": "energy >= 0", "message": "it is tired"}]),
        LOW,
        ["E_START_ILL_FORMED at `'S.G`: it is tired | the condition that fails: `energy >= 0`"],
    ),
    "the first of two that are broken": (
        limited(well_formed=[{"id": "a", "require": "energy > 0"}, {"id": "b", "require": "energy > 1"}]),
        LOW,
        ["E_START_ILL_FORMED at `'S.G`: the start state breaks 'a' | the condition that fails: `energy > 0`"],
    ),
    "a start value of the state": (
        {**PLAIN, "start": {"x": "kind + 1"}},
        {"start": {"kind": "1"}},
        ["E_EXPR_UNKNOWN_NAME at `kind`: unknown name `kind`"],
    ),
}


@pytest.mark.parametrize(("world", "scenario", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_said_of_a_start_that_is_refused(make, world, scenario, told):
    found = told_of(make, world, **scenario)
    assert [text.partition(" | hint")[0] for text in found] == told


SIZES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "of fields": ({"width": "w", "height": "h"}, {"w": 3, "h": 2}),
    "of fields inside": ({"width": "size.x", "height": "size.y"}, {"size": {"x": 3, "y": 2}}),
    "of one field": ({"height": "h"}, {"h": 2}),
}


@pytest.mark.parametrize(("written", "size"), SIZES.values(), ids=SIZES)
def test_the_size_of_a_map_is_put_into_fields(make, written, size):
    state = {"grid": "field", **{name: "cell" if name == "size" else "int" for name in size}}
    world: dict[str, Any] = {
        "state": state,
        "start": {"size": "{'x': 0, 'y': 0}"} if "size" in size else {},
        "drawing": {"cells": "grid", **written, "legend": {".": {"cell": "0"}}},
        "actions": {"rest": {}},
        "observe": {"grid": "grid"},
    }
    assert make(world, map=drawing("...", "...")).start(0) == {"grid": [[0, 0, 0], [0, 0, 0]], **size}
