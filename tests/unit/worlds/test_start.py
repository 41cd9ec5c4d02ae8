"""Start states: from a world's values, a scenario's, a part's and a drawing's glyphs; and starts that make no sense."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.run.loop import run
from tests.toys import compile_specs, documents_of, findings_of, plan_of, shipped_plan

GRID: dict[str, Any] = {
    "constants": {"FREE": 0, "WALL": 1},
    "state": {
        "at": "cell",
        "end": "cell",
        "marks": {"type": "array", "items": "cell"},
        "grid": "field",
        "energy": "int",
    },
    "drawing": {
        "cells": "grid",
        "legend": {
            ".": {"cell": "FREE"},
            "#": {"cell": "WALL"},
            "S": {"cell": "FREE", "effects": [{"set": "at", "to": "here"}]},
            "G": {"cell": "WALL + 1", "effects": [{"set": "end", "to": "here"}]},
            "m": {
                "cell": "FREE",
                "effects": [{"append": "marks", "value": "here"}, {"set": "energy", "to": "here.x * 10"}],
            },
            "t": {"cell": "FREE", "effects": [{"set": "at", "to": "here", "when": "here.x > 1 && here.y == 0"}]},
        },
    },
    "start": {"marks": "[]", "energy": "3"},
    "well_formed": [
        {"id": "apart", "require": "at != end", "message": "start and end are the same cell"},
        {"id": "rested", "require": "energy >= 0"},
    ],
    "actions": {"rest": {}},
    "observe": {"energy": "energy"},
}
PLAIN: dict[str, Any] = {
    "state": {"x": "int", "kind": {"type": "integer", "minimum": 0, "maximum": 9}},
    "start": {"x": "1 + 1"},
    "actions": {"rest": {}},
    "observe": {"x": "x"},
}
AGENT = {"candidates": [{"op": "rest"}], "score": "0"}


@pytest.fixture
def make(tmp_path):
    """Compile a scenario of the given world; keywords go into the scenario."""

    return lambda world, **scenario: compile_specs(tmp_path, documents_of(world, AGENT, **scenario))


def drawing(*lines):
    return {"drawing": "\n".join(lines) + "\n"}


def test_glyphs_fill_the_matrix_and_set_fields_row_by_row(make):
    plan = make(GRID, map=drawing("S.#m", ".mG."))
    assert plan.start(0) == {
        "at": {"x": 0, "y": 0},
        "end": {"x": 2, "y": 1},
        "marks": [{"x": 3, "y": 0}, {"x": 1, "y": 1}],
        "grid": [[0, 0, 1, 0], [0, 0, 2, 0]],
        "energy": 10,
    }


def test_an_effect_of_a_glyph_happens_where_its_condition_holds(make):
    plan = make(GRID, map=drawing("tttttt", "t.Gttt"))
    assert plan.start(0)["at"] == {"x": 5, "y": 0}


def test_the_scenarios_values_replace_the_worlds_and_glyphs_replace_both(make):
    assert make(GRID, map=drawing("SG"), start={"energy": "FREE + 8"}).start(0)["energy"] == 8
    assert make(GRID, map=drawing("SGm"), start={"energy": "8"}).start(0)["energy"] == 20
    assert make(PLAIN, start={"kind": "9"}).start(0) == {"x": 2, "kind": 9}
    assert make(PLAIN, start={"kind": "9", "x": "7"}).start(0) == {"x": 7, "kind": 9}


def test_equal_episodes_start_equally_and_a_start_is_never_changed(make):
    plan = make(GRID, map=drawing("S.#m", ".mG."), episodes=3)
    before = copy.deepcopy(plan.start(0))
    starts = [event.body["state"] for event in run(plan) if event.type == "episode"]
    assert starts == [before] * 3
    assert plan.start(0) == before


MAPS: dict[str, Any] = {
    "lines of two lengths": (GRID, {"map": drawing("S..", "G.")}, "E_MAP", "line 2"),
    "a character that means nothing": (GRID, {"map": drawing("S.G", ".?.")}, "E_MAP_GLYPH", "'?' in column 1, row 1"),
    "a tabulator": (GRID, {"map": drawing("S.G", ".\t.")}, "E_MAP_GLYPH", "'\\t' in column 1, row 1"),
    "a glyph that is not there": (GRID, {"map": drawing("S..", "...")}, "E_START_INCOMPLETE", "end"),
    "two glyphs that are not there": (GRID, {"map": drawing("...")}, "E_START_INCOMPLETE", "at, end"),
    "no map": (GRID, {}, "E_START_INCOMPLETE", "at, end, grid"),
    "a condition with words": (
        {**GRID, "drawing": {"cells": "grid", "legend": {**GRID["drawing"]["legend"], "X": {
            "cell": "0", "effects": [{"set": "at", "to": "here"}, {"set": "end", "to": "here"}]}}}},
        {"map": drawing(".X.")}, "E_START_ILL_FORMED", "start and end are the same cell",
    ),
    "a condition without words": (GRID, {"map": drawing("S.G"), "start": {"energy": "-1"}}, "E_START_ILL_FORMED", "'rested'"),
    "a map for a world without drawing": (PLAIN, {"map": drawing("S"), "start": {"kind": "1"}}, "E_MAP", "takes no map"),
    "no start value": (PLAIN, {}, "E_START_INCOMPLETE", "kind"),
    "a generated map without room": (
        GRID, {"map": {"generate": [{"fill": ".", "width": 3, "height": 3}, {"place": "S", "over": "#"}]}}, "E_MAP", "no room",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPS)
def test_a_start_that_makes_no_sense(make, name):
    world, scenario, code, words = MAPS[name]
    (finding,) = findings_of(make, world, **scenario)
    assert finding.code == code
    assert words in finding.message
    lines = Path(finding.span.file).read_text().splitlines()
    assert finding.span.file.endswith("scenario.yaml")
    if "line" not in words and "column" not in words:  # those point into the drawing
        places = ("drawing:", "generate:") if "map" in scenario else ("world:", "start:")
        assert lines[finding.span.start.line - 1].strip().startswith(places)


# name: the lines of a drawing, and what is found: code, line of the file, first and last column, and where the other is
DRAWN: dict[str, Any] = {
    "an unknown character": (["S.G", ".?."], ("E_MAP_GLYPH", 10, 6, 7, None)),
    "a short line": (["S.G", "..", "..."], ("E_MAP", 10, 5, 7, None)),
    "two starts": (["S.G", "..S"], ("E_MAP_TWICE", 10, 7, 8, (9, 5))),
    "two characters for one thing": (["S.G", ".T."], ("E_MAP_TWICE", 10, 6, 7, (9, 5))),
    "two goals in a line": ([".GSG"], ("E_MAP_TWICE", 9, 8, 9, (9, 6))),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_finding_points_into_the_drawing(make, tmp_path, name):
    lines, (code, line, first, last, other) = DRAWN[name]
    legend = {**GRID["drawing"]["legend"], "T": {"cell": "FREE", "effects": [{"set": "at", "to": "here"}]}}
    world = {**GRID, "drawing": {"cells": "grid", "legend": legend}}
    make(world, map=drawing("S.G"))
    head = ["spec: scenario/v1", "name: scenario", "world: world", "governor: governor", "agent: agent", "horizon: 1"]
    body = "\n".join([*head, "map:", "  drawing: |", *(f"    {each}" for each in lines)])
    (tmp_path / "scenario" / "scenario.yaml").write_text(body + "\n")
    (finding,) = findings_of(plan_of, tmp_path / "scenario" / "scenario.yaml")
    span = finding.span
    assert span is not None
    assert (finding.code, span.start.line, span.start.column, span.end.column) == (code, line, first, last)
    assert [(place.start.line, place.start.column) for _, place in finding.related] == (
        [] if other is None else [other]
    )


def test_what_there_may_be_many_of_is_drawn_as_often_as_one_likes(make):
    """A glyph that does more than say where one thing is may stand on several cells; the last one's `set` stays."""
    assert make(GRID, map=drawing("SmGm")).start(0)["energy"] == 30


