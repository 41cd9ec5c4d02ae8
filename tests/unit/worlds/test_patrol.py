"""A hazard that moves: the filter that looks one step ahead is caught by it, the viability kernel never is."""

from functools import cache

import pytest

from specledger.core.verdict import Verdict
from specledger.evidence.result import Tally
from specledger.run.loop import run
from specledger.worlds.paths import digest_of, viability
from tests.toys import findings_of, shipped_plan

pytestmark = pytest.mark.slow

AGENTS = ["greedy", "greedy-visits"]


def plan(*settings):
    return shipped_plan("patrol", *settings)


@cache
def outcome(*settings):
    """The result of a run, and its episodes' ends."""
    tally, ends = Tally(), []
    for event in run(plan(*settings)):
        tally.add(event.type, event.body)
        if event.type == "episode_end":
            ends.append(event.body["ended"])
    return tally, ends


@pytest.mark.parametrize("agent", AGENTS)
def test_the_one_step_filter_dies(agent):
    tally, ends = outcome(f"agent={agent}", "governor=one-step", "episodes=5", "horizon=100")
    assert tally.verdict == Verdict.FAIL
    assert tally.result()["violations"] == {"no-patrol-met": ends.count("fatal")}
    assert ends.count("fatal") > 0
    assert tally.result()["rejections"]["patrol"] > 0, "it did look ahead"


@pytest.mark.parametrize("agent", AGENTS)
def test_the_viability_kernel_does_not(agent):
    tally, ends = outcome(f"agent={agent}", "episodes=5", "horizon=100")
    assert tally.verdict == Verdict.PASS
    assert ends == ["horizon"] * 5
    assert tally.result()["rejections"]["viable"] > 0, "the agent did ask for what the kernel forbids"


def test_inside_the_kernel_there_is_always_a_way_to_stay_inside():
    acting = plan()
    start = acting.start(0)
    size = len(start["route"])
    deadly = [[start["route"][i], start["route"][i - 1]] for i in range(size)]
    safe = viability([[1 if code else 0 for code in row] for row in start["grid"]], deadly)
    for beat in range(size):
        for y, row in enumerate(safe[beat]):
            for x, held in enumerate(row):
                if held:
                    here = start | {"position": {"x": x, "y": y}, "beat": beat}
                    observation = acting.actors[0].observe(here)
                    proposals = acting.actors[0].propose(observation, acting.actors[0].begin(observation))
                    found = acting.actors[0].judge(here, proposals, 0, [0] * len(proposals))
                    assert any(not judgement.rejected and judgement.error is None for judgement in found), here


def test_the_kernel_is_receipted_by_digest_at_the_start_of_every_episode():
    opened = [event.body for event in run(plan("horizon=2", "episodes=2")) if event.type == "episode"]
    start = opened[0]["state"]
    size = len(start["route"])
    deadly = [[start["route"][i], start["route"][i - 1]] for i in range(size)]
    safe = viability([[1 if code else 0 for code in row] for row in start["grid"]], deadly)
    pairs = sum(sum(row) for field in safe for row in field)
    expected = {"viability_kernel": digest_of(safe), "viable_pairs": pairs, "phases": size}
    assert [body["opening"] for body in opened] == [expected] * 2
    assert 0 < pairs < size * sum(code == 0 for row in start["grid"] for code in row)


def test_the_patrol_goes_around_and_is_seen_only_near():
    acting = plan()
    state = acting.start(0)
    route = state["route"]
    for beat in range(2 * len(route)):
        assert state["beat"] == beat % len(route)
        patch = acting.actors[0].observe(state)["local_patch"]
        at = {axis: route[state["beat"]][axis] - state["position"][axis] + 2 for axis in "xy"}
        seen = [{"x": x, "y": y} for y, row in enumerate(patch) for x, code in enumerate(row) if code == 2]
        assert seen == ([at] if 0 <= at["x"] < 5 and 0 <= at["y"] < 5 else [])
        state, _ = acting.actors[0].step(state, "move", {"op": "move", "dir": "Stay"}, {"charge": 0})


@pytest.mark.parametrize(
    ("route", "message"),
    [
        ("[{'x': 1, 'y': 4}, {'x': 3, 'y': 4}]", "do not join"),
        ("[{'x': 1, 'y': 4}, {'x': 2, 'y': 4}, {'x': 3, 'y': 4}]", "do not join"),
        ("[{'x': 5, 'y': 1}, {'x': 6, 'y': 1}]", "cannot stay out"),
    ],
    ids=["a gap", "an open end", "over the start"],
)
def test_a_route_is_closed_and_leaves_the_start_alone(route, message):
    caught = findings_of(plan, f'start.route="{route}"')
    assert [finding.code for finding in caught] == ["E_START_ILL_FORMED"]
    assert message in caught[0].message
