"""The governor's memory and potentials: what is written once a step, and what is written for all that is observed."""

import pytest

from specledger.compile.plan import PlannedGovernorState
from specledger.run.actor_state import GovernorState, GovernorValues
from tests.toys import bodies, compile_specs, documents_of

GREATEST = PlannedGovernorState(
    remembers="episode",
    begin=lambda observation: observation,
    remember=lambda observation, memory, action, seen: max(memory, seen),
    renew=lambda observation, memory, action, seen: max(memory, seen),
    potentials=lambda state, memory: {"below": memory - state["x"], "best": memory},
)
"""A memory of the greatest number seen; potentials: how far the state is below it, and the memory itself."""


def test_the_observation_after_a_drift_is_remembered_before_anything_is_judged():
    governor = GovernorState(GREATEST, {})
    governor.begin()
    governor.observe(5, {"x": 1}, fresh=True)
    _, governor.values = governor.shift("push", {"x": 4})
    governor.observe(7, {"x": 4}, fresh=True)
    assert governor.values == GovernorValues(7, {"below": 3, "best": 7})
    rebases = [
        {"potential": "below", "cause": "seen", "from": 1, "to": 3},
        {"potential": "best", "cause": "seen", "from": 5, "to": 7},
    ]
    assert governor.refuse(7, {"x": 4}, 7)[0]["rebases"] == rebases
    receipt, _ = governor.act(7, {"op": "go"}, {"x": 5}, 6)
    assert receipt["rebases"] == rebases
    assert receipt["potentials"]["below"] == {"from": 3, "to": 2}
    governor.observe(9, {"x": 4}, fresh=False)
    document, after = governor.refuse(7, {"x": 4}, 7)
    assert document["rebases"] == [], "an observation after a step is in the memory already"
    assert after == governor.values


def test_what_is_seen_in_a_step_without_an_action_is_a_rebase_of_that_step():
    governor = GovernorState(GREATEST, {})
    governor.begin()
    governor.observe(5, {"x": 1}, fresh=True)
    document, governor.values = governor.refuse(5, {"x": 1}, 8)
    assert document == {
        "potentials": {"below": {"from": 4, "to": 4}, "best": {"from": 5, "to": 5}},
        "rebases": [
            {"potential": "below", "cause": "seen", "from": 4, "to": 7},
            {"potential": "best", "cause": "seen", "from": 5, "to": 8},
        ],
    }
    assert governor.values == GovernorValues(8, {"below": 7, "best": 8})


WORLD = {
    "state": {"x": "int", "tries": "int"},
    "start": {"x": "0", "tries": "0"},
    "actions": {"open": {"effects": [{"set": "tries", "to": "tries + 1"}]}, "wait": {}},
    "observe": {"x": "x"},
}
AGENT = {"candidates": [{"op": "open"}, {"op": "wait"}], "score": "action.op == 'open' ? 1 : 0"}
KNOCKING = {"candidates": [{"op": "open"}], "score": "0"}
PUSH = {"at": "t % 2 == 1", "effects": [{"set": "x", "to": "x + 1"}]}
MINUTES = 3


def lockout(on):
    """A governor that admits `open` once in four steps, by its own count."""
    return {
        "memory": {"fields": {"locked": {"type": "int", "start": "0"}}},
        "remember": [
            {"id": "minute", "on": on, "effect": {"set": "locked", "to": f"locked > 0 ? locked - 1 : {MINUTES}"}}
        ],
        "gates": [{"id": "lock", "deny": "action.op == 'open' && locked > 0", "reason": "locked"}],
        "choose": {"maximise": "proposal.score"},
    }


CASES = {
    "no drift": (AGENT, [], "step", [0, 4, 8]),
    "a drift in every other step": (AGENT, ["push"], "step", [0, 4, 8]),
    "nothing else is proposed, so that steps have no action": (KNOCKING, [], "step", [0, 4, 8]),
    "the same with drifts": (KNOCKING, ["push"], "step", [0, 4, 8]),
    "every observation counts, with drifts": (AGENT, ["push"], "observation", [0, 5, 8]),
}


@pytest.mark.parametrize(("agent", "drifts", "on", "opened"), CASES.values(), ids=CASES)
def test_a_memory_is_written_once_a_step_whatever_happens_in_it(tmp_path, agent, drifts, on, opened):
    others = {"drift/push": PUSH}
    documents = documents_of(WORLD, agent, lockout(on), others, horizon=12, drift=drifts)
    made = bodies(compile_specs(tmp_path, documents))
    assert [step["t"] for step in made if step["chosen"] is not None and not locked(step)] == opened


def locked(step):
    """Whether the lock rejected a proposal of a step."""
    return any(one["gate"] == "lock" for decision in step["decisions"] for one in decision["rejected"])


def test_a_memory_of_a_run_is_not_written_between_episodes(tmp_path):
    governor = lockout("step")
    governor["memory"]["scope"] = "run"
    documents = documents_of(WORLD, AGENT, governor, horizon=3, episodes=4)
    made = bodies(compile_specs(tmp_path, documents))
    assert [index for index, step in enumerate(made) if not locked(step)] == [0, 4, 8]
