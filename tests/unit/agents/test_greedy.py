"""The shipped greedy agent: exact scores, a bonus that only breaks ties, claims, memory, and nothing hidden."""

import copy
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toys import shipped_plan

ONE = 1_000_000
MOVES = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}


def plan(*settings, name="hazard"):
    return shipped_plan(name, *settings)


COORDINATES = st.fixed_dictionaries({"x": st.integers(0, 20), "y": st.integers(0, 20)})
DELTAS = st.fixed_dictionaries({"x": st.integers(-20, 20), "y": st.integers(-20, 20)})
PATCHES = st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=5, max_size=5)


@st.composite
def situations(draw):
    """An observation with a memory that has visited some of the cells around."""
    start = draw(st.integers(0, 9_000_000 * ONE))
    position, delta = draw(COORDINATES), draw(DELTAS)
    seen = {
        "position": position,
        "local_patch": draw(PATCHES),
        "goal_delta": delta,
        "distance_to_goal": abs(delta["x"]) + abs(delta["y"]),
        "b": draw(st.integers(0, start)),
        "V_coh": 0,
    }
    near = [f"{position['x'] + dx},{position['y'] + dy}" for dx, dy in MOVES.values()]
    counts = st.integers(0, 9) | st.integers(0, 10**6)
    return seen, {"visits": draw(st.dictionaries(st.sampled_from(near), counts)), "b_start": start}


def destination(seen, direction):
    dx, dy = MOVES[direction]
    if seen["local_patch"][2 + dy][2 + dx] == 1:
        dx = dy = 0
    return {"x": seen["position"]["x"] + dx, "y": seen["position"]["y"] + dy}


def distance_left(seen, to):
    goal = {axis: seen["position"][axis] + seen["goal_delta"][axis] for axis in "xy"}
    return abs(goal["x"] - to["x"]) + abs(goal["y"] - to["y"])