def test_two_starts_made_by_generators_are_a_finding_at_the_steps(make):
    steps = [
        {"fill": ".", "width": 4, "height": 3},
        {"scatter": "S", "over": ".", "count": 2},
        {"place": "G", "over": "."},
    ]
    (finding,) = findings_of(make, GRID, map={"generate": steps})
    assert finding.code == "E_MAP_TWICE"


AT_FAULT: dict[str, Any] = {
    "the scenario's value": ({}, {"start": {"kind": "3 * 4"}}, "scenario.yaml", "start", None),
    "the world's value": ({"start": {"x": "2", "kind": "12"}}, {}, "world.yaml", "start", None),
    "a condition": (
        {"well_formed": [{"id": "calm", "require": "kind < 5", "message": "too wild"}]},
        {"start": {"kind": "9"}},
        "scenario.yaml",
        "start",
        "world.yaml",
    ),
}


@pytest.mark.parametrize(("world", "scenario", "file", "key", "related"), AT_FAULT.values(), ids=AT_FAULT)
def test_a_wrong_start_is_found_where_its_value_stands(make, world, scenario, file, key, related):
    (finding,) = findings_of(make, {**PLAIN, **world}, **scenario)
    assert finding.code == "E_START_ILL_FORMED"
    assert finding.span.file.endswith(file)
    lines = Path(finding.span.file).read_text().splitlines()
    assert finding.span.start.line >= 1 + next(n for n, line in enumerate(lines) if line.startswith(f"{key}:"))
    assert [place.file.endswith(related) for _, place in finding.related] == ([True] if related else [])


