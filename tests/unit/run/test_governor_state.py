"""The governor's memory and potentials: what is seen after a drift is remembered first."""

from specledger.compile.plan import PlannedGovernorState
from specledger.run.actor_state import GovernorState, GovernorValues

GREATEST = PlannedGovernorState(
    remembers="episode",
    begin=lambda observation: observation,
    remember=lambda observation, memory, action, seen: max(memory, seen),
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
    assert governor.refuse()["rebases"] == rebases
    receipt, _ = governor.act(7, {"op": "go"}, {"x": 5}, 6)
    assert receipt["rebases"] == rebases
    assert receipt["potentials"]["below"] == {"from": 3, "to": 2}
    governor.observe(9, {"x": 4}, fresh=False)
    assert governor.refuse()["rebases"] == [], "an observation after an action is in the memory already"
