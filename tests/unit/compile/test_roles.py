"""The roles of a scenario: in which order they act, with which probes, and whether a recording leaves anything out."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.compile import roles as module
from specledger.compile.roles import Role, name_memory_owners, roles
from specledger.core.diagnostics import Diagnostic, Diagnostics
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


def unknown(name, code="E_EXPR_UNKNOWN_NAME"):
    return Diagnostic(code, f"unknown name `{name}`")


KEPT = "`kept` is in the memory of the agent ann, which nothing else reads"
HELD = "`held` is in the memory of the governor of bob, which nothing else reads"
# A finding, and its code and message among agents who remember: Ann `kept`, and Bob's governor `held`.
NAMES: dict[str, tuple[Diagnostic, str, str]] = {
    "a name that an agent remembers": (unknown("kept"), "E_AGENT_MEMORY", KEPT),
    "a name that a governor remembers": (unknown("held"), "E_AGENT_MEMORY", HELD),
    "a name that nobody remembers": (unknown("lost"), "E_EXPR_UNKNOWN_NAME", "unknown name `lost`"),
    "another mistake with it": (unknown("kept", "E_EXPR_TYPE"), "E_EXPR_TYPE", "unknown name `kept`"),
}


@pytest.mark.parametrize(("finding", "code", "message"), NAMES.values(), ids=NAMES)
def test_an_unknown_name_that_another_one_remembers_is_told_as_such(monkeypatch, finding, code, message):
    def role(name, agent, governor):
        memories = [None if field is None else SimpleNamespace(fields=[field]) for field in (agent, governor)]
        return SimpleNamespace(
            name=name, decider=SimpleNamespace(memory=memories[0]), rules=SimpleNamespace(memory=memories[1])
        )

    monkeypatch.setattr(module, "roles", lambda bundle: (role("ann", "kept", None), role("bob", None, "held")))
    findings = Diagnostics()
    findings.add(finding)
    (told,) = name_memory_owners(bundle_of(["ann", "bob"]), findings).sorted()
    assert (told.code, told.message) == (code, message)
    assert told.hint == (
        "a label of the agent's `observe` shows what it may know of the state" if code == "E_AGENT_MEMORY" else None
    )
    assert name_memory_owners(bundle_of(), findings) is findings
