"""How goals move: by drawn cells, one cell at a time, as far away as can be, or when they are reached."""

from functools import cache
from typing import Any

import pytest

from specledger.run.loop import run
from specledger.worlds.fields import distances
from tests.toys import shipped_plan

pytestmark = pytest.mark.slow

NAMES = {"goal-drift": "rooms", "goal-gradual": "chase", "goal-adversarial": "farthest", "goal-reached": "errands"}


@cache
def moves(scenario):
    """Each drift with the state before it, re-made from the receipts' own changes."""
    plan = shipped_plan(scenario, "episodes=3", "horizon=100")
    found, reached = [], False
    goal: Any = None
    position: Any = None
    grid: Any = None
    for event in run(plan):
        body = event.body
        if event.type == "episode":
            state = body["state"]
            goal, position, grid = state["goal"], state["position"], state["grid"]
            reached = position == goal
        elif event.type == "drift":
            ways = distances([[1 if code in (1, 2) else 0 for code in row] for row in grid], position)
            found.append((body, position, goal, ways, reached))
            goal = body["changed"].get("goal", {"to": goal})["to"]
        elif event.type == "step":
            reached = body["success"]
            position = {"x": body["record"]["place"] % 256, "y": body["record"]["place"] // 256}
    return found


@pytest.mark.parametrize("drift", NAMES)
def test_a_goal_moves_to_another_free_cell_that_can_be_reached(drift):
    found = moves(NAMES[drift])
    assert len(found) > 3
    for body, _, goal, ways, _ in found:
        to = body["changed"]["goal"]["to"]
        assert body["drift"] == drift
        assert body["drawn"] == {"to": to}
        assert to != goal
        assert ways[to["y"]][to["x"]] >= 0
        assert set(body["changed"]) == {"goal"}


def test_a_gradual_drift_goes_one_cell_at_a_time():
    for body, _, goal, _, _ in moves("chase"):
        to = body["changed"]["goal"]["to"]
        assert abs(to["x"] - goal["x"]) + abs(to["y"] - goal["y"]) == 1


def test_an_adversarial_drift_goes_where_the_way_is_longest():
    for body, _, goal, ways, _ in moves("farthest"):
        to = body["changed"]["goal"]["to"]
        longest = max(max(row) for row in ways)
        assert ways[to["y"]][to["x"]] == longest or ways[goal["y"]][goal["x"]] == longest


def test_a_new_goal_comes_when_the_old_one_was_reached_and_never_before():
    plan = shipped_plan("errands", "episodes=3", "horizon=100")
    reached = drifted = 0
    due = False
    for event in run(plan):
        if event.type == "episode":
            due = False
        elif event.type == "drift":
            assert due
            due, drifted = False, drifted + 1
        elif event.type == "step":
            assert not due, "a goal that was reached is replaced before the next step"
            due = event.body["success"]
            assert event.body["record"]["reached"] == due
            reached += due
    assert reached > 10
    assert reached - drifted <= 3


def test_an_episode_goes_on_to_the_horizon_whatever_is_reached():
    plan = shipped_plan("errands", "episodes=2", "horizon=70")
    ends = [event.body for event in run(plan) if event.type == "episode_end"]
    assert [(end["steps"], end["ended"], end["success"]) for end in ends] == [(70, "horizon", True)] * 2
