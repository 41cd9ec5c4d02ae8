"""Whose probe a receipt is of: an agent that has its turn, and for which a controller decides."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.binding import state_digest
from specledger.verify import run_order
from specledger.verify.checks import Broken
from specledger.verify.run_order import RunOrder

START = {"gates": [], "invariants": [], "drifts": [], "episodes": 1, "horizon": 3}
EPISODE = {"episode": 0, "state": {"n": 0}, "digest": state_digest({"n": 0}), "parts": []}


def order_of(**start: Any) -> RunOrder:
    """An order that waits for the first turn of the first step; nobody has a controller."""
    order = RunOrder()
    actors = [SimpleNamespace(name=name, controller=None) for name in start.get("agents", [""])]
    recorded: Any = SimpleNamespace(plan=SimpleNamespace(actors=actors))
    order.know(recorded)
    order.add("start", START | start)
    order.add("episode", EPISODE)
    return order


PROBES = {
    "of an agent that there is not": ({"agent": "c"}, "a probe is of an agent out of turn"),
    "of the agent whose turn comes next": ({"agent": "b"}, "a probe is of an agent out of turn"),
    "of nobody among several": ({}, "a probe is of an agent out of turn"),
    "of an agent that is not probed": ({"agent": "a"}, "the run has no probe 'why'"),
}


@pytest.mark.parametrize(("owner", "words"), PROBES.values(), ids=PROBES)
def test_a_probe_that_the_run_cannot_have_is_refused_before_the_wing_of_probes_is_asked(monkeypatch, owner, words):
    monkeypatch.setattr(run_order, "controlled", lambda: pytest.fail("no controller, no wing"))
    with pytest.raises(Broken, match="E_STATE") as refused:
        order_of(agents=["a", "b"]).add("probe", {"episode": 0, "t": 0, "probe": "why", **owner})
    assert words in str(refused.value)


def test_in_a_common_turn_every_agent_may_be_probed(monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(run_order, "controlled", lambda: SimpleNamespace(check_probe=lambda *told: asked.append(told)))
    order = order_of(agents=["a", "b"], turns="simultaneous")
    order._plan = lambda: SimpleNamespace(actors=[SimpleNamespace(name=name, controller=name) for name in "ab"])  # type: ignore[assignment]
    for name in "ab":
        order.add("probe", {"episode": 0, "t": 0, "probe": "why", "agent": name})
    assert [[actor.controller for actor in actors] for _, actors in asked] == [["a"], ["b"]]
