"""The governor with a path potential: what it lets pass, what it knows by itself, and what its receipts say."""

import copy
from functools import cache

import pytest

from specledger.evidence.result import Tally
from specledger.run.loop import run
from tests.toys import shipped_plan

LAYOUTS = ["concave", "rooms", "looped-maze", "errands"]
FACES = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}


def plan(name="concave", *settings):
    return shipped_plan(name, *settings)


@cache
def events(name="concave", *settings):
    return tuple(run(plan(name, *settings)))


def bodies(kind, name="concave", *settings):
    return [event.body for event in events(name, *settings) if event.type == kind]


# --- along a run


@pytest.mark.medium
@pytest.mark.parametrize("layout", LAYOUTS)
def test_w_falls_at_every_move_and_rests_are_rare_before_the_goal(layout):
    found = [(body["potentials"]["W"], body) for body in bodies("step", layout, "horizon=100")]
    moves = rests = 0
    for change, body in found:
        assert body["chosen"] is not None
        if change["from"] > 0:
            assert 0 <= change["to"] <= change["from"]
            rests += change["to"] == change["from"]
            moves += change["to"] < change["from"]
        else:
            assert change == {"from": 0, "to": 0}
    assert moves > max(5, 4 * rests)
    assert any(change["to"] == 0 for change, _ in found)


@pytest.mark.medium
def test_a_newly_seen_wall_lengthens_the_way():
    found = [rebase for body in bodies("step") for rebase in body["rebases"] if rebase["potential"] == "W"]
    assert found
    assert all(rebase["from"] < rebase["to"] for rebase in found)


@pytest.mark.slow
def test_w_never_overestimates_and_is_the_true_way_once_all_is_known():
    """What is not known to be blocked is open, so the way as known is at most the true one."""
    steps = bodies("step", "concave", "episodes=3", "horizon=60")
    assert all(body["potentials"]["W"]["from"] <= body["record"]["distance_before"] for body in steps)
    assert sum(body["record"]["regret"] for body in steps[:60]) > 0
    assert [body["potentials"]["W"]["from"] for body in steps[60:]] == [
        body["record"]["distance_before"] for body in steps[60:]
    ]


@pytest.mark.medium
def test_gates_are_counted_in_every_receipt_that_ends_something():
    run, episode = Tally(), Tally()
    found = events("concave", "episodes=3", "horizon=20")
    for event in found:
        run.add(event.type, event.body)
        if event.type in ("start", "step"):
            episode.add(event.type, event.body)
        elif event.type == "episode_end":
            assert event.body["gates"] == episode.result()["rejections"]
            episode = Tally()
            episode.add("start", found[0].body)
    assert found[-1].body["gates"] == run.result()["rejections"]
    assert found[-1].body["gates"]["progress"] > 0


# --- one decision


def state(**changes):
    """The start of the trap, where the wall ahead was not seen yet; the goal lies seven cells to the east."""
    start = copy.deepcopy(plan().start(0))
    kernel = changes.pop("coherence", {})
    return start | changes | {"coherence": start["coherence"] | kernel}


def judged(here, known=None):
    """The directions that the gate `progress` refuses."""
    acting = plan()
    observation = acting.actors[0].observe(here)
    memory = acting.actors[0].governor_state.begin(observation)
    if known is not None:
        memory["known"] = known
    proposals = acting.actors[0].propose(observation, acting.actors[0].begin(observation))
    writes = [0] * len(proposals)
    found = acting.actors[0].judge(here, proposals, 0, writes, memory)
    assert all(judgement.error is None for judgement in found)
    return {
        proposal["action"]["dir"]
        for proposal, judgement in zip(proposals, found, strict=True)
        if any(failing["gate"] == "progress" for failing in judgement.rejected)
    }


def walled(here):
    """A map on which the agent's cell is closed in on all sides."""
    known = [[0] * 12 for _ in range(12)]
    for dx, dy in list(FACES.values())[:4]:
        known[here["position"]["y"] + dy][here["position"]["x"] + dx] = 1
    return known


def test_only_what_shortens_the_way_is_a_move():
    assert judged(state()) == {"N", "S", "W", "Stay"}


def test_at_the_goal_only_standing_still_is_right():
    here = state()
    assert judged(here | {"goal": here["position"]}) == {"N", "S", "E", "W"}


def test_where_no_way_is_known_the_other_gates_decide():
    here = state()
    assert judged(here, walled(here)) == set()


@pytest.mark.parametrize(
    ("kernel", "may_stay"),
    [
        ({"b": 0}, True),
        ({"b": 4_000_000}, True),
        ({"b": 5_000_000}, False),
        ({"rho": [[200, 250]]}, True),
        ({"rho": [[201, 250]]}, False),
    ],
    ids=["nothing left", "too little for writes", "enough", "headroom comes back", "rested"],
)
def test_it_may_wait_for_headroom_and_when_a_move_may_be_too_dear(kernel, may_stay):
    assert judged(state(coherence=kernel)) == {"N", "S", "W"} | (set() if may_stay else {"Stay"})


# --- whom it believes


@pytest.mark.medium
def test_it_makes_its_own_map_whatever_the_agent_remembers():
    """An agent that remembers nothing plans nonsense, yet every move that is taken shortens the way as known."""
    steps = bodies("step", "concave", "agent.remember=[]", "horizon=80")
    assert all(
        body["potentials"]["W"]["to"] < body["potentials"]["W"]["from"]
        for body in steps
        if body["potentials"]["W"]["from"]
    )
    assert any(body["success"] for body in steps)


@pytest.mark.medium
@pytest.mark.parametrize(("scope", "known"), [("run", True), ("episode", False)])
def test_the_scope_of_its_memory(scope, known):
    settings = ("episodes=2", "horizon=20", "drift=[]", f"governor.with.scope={scope}", f"agent.with.scope={scope}")
    first = {body["episode"]: body["potentials"] for body in reversed(bodies("step", "concave", *settings))}
    assert (first[1]["known"]["from"] > first[0]["known"]["from"]) == known
    assert (first[1]["W"]["from"] > first[0]["W"]["from"]) == known
