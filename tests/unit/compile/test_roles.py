"""The roles of a scenario: in which order they act, with which probes, and whether a recording leaves anything out."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.compile.roles import Role, roles
from specledger.spec.agent import Agent
from specledger.spec.scenario import Scenario


def bundle_of(agents=None, order=None, probes=()):
    """A scenario whose references are keys of specs that are their own names."""
    refs: dict[tuple[str | int, ...], str] = {}
    for name in agents or [None]:
        at = () if name is None else ("agents", name)
        refs |= {(*at, "agent"): f"agent of {name}", (*at, "governor"): f"governor of {name}"}
        refs |= {(*at, "probes", index): f"probe {index} of {name}" for index in probes}
    refs["world",] = "world"
    fields: Any = {"agents": None if agents is None else dict.fromkeys(agents), "order": order}
    model = Scenario.model_construct(**fields)
    made: Any = SimpleNamespace(main=SimpleNamespace(model=model, refs=refs), specs={key: key for key in refs.values()})
    return made


ORDERS: dict[str, tuple[Any, Any, list[str]]] = {
    "one agent": (None, None, [""]),
    "as they act": (["ann", "bob", "cid"], ["cid", "ann", "bob"], ["cid", "ann", "bob"]),
    "without an order by name": (["cid", "ann"], None, ["ann", "cid"]),
    "those that are left out come last": (["dan", "ann", "bob"], ["bob"], ["bob", "ann", "dan"]),
    "one that is listed twice": (["ann", "bob"], ["bob", "ann", "bob"], ["bob", "ann"]),
    "one that there is not": (["ann"], ["zed", "ann"], ["ann"]),
}


def found_in(*args, **named) -> Any:
    return roles(bundle_of(*args, **named))


@pytest.mark.parametrize(("agents", "order", "names"), ORDERS.values(), ids=ORDERS)
def test_the_order_of_roles(agents, order, names):
    found = found_in(agents, order)
    assert [role.name for role in found] == names
    whose = [name or None for name in names]
    assert [(role.agent, role.governor) for role in found] == [
        (f"agent of {name}", f"governor of {name}") for name in whose
    ]
    assert [role.at for role in found] == [("agents", name) if name else () for name in names]


def test_each_role_has_its_own_probes_in_their_order():
    (one,) = found_in(probes=(1, 0))
    assert one.probes == ("probe 0 of None", "probe 1 of None")
    first, second = found_in(["ann", "bob"], ["bob", "ann"], probes=(10, 2))
    assert first.probes == ("probe 2 of bob", "probe 10 of bob")
    assert second.probes == ("probe 2 of ann", "probe 10 of ann")


RECORDED: dict[str, tuple[Any, list[str], bool]] = {
    "no recording": (None, ["pay"], False),
    "a recording": ("other", ["pay", "other"], True),
    "a recording without another action": (None, ["pay"], True),
    "a recording of one action for all": ("other", ["other"], False),
}


@pytest.mark.parametrize(("case", "row"), RECORDED.items(), ids=RECORDED)
def test_whether_a_recording_leaves_out_what_a_world_reads(case, row):
    otherwise, actions, leaves = row
    recording = None if case == "no recording" else SimpleNamespace(otherwise=otherwise)
    fields: Any = {"trajectories": recording}
    agent: Any = SimpleNamespace(model=Agent.model_construct(**fields))
    world: Any = SimpleNamespace(actions=dict.fromkeys(actions))
    assert Role("", (), agent, agent, ()).leaves_out(world) is leaves
