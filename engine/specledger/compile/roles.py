"""The roles of a scenario: who decides, under which governor, with which probes; a scenario of one agent has one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics, code, suggest
from specledger.expr.errors import E_EXPR_UNKNOWN_NAME
from specledger.load import Bundle, Resolved
from specledger.spec.agent import Agent
from specledger.spec.governor import Governor
from specledger.spec.scenario import Scenario
from specledger.worlds.model import World

E_AGENTS = code("E_AGENTS", "the agents of a scenario do not fit its world")


E_AGENT_MEMORY = code("E_AGENT_MEMORY", "the memory of one agent is read elsewhere")


class Role(Struct, frozen=True):
    """One role.

    Attributes:
        name: The name of the agent in the scenario; empty where the scenario has one agent.
        at: The path of its entry in the scenario.
    """

    name: str
    at: tuple[str, ...]
    agent: Resolved
    governor: Resolved
    probes: tuple[Resolved, ...]

    @property
    def rules(self) -> Governor:
        """The governor's model."""
        assert isinstance(self.governor.model, Governor)  # noqa: S101 - a reference of kind governor holds nothing else
        return self.governor.model

    @property
    def decider(self) -> Agent:
        """The agent's model."""
        assert isinstance(self.agent.model, Agent)  # noqa: S101 - a reference of kind agent holds nothing else
        return self.agent.model

    def leaves_out(self, world: World) -> bool:
        """Whether a recording can leave out what the world reads; its `otherwise` reads what every call has."""
        recording = self.decider.trajectories
        return recording is not None and world.actions.keys() != {recording.otherwise}


def roles(bundle: Bundle) -> tuple[Role, ...]:
    """The roles of the scenario that a bundle was loaded for, in the order in which they act."""
    model = bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - the caller dispatched by kind
    if model.agents is None:
        return (_role(bundle, "", ()),)
    names = [name for name in dict.fromkeys(model.order or ()) if name in model.agents]
    names += sorted(model.agents.keys() - set(names))
    return tuple(_role(bundle, name, ("agents", name)) for name in names)


def _role(bundle: Bundle, name: str, at: tuple[str, ...]) -> Role:
    refs, specs = bundle.main.refs, bundle.specs
    probes = sorted(path for path in refs if path[:-1] == (*at, "probes"))
    return Role(
        name, at, specs[refs[*at, "agent"]], specs[refs[*at, "governor"]], tuple(specs[refs[path]] for path in probes)
    )


def check_roles(spec: Resolved, world: World, diagnostics: Diagnostics) -> None:
    """Find what is wrong between the agents of a scenario, their order, and the agents of its world."""
    model = spec.model
    assert isinstance(model, Scenario)  # noqa: S101 - see `roles`
    known = ", ".join(world.views)

    def wrong(message: str, *at: str | int, hint: str | None = None) -> None:
        diagnostics.error(E_AGENTS, message, spec.span(*at), hint=hint)

    if model.agents is None:
        if world.views:
            hint = "write `agents:` with an agent and a governor for each of them, and their `order`"
            wrong(
                f"the world {world.name!r} is for the agents {known}, and this scenario names one", "world", hint=hint
            )
        return
    if not world.views:
        hint = "the world's `agents` says what each of them sees, and which actions it may take"
        wrong(f"the world {world.name!r} is for one agent", "agents", hint=hint)
        return
    for name in sorted(model.agents.keys() - world.views.keys()):
        near = suggest(name, world.views)
        hint = f"did you mean `{near}`?" if near else f"its agents are {known}"
        wrong(f"the world {world.name!r} has no agent {name!r}", "agents", name, hint=hint)
    for name in sorted(world.views.keys() - model.agents.keys()):
        wrong(f"the agent {name!r} of the world {world.name!r} is left out", "agents", hint=f"add `{name}:`")
    _check_order(model, spec, diagnostics)
    if model.probes:
        hint = "list it under the agent that it challenges: `agents: {NAME: {probes: [...]}}`"
        wrong("a probe among several agents names no agent", "probes", hint=hint)


def _check_order(model: Scenario, spec: Resolved, diagnostics: Diagnostics) -> None:
    agents, order = model.agents or {}, model.order or []
    if model.order is None:
        hint = f"add `order: [{', '.join(sorted(agents))}]`, as they act"
        diagnostics.error(E_AGENTS, "the agents have no order", spec.span("agents"), hint=hint)
        return
    hint = f"list each of {', '.join(sorted(agents))} once, as they act"
    for index, name in enumerate(order):
        if name not in agents:
            message = f"there is no agent {name!r}"
        elif name in order[:index]:
            message = f"the agent {name!r} is listed twice"
        else:
            continue
        diagnostics.error(E_AGENTS, message, spec.span("order", index), hint=hint)
    for name in sorted(agents.keys() - set(order)):
        diagnostics.error(E_AGENTS, f"the order leaves out the agent {name!r}", spec.span("order"), hint=hint)


def name_memory_owners(bundle: Bundle, diagnostics: Diagnostics) -> Diagnostics:
    """The findings of a scenario; an unknown name that another agent or governor remembers is one about that."""
    model = bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - see `roles`
    if model.agents is None or not diagnostics.has_errors:
        return diagnostics
    kept = {name: owner for role in roles(bundle) for name, owner in _kept(role)}
    seen = Diagnostics(MOST_FINDINGS)
    hint = "a label of the agent's `observe` shows what it may know of the state"
    for diagnostic in diagnostics.sorted():
        name = diagnostic.message.removeprefix("unknown name ").strip("`")
        read = diagnostic.code == E_EXPR_UNKNOWN_NAME and name in kept
        message = f"`{name}` is in the memory of {kept.get(name)}, which nothing else reads"
        seen.add(replace(diagnostic, code=E_AGENT_MEMORY, message=message, hint=hint) if read else diagnostic)
    return seen


def _kept(role: Role) -> Iterator[tuple[str, str]]:
    """The names that a role remembers, and who remembers each."""
    for memory, owner in ((role.decider.memory, "the agent"), (role.rules.memory, "the governor of")):
        for name in memory.fields if memory is not None else ():
            yield name, f"{owner} {role.name}"
