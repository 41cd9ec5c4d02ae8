"""The governor's memory and potentials: the effect of a drift, of an action, and of an observation."""

from typing import Any

import pytest

from specledger.compile.plan import PlannedGovernorState
from specledger.run.actor_state import GovernorState, GovernorValues


def planned(remembers="episode"):
    """A memory of the greatest number seen; potentials: how far the state is below it, and the memory itself."""
    return PlannedGovernorState(
        remembers=remembers,
        begin=lambda observation: observation,
        remember=lambda observation, memory, action, seen: max(memory, seen),
        potentials=lambda state, memory: {"below": memory - state["x"], "best": memory},
    )


def begun(remembers="episode"):
    governor = GovernorState(planned(remembers), {})
    governor.begin()
    governor.observe(5, {"x": 1}, fresh=True)
    return governor


def test_a_governor_without_memory_and_potentials_has_no_values():
    governor = GovernorState(None, {})
    governor.begin()
    governor.observe(5, {"x": 1}, fresh=True)
    nothing: dict[str, Any] = {"potentials": {}, "rebases": []}
    assert governor.shift("push", {"x": 2}) == ([], GovernorValues())
    assert governor.act(5, {"op": "go"}, {"x": 2}, 9) == (nothing, GovernorValues())
    assert (governor.refuse(), governor.values) == (nothing, GovernorValues())


def test_a_drift_is_the_cause_of_a_rebase_once_there_are_potentials():
    governor = begun()
    rebases, values = governor.shift("push", {"x": 4})
    assert rebases == [{"potential": "below", "cause": "push", "from": 4, "to": 1}]
    assert values == GovernorValues(5, {"below": 1, "best": 5})
    assert governor.values == GovernorValues(5, {"below": 4, "best": 5}), "the caller assigns the values"
    governor.begin()
    assert governor.shift("push", {"x": 4}) == ([], GovernorValues())


@pytest.mark.parametrize("seen", [8, 4])
def test_an_action_is_judged_with_the_memory_before_it_and_a_new_observation_is_a_rebase(seen):
    receipt, values = begun().act(5, {"op": "go"}, {"x": 3}, seen)
    new = [
        {"potential": "below", "cause": "seen", "from": 2, "to": 5},
        {"potential": "best", "cause": "seen", "from": 5, "to": 8},
    ]
    assert receipt == {
        "potentials": {"below": {"from": 4, "to": 2}, "best": {"from": 5, "to": 5}},
        "rebases": new if seen > 5 else [],
    }
    assert values == (
        GovernorValues(8, {"below": 5, "best": 8}) if seen > 5 else GovernorValues(5, {"below": 2, "best": 5})
    )


def test_the_observation_after_a_drift_is_remembered_before_anything_is_judged():
    governor = begun()
    _, governor.values = governor.shift("push", {"x": 4})
    governor.observe(7, {"x": 4}, fresh=True)
    assert governor.values == GovernorValues(7, {"below": 3, "best": 7})
    rebases = [
        {"potential": "below", "cause": "seen", "from": 1, "to": 3},
        {"potential": "best", "cause": "seen", "from": 5, "to": 7},
    ]
    assert governor.refuse()["rebases"] == rebases
    receipt, _ = governor.act(7, {"op": "go"}, {"x": 5}, 6)
    assert receipt["rebases"] == rebases
    assert receipt["potentials"]["below"] == {"from": 3, "to": 2}
    governor.observe(9, {"x": 4}, fresh=False)
    assert governor.refuse()["rebases"] == [], "an observation after an action is in the memory already"


def test_a_refusal_changes_no_potential():
    assert begun().refuse() == {
        "potentials": {"below": {"from": 4, "to": 4}, "best": {"from": 5, "to": 5}},
        "rebases": [],
    }