def bonus(seen, memory, to):
    """alpha / sqrt(N + 1) in millionths, every division rounded down."""
    alpha = min(ONE, seen["b"] * ONE // memory["b_start"]) if memory["b_start"] else 0
    visited = memory["visits"].get(f"{to['x']},{to['y']}", 0)
    return alpha * isqrt(ONE * ONE // (visited + 1)) // ONE


@given(situation=situations())
def test_every_move_is_proposed_with_its_exact_claims_and_score(situation):
    seen, memory = situation
    kept = copy.deepcopy(situation)
    proposals = plan().actors[0].propose(seen, memory)
    assert [proposal["action"] for proposal in proposals] == [{"op": "move", "dir": direction} for direction in MOVES]
    for proposal in proposals:
        to = destination(seen, proposal["action"]["dir"])
        left = distance_left(seen, to)
        assert proposal == {
            "action": proposal["action"],
            "expected_next_position": to,
            "V_task_proposal": left,
            "score": bonus(seen, memory, to) - ONE * left,
        }
    assert (seen, memory) == kept


@given(situation=situations())
def test_the_bonus_never_reverses_a_strict_preference(situation):
    proposals = plan().actors[0].propose(*situation)
    for one in proposals:
        for other in proposals:
            if one["V_task_proposal"] < other["V_task_proposal"]:
                assert one["score"] > other["score"]


@given(situation=situations())
def test_without_budget_there_is_no_bonus(situation):
    seen, memory = situation
    for proposal in plan().actors[0].propose(seen | {"b": 0}, memory):
        assert proposal["score"] == -ONE * proposal["V_task_proposal"]


ROOM = [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 3]]


def scores(b, visits, b_start=200 * ONE):
    """Scores at 2,2 with the goal at 4,4: south and east are equally good."""
    delta = {"x": 2, "y": 2}
    seen = {"position": delta, "local_patch": ROOM, "goal_delta": delta, "distance_to_goal": 4, "b": b, "V_coh": 0}
    found = plan().actors[0].propose(seen, {"visits": visits, "b_start": b_start})
    return {proposal["action"]["dir"]: proposal["score"] for proposal in found}


# by hand: isqrt(10^12 / (N + 1)) is 1000000, 707106, 577350, 500000 for N = 0, 1, 2, 3
TABLE = {
    "nothing visited, all of the budget": (200, {}, {"N": -4_000_000, "S": -2_000_000, "E": -2_000_000, "Stay": -3_000_000}),
    "one visit to the south": (200, {"2,3": 1}, {"S": -3_000_000 + 707_106, "E": -2_000_000}),
    "two to the east": (200, {"3,2": 2}, {"S": -2_000_000, "E": -3_000_000 + 577_350}),
    "half of the budget": (100, {"2,3": 3}, {"S": -3_000_000 + 250_000, "E": -2_500_000}),
    "a little of the budget": (1, {"2,3": 1}, {"S": -3_000_000 + 3_535, "E": -2_995_000}),
    "here before": (200, {"2,2": 3}, {"Stay": -3_500_000, "N": -4_000_000}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_scores_by_hand(name):
    b, visits, expected = TABLE[name]
    found = scores(b * ONE, visits)
    assert {direction: found[direction] for direction in expected} == expected


def test_the_bonus_differs_between_actions_by_the_cell_that_each_leads_to():
    found = scores(200 * ONE, {"2,1": 1, "2,3": 2, "3,2": 3, "1,2": 4, "2,2": 5})
    distances = {"N": 5, "S": 3, "E": 3, "W": 5, "Stay": 4}
    assert [found[d] + ONE * distances[d] for d in MOVES] == [707_106, 577_350, 500_000, 447_213, 408_248]


def test_the_bonus_decides_between_equals():
    """South comes first among equals; after one visit to the south, east is better."""
    assert max(MOVES, key=scores(200 * ONE, {}).__getitem__) == "S"
    assert max(MOVES, key=scores(200 * ONE, {"2,3": 1}).__getitem__) == "E"
    assert max(MOVES, key=scores(0, {"2,3": 1}).__getitem__) == "S"


# --- memory


def test_arrivals_are_counted_and_staying_is_not():
    made = plan()
    seen = made.actors[0].observe(made.start(0))
    memory = {"visits": {"2,1": 4}, "b_start": 200 * ONE}
    kept = copy.deepcopy(memory)
    later = seen | {"position": {"x": 2, "y": 1}}
    for direction, visits in (("E", {"2,1": 5}), ("Stay", {"2,1": 4})):
        action = {"op": "move", "dir": direction}
        assert made.actors[0].remember(seen, memory, action, later) == {"visits": visits, "b_start": 200 * ONE}
        assert made.actors[0].writes(seen, memory, action) == (0 if direction == "Stay" else 1)
    assert memory == kept
    assert made.actors[0].remember(seen, memory, {"op": "move", "dir": "S"}, seen)["visits"] == {"2,1": 4, "1,1": 1}


# --- nothing hidden


def test_an_observation_has_these_fields_and_no_others():
    seen = plan().actors[0].observe(plan().start(0))
    assert sorted(seen) == ["V_coh", "b", "distance_to_goal", "goal_delta", "local_patch", "position"]


@pytest.mark.medium
@given(data=st.data())
def test_states_that_look_alike_are_answered_alike(data):
    """What lies outside the patch, the bumps, the time and the kernel's fields make no difference."""
    made = plan()
    state = made.start(0) | {"position": {"x": 4, "y": 3}}
    other = copy.deepcopy(state)
    for y, row in enumerate(other["grid"]):
        for x in range(len(row)):
            if abs(x - 4) > 2 or abs(y - 3) > 2:
                row[x] = data.draw(st.integers(0, 2))
    other |= {"bumps": data.draw(st.integers(0, 9)), "t": data.draw(st.integers(0, 99))}
    other["coherence"] |= {"rho": [[data.draw(st.integers(0, 1000)), 3]], "t": 7}
    assert made.actors[0].observe(other) == made.actors[0].observe(state)
    memory = made.actors[0].begin(made.actors[0].observe(state))
    assert made.actors[0].propose(made.actors[0].observe(other), memory) == made.actors[0].propose(
        made.actors[0].observe(state), memory
    )


@given(situation=situations())
def test_the_same_observation_and_memory_give_the_same_proposals(situation):
    seen, memory = situation
    first = plan().actors[0].propose(seen, memory)
    plan().actors[0].propose(seen | {"position": {"x": 0, "y": 0}}, {"visits": {"0,0": 3}, "b_start": 1})
    assert plan().actors[0].propose(copy.deepcopy(seen), copy.deepcopy(memory)) == first
