"""Proposers that remember: equal observations lead to equal proposals, visits wear out, maps lead the way."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.run.loop import run
from tests.toys import shipped_plan

ONE = 1_000_000
AGENTS = ["greedy", "greedy-visits", "map-search"]


def plan(*settings, name="concave"):
    return shipped_plan(name, *settings)


def proposer(agent):
    return plan(f"agent={agent}")


def scores(made):
    return {proposal["action"]["dir"]: proposal["score"] for proposal in made}


# --- what a proposer may know


@st.composite
def twins(draw):
    """Two states of the world that look alike: they differ wherever the patch does not reach, in `bumps` and in `t`."""
    first = copy.deepcopy(plan().start(0))
    first["position"] = {"x": draw(st.integers(1, 9)), "y": draw(st.integers(1, 9))}
    first["goal"] = {"x": draw(st.integers(1, 9)), "y": draw(st.integers(1, 9))}
    second = copy.deepcopy(first)
    for y, row in enumerate(second["grid"]):
        for x in range(len(row)):
            if max(abs(x - first["position"]["x"]), abs(y - first["position"]["y"])) > 2:
                row[x] = draw(st.integers(0, 2))
    second["bumps"], second["t"] = draw(st.integers(0, 9)), draw(st.integers(0, 99))
    return first, second


@pytest.mark.medium
@pytest.mark.parametrize("agent", AGENTS)
@given(both=twins())
def test_worlds_that_look_alike_get_the_same_proposals(agent, both):
    acting = proposer(agent)
    observations = [acting.actors[0].observe(state) for state in both]
    assert observations[0] == observations[1]
    memories = [acting.actors[0].begin(observation) for observation in observations]
    made = [acting.actors[0].propose(*each) for each in zip(observations, memories, strict=True)]
    assert made[0] == made[1]
    after = [
        acting.actors[0].remember(*each, {"op": "move", "dir": "E"}, observations[0])
        for each in zip(observations, memories, strict=True)
    ]
    assert after[0] == after[1]


def drawing(rows):
    return 'map.drawing="' + "\\n".join(rows) + '"'


# --- the planner


def test_the_map_begins_with_the_first_patch_and_grows_with_what_is_seen():
    acting = proposer("map-search")
    state = acting.start(0)
    seen = acting.actors[0].observe(state)
    memory = acting.actors[0].begin(seen)
    x, y = state["position"]["x"], state["position"]["y"]
    assert [row[x - 2 : x + 3] for row in memory["known"][y - 2 : y + 3]] == [row[:5] for row in seen["local_patch"]]
    assert memory["known"][0] == [-1] * (x + 3)
    after = copy.deepcopy(state)
    after["position"]["x"] += 1
    later = acting.actors[0].remember(seen, memory, {"op": "move", "dir": "E"}, acting.actors[0].observe(after))
    assert [len(row) for row in later["known"]] == [x + 4] * (y + 3)


@pytest.mark.medium
def test_the_planner_goes_around_a_wall_that_it_has_seen_and_greedy_does_not():
    settings = ("episodes=1", "horizon=40", "drift=[]", "governor=lexicographic")
    ends = {}
    for agent in ("greedy", "map-search"):
        ends[agent] = [event.body for event in run(plan(*settings, f"agent={agent}")) if event.type == "episode_end"]
    assert [end["success"] for end in ends["map-search"]] == [True]
    assert [end["success"] for end in ends["greedy"]] == [False]


def test_a_plan_counts_what_was_never_seen_as_open():
    acting = proposer("map-search")
    seen = acting.actors[0].observe(acting.start(0))
    found = scores(acting.actors[0].propose(seen, acting.actors[0].begin(seen)))
    assert found["E"] == max(found.values()), "straight ahead, although a wall stands there unseen"
    assert found["E"] // ONE == -6 + 1, "six cells of way are left, and the whole bonus"


# --- exploration


@pytest.mark.parametrize("agent", AGENTS)
def test_without_budget_visits_count_for_nothing(agent):
    acting = proposer(agent)
    start = acting.actors[0].observe(acting.start(0))
    fresh = acting.actors[0].begin(start)
    worn = {**fresh, "visits": {f"{x},{y}": 7 for x in range(4) for y in range(9)}}
    broke = {**start, "b": 0}
    assert acting.actors[0].propose(broke, fresh) == acting.actors[0].propose(broke, worn)
    assert acting.actors[0].propose(start, fresh) != acting.actors[0].propose(start, worn)


def test_a_visit_counts_against_going_there_again_as_a_step_does():
    acting = proposer("greedy-visits")
    seen = acting.actors[0].observe(acting.start(0))
    x, y = seen["position"]["x"], seen["position"]["y"]
    memory = {**acting.actors[0].begin(seen), "visits": {f"{x + 1},{y}": 3}}
    found = scores(acting.actors[0].propose(seen, memory))
    assert found["E"] == -(seen["distance_to_goal"] - 1 + 3) * ONE
    assert found["N"] == -(seen["distance_to_goal"] + 1) * ONE
    assert found["Stay"] == -(seen["distance_to_goal"] + 1000) * ONE
    half = scores(acting.actors[0].propose({**seen, "b": memory["b_start"] // 2}, memory))
    assert half["E"] == -(seen["distance_to_goal"] - 1) * ONE - 3 * ONE // 2


# --- how long memory lasts


@pytest.mark.medium
@pytest.mark.parametrize("scope", ["run", "episode"])
def test_a_memory_of_the_run_is_worth_steps_from_the_second_episode_on_and_one_of_an_episode_is_not(scope):
    lasting = (f"agent.with.scope={scope}", f"governor.with.scope={scope}", "episodes=4", "horizon=40", "drift=[]")
    firsts = [event.body["first_success"] for event in run(plan(*lasting)) if event.type == "episode_end"]
    best = 16  # the seventeenth step is the shortest way
    assert firsts[0] > best
    assert firsts[1:] == ([best] * 3 if scope == "run" else [firsts[0]] * 3)