def test_a_start_value_for_nothing(make):
    found = findings_of(make, PLAIN, start={"kind": "1", "kidn": "2"})
    assert [finding.code for finding in found] == ["E_START_INCOMPLETE"]
    assert "'kidn'" in found[0].message
    assert str(found[0].span).split(":")[-2] != "1"


UNCOMPUTABLE: dict[str, Any] = {
    "a world's start value": ({**PLAIN, "start": {"x": "1 / 0", "kind": "1"}}, {}, "world.yaml"),
    "a scenario's start value": (PLAIN, {"start": {"kind": "1 / 0"}}, "scenario.yaml"),
    "a glyph's code": (
        {**GRID, "drawing": {"cells": "grid", "legend": {".": {"cell": "1 / FREE"}}}}, {"map": drawing(".")}, "world.yaml",
    ),
    "a condition": (
        {**PLAIN, "well_formed": [{"id": "quotient", "require": "1 / (x - 2) > 0"}]}, {"start": {"kind": "1"}}, "world.yaml",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCOMPUTABLE)
def test_a_start_that_cannot_be_computed_is_a_finding(make, name):
    world, scenario, file = UNCOMPUTABLE[name]
    (finding,) = findings_of(make, world, **scenario)
    assert finding.code == "E_EVAL_DIVISION_BY_ZERO"
    assert file in str(finding.span)


def test_a_later_episode_without_a_start_is_an_error_of_that_episode_alone(make):
    """The first episode's map was looked at when compiling; a map that varies may turn out ill-formed later."""
    world = {
        **GRID,
        "well_formed": [{"id": "west", "require": "at.x < end.x", "message": "the end lies east of the start"}],
    }
    steps = [{"fill": ".", "width": 4, "height": 3}, {"place": "S", "over": "."}, {"place": "G", "over": "."}]
    plan = make(world, map={"generate": steps, "vary": "episode"}, episodes=12, seed=2)
    events = list(run(plan))
    kinds = {number: [e.type for e in events if e.body.get("episode") == number] for number in range(12)}
    broken = [number for number, types in kinds.items() if "error" in types]
    assert 0 not in broken
    assert 0 < len(broken) < 12
    for number, types in kinds.items():
        whole = ["error", "episode_end"] if number in broken else ["episode", "commit", "step", "episode_end"]
        assert types == whole
    assert {e.body["code"] for e in events if e.type == "error"} == {"E_START_ILL_FORMED"}
    assert events[-1].type == "end"


def test_a_drawn_start_value_out_of_its_range_is_named_with_the_range(make, tmp_path):
    world = {**PLAIN, "start": {**PLAIN["start"], "kind": "k"}, "draw": {"k": {"from": "[3, 3, 9, 12]", "stream": "k"}}}
    make(world, episodes=40)  # the first one's start is sound
    finished = execute(load(str(tmp_path / "scenario" / "scenario.yaml"))[0], tmp_path / "out")
    assert {one.detail for one in finished.incidents} == {"the start value of 'kind' is 12, not in its range 0..9"}


def test_a_map_that_varies_is_another_in_every_episode_and_the_same_in_every_run(make):
    steps = [{"fill": ".", "width": 9, "height": 9}, {"place": "S", "over": "."}, {"place": "G", "over": "."}]
    plan = make(GRID, map={"generate": steps, "vary": "episode"}, episodes=4, seed=3)
    starts = [plan.start(number) for number in range(4)]
    assert len({json.dumps(start) for start in starts}) > 1
    assert [plan.start(number) for number in range(4)] == starts
    fixed = make(GRID, map={"generate": steps}, episodes=4, seed=3)
    assert len({json.dumps(fixed.start(number)) for number in range(4)}) == 1


# --- the shipped gridworld

SHIPPED = {
    "a goal behind walls": (["#####", "#S#G#", "#####"], "E_START_ILL_FORMED", "no safe path joins start and goal"),
    "a goal behind hazards": (["#####", "#S!G#", "#####"], "E_START_ILL_FORMED", "no safe path joins start and goal"),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_gridworld_that_makes_no_sense(tmp_path, name):
    lines, code, words = SHIPPED[name]
    path = tmp_path / "wrong.yaml"
    body = {"extends": "hazard", "map": drawing(*lines)}
    path.write_text(yaml.safe_dump({"spec": "scenario/v1", "name": "wrong", **body}, sort_keys=False))
    assert len(findings_of(plan_of, path, code=code, words=words, file=str(path))) == 1


@pytest.mark.parametrize(("key", "cell", "words"), [
    ("goal", "{'x': 0, 'y': 0}", "the goal is not on a free cell"),
    ("goal", "{'x': 5, 'y': 1}", "the goal is not on a free cell"),
    ("position", "{'x': 0, 'y': 0}", "the start is not on a free cell"),
    ("goal", "{'x': 99, 'y': 1}", "the goal is not on a free cell"),
])  # fmt: skip
def test_start_and_goal_stand_on_free_cells(tmp_path, key, cell, words):
    """A wall, a hazard, and outside; without the glyph that would set the field again."""
    lines = ["##########", "#S...!...#", "#.......G#", "##########"]
    text = "\n".join(lines).replace("G" if key == "goal" else "S", ".")
    path = tmp_path / "wrong.yaml"
    body = {"spec": "scenario/v1", "name": "wrong", "extends": "hazard", "map": {"drawing": text}, "start": {key: cell}}
    path.write_text(yaml.safe_dump(body, sort_keys=False))
    assert [(found.code, found.message) for found in findings_of(plan_of, path)] == [("E_START_ILL_FORMED", words)]


@pytest.mark.parametrize("change", ["HEADROOM=1001", "HEADROOM=-1"])
def test_a_part_that_starts_outside_k(change):
    (finding,) = findings_of(shipped_plan, "hazard", f"world.constants.{change}")
    assert finding.code == "E_START_ILL_FORMED"
    assert finding.message == "the start state lies outside the admissible set K"
    assert "hazard.yaml" in str(finding.span)
