"""The gridworld and its governed runs, on maps drawn here: moves and observations by plain Python, and what never happens."""

import copy
from collections import deque
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.run.loop import run
from specledger.worlds.check import check_world
from specledger.worlds.emit import compile_between, compile_over, compile_predicate, compile_step
from tests.toys import shipped_plan

ONE = 1_000_000
MOVES = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}


@cache
def world():
    """The shipped gridworld without a kernel: its step, observation, record and success."""
    bundle = load("specs/world/hazard-gridworld.yaml")[0]
    diagnostics = Diagnostics()
    checked = check_world(bundle.main, bundle, diagnostics)
    diagnostics.raise_if_errors()
    assert checked is not None
    return (
        compile_step(checked),
        compile_over(checked, checked.observe),
        compile_between(checked, checked.record),
        compile_predicate(checked, checked.success, default=False),
    )


def cells(width, height):
    return st.fixed_dictionaries({"x": st.integers(0, width - 1), "y": st.integers(0, height - 1)})


@st.composite
def states(draw):
    """Any grid of codes, also one that the agent could walk out of, with the agent and the goal anywhere on it."""
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    grid = draw(
        st.lists(
            st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=width, max_size=width), min_size=height, max_size=height
        )
    )
    place = cells(width, height)
    return {
        "position": draw(place),
        "goal": draw(place),
        "grid": grid,
        "bumps": draw(st.integers(0, 9)),
        "t": draw(st.integers(0, 99)),
    }


def code(grid, x, y):
    """The code of a cell; outside the grid everything is wall."""
    return grid[y][x] if 0 <= y < len(grid) and 0 <= x < len(grid[0]) else 1


@pytest.mark.medium
@given(state=states(), direction=st.sampled_from(list(MOVES)))
def test_a_move_goes_where_no_wall_is_and_a_wall_counts_a_bump(state, direction):
    step, _, _, _ = world()
    kept = copy.deepcopy(state)
    after, outcome = step(state, "move", {"dir": direction}, {})
    x, y = state["position"]["x"] + MOVES[direction][0], state["position"]["y"] + MOVES[direction][1]
    wall = code(state["grid"], x, y) == 1
    moved = {} if wall else {"position": {"x": x, "y": y}}
    assert after == state | moved | {"t": state["t"] + 1, "bumps": state["bumps"] + wall}
    assert outcome == {}
    assert state == kept


@pytest.mark.medium
@given(state=states())
def test_an_observation_is_a_patch_a_beacon_and_the_distance(state):
    _, observe, _, _ = world()
    x, y = state["position"]["x"], state["position"]["y"]
    goal = (state["goal"]["x"], state["goal"]["y"])
    patch = [
        [3 if (x + dx, y + dy) == goal else code(state["grid"], x + dx, y + dy) for dx in range(-2, 3)]
        for dy in range(-2, 3)
    ]
    assert observe(state) == {
        "position": {"x": x, "y": y},
        "local_patch": patch,
        "goal_delta": {"x": goal[0] - x, "y": goal[1] - y},
        "distance_to_goal": abs(goal[0] - x) + abs(goal[1] - y),
    }


@given(state=states(), far=st.integers(0, 2))
def test_what_lies_beyond_the_patch_is_not_seen(state, far):
    _, observe, _, _ = world()
    other = copy.deepcopy(state)
    for y, row in enumerate(other["grid"]):
        for x in range(len(row)):
            if max(abs(x - state["position"]["x"]), abs(y - state["position"]["y"])) > 2:
                row[x] = far
    assert observe(other | {"bumps": 77, "t": 0}) == observe(state)


@given(state=states(), direction=st.sampled_from(list(MOVES)))
def test_the_figures_of_a_step(state, direction):
    step, _, record, success = world()
    after, outcome = step(state, "move", {"dir": direction}, {})

    def distance(of):
        return abs(of["position"]["x"] - of["goal"]["x"]) + abs(of["position"]["y"] - of["goal"]["y"])

    found = record(state, after, outcome)
    assert found["task_performance"] == distance(after)
    assert found["reward"] == distance(state) - distance(after)
    assert success(after) == (after["position"] == after["goal"])


# --- governed runs on random maps


def joined(grid, start, goal):
    seen, queue = {start}, deque([start])
    while queue:
        x, y = queue.popleft()
        for dx, dy in MOVES.values():
            cell = (x + dx, y + dy)
            if cell not in seen and grid[cell[1]][cell[0]] == 0:
                seen.add(cell)
                queue.append(cell)
    return goal in seen


@st.composite
def maps(draw):
    """A grid with a rim of walls, a start and a goal that a safe path joins."""
    width, height = draw(st.integers(4, 9)), draw(st.integers(4, 8))
    inner = st.lists(st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, 2]), min_size=width - 2, max_size=width - 2)
    grid = [[1] * width, *([1, *draw(inner), 1] for _ in range(height - 2)), [1] * width]
    places = [(x, y) for y in range(1, height - 1) for x in range(1, width - 1)]
    start, goal = draw(st.sampled_from(places)), draw(st.sampled_from(places))
    assume(start != goal)
    for x, y in (start, goal):
        grid[y][x] = 0
    assume(joined(grid, start, goal))
    return {"grid": grid, "position": {"x": start[0], "y": start[1]}, "goal": {"x": goal[0], "y": goal[1]}}


@cache
def hazard(every):
    return shipped_plan("hazard", f"drift.0.with.every={every}")


@pytest.mark.medium
@settings(max_examples=30)
@given(
    map_=maps(), seed=st.integers(0, 2**32), budget=st.sampled_from([0, 12, 60, 200]), every=st.sampled_from([3, 10])
)
def test_whatever_the_map_nothing_that_is_forbidden_happens(map_, seed, budget, every):
    """No hazard, no bump, no debt, no ascent of V, never outside K, never without an admissible action."""
    shipped = hazard(every)
    begin = shipped.start(0) | map_
    begin["coherence"] = begin["coherence"] | {"b": budget * ONE}
    plan = replace(shipped, start=lambda _episode: begin, seed=seed, episodes=2, horizon=30)
    state: dict[str, Any] = {}
    proposals: list[Any] = []
    charged = 0
    for event in run(plan):
        body = dict(event.body)
        if event.type == "episode":
            state, charged = body["state"], 0
        elif event.type == "drift":
            state = state | {name: change["to"] for name, change in body["changed"].items()}
        elif event.type == "commit":
            proposals = body["proposals"]
        elif event.type == "step":
            assert body["chosen"] is not None
            assert body["violations"] == []
            assert not any(decision["error"] for decision in body["decisions"])
            action = proposals[body["chosen"]]["action"]
            before, (state, _) = state, plan.actors[0].step(state, action["op"], action, body["inputs"])
            charged += body["inputs"]["charge"]
            assert state["grid"][state["position"]["y"]][state["position"]["x"]] == 0
            assert state["bumps"] == 0
            kernel = state["coherence"]
            assert kernel["b"] == budget * ONE - charged >= 0
            assert body["parts"]["coherence"]["dV"] <= 0
            assert body["parts"]["coherence"]["code"] == "ACCEPT"
            assert 0 <= min(kernel["rho"][0]) <= max(kernel["rho"][0]) <= 1000
            assert kernel["C"] == [[0, 0]]
            exhausted = body["inputs"]["charge"] == 0
            stayed = action["dir"] == "Stay"
            assert not exhausted or stayed or body["parts"]["coherence"]["dV"] < 0
            assert before["position"] != state["position"] or stayed
