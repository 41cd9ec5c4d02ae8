"""Compiles an actor: one agent of a scenario and its governor, on the world as that agent meets it.

A set of proposals is judged by the schema gate, then by the governor's gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from specledger.agents.agent import Agent, Around, check_agent, see_reads
from specledger.agents.propose import compile_propose
from specledger.compile.extension import Attachment, Stage, admission, call_probes
from specledger.compile.plan import (
    Actor,
    Judgement,
    PlannedGovernorState,
    PlannedOutside,
    PlannedWatchdog,
    Proposal,
    State,
)
from specledger.compile.roles import E_AGENTS, Role
from specledger.compile.size_bounds import most_weight
from specledger.core.unknown import Unknown
from specledger.core.weight import Allowance
from specledger.core.wing import E_WING, missing_wing
from specledger.expr import EvaluationError, RecordType, Type, conformer
from specledger.expr.check.types import without_choices
from specledger.gates.governor import SCHEMA, Footing, Governor, check_governor, compile_judge, compile_potentials
from specledger.gates.invariant import E_ADMISSION
from specledger.gates.known import known_potentials, recorded_judge, recorded_remember
from specledger.lang.memory import EPISODE, compile_begin, compile_remember, compile_writes
from specledger.lang.three_valued import any_unknown, three_valued
from specledger.load import Bundle, Resolved
from specledger.spec.governor import Governor as GovernorSpec
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.worlds.emit import E_RESULT_ABSENT, Call, compile_over, compile_step, undisclosed, write_step
from specledger.worlds.known import known_step, recorded_over, recorded_step
from specledger.worlds.model import World


def plan_governor_state(governor: Governor, footing: Footing, *, unknown: bool) -> PlannedGovernorState | None:
    """The memory and the potentials of a governor, if it has any, and whether they may be `unknown`."""
    memory = governor.memory
    if not memory.type.fields and not governor.potentials.items:
        return None
    remember, potentials = compile_remember, compile_potentials(governor, footing)
    if unknown:
        remember, potentials = recorded_remember, three_valued(potentials, known_potentials(governor), any_unknown)
    return PlannedGovernorState(
        remembers=memory.scope,
        begin=compile_begin(memory),
        remember=remember(memory),
        renew=remember(replace(memory, writes=governor.renewal)) if governor.renewal else None,
        potentials=potentials,
    )


def compile_judge_set(
    governor: Governor, footing: Footing, world: World, *, unknown: bool
) -> Callable[..., list[Judgement]]:
    """Judge a set of proposals: the schema first, then every gate; what cannot be evaluated is judged alone again."""
    allowance = Allowance()
    judge = compile_judge(governor, footing, allowance)
    if unknown:
        judge = recorded_judge(judge, governor, known_step(world), E_RESULT_ABSENT)
    fits = _schema(world, governor.claims)

    def judge_alone(
        state: State, proposal: Proposal, number: int, rejected: int, writes: int, memory: Any
    ) -> Judgement:
        try:
            judgement = Judgement(*judge(state, [proposal], number, rejected, [writes], memory)[0])
            allowance.settle()
            return judgement
        except EvaluationError as error:
            return Judgement([], 0, {}, {}, error.bare())

    def judge_set(
        state: State, proposals: list[Proposal], rejected: int, writes: list[int], memory: Any = None
    ) -> list[Judgement]:
        number = len(proposals)
        allowance.renew()
        misfits = [fits(proposal) for proposal in proposals]
        if not any(misfits):
            try:
                return [Judgement(*fields) for fields in judge(state, proposals, number, rejected, writes, memory)]
            except EvaluationError:
                pass  # at least one proposal has no judgement: find out which, the others keep theirs
        return [
            Judgement([{"gate": SCHEMA, "reason": misfit, "witness": {}}], 0, {}, {})
            if misfit
            else judge_alone(state, proposal, number, rejected, count, memory)
            for misfit, proposal, count in zip(misfits, proposals, writes, strict=True)
        ]

    return judge_set


def _schema(world: World, claims: Mapping[str, Type]) -> Callable[[Proposal], str | None]:
    """Why a proposal is malformed, or None: its operation, its arguments and its claims against their declarations."""
    expected = {"score", "action", *claims}
    tables = {
        op: (
            {"op", *action.args.fields},
            [(name, _accepts(type_, action.allowed.get(name))) for name, type_ in action.args.fields.items()],
        )
        for op, action in world.actions.items()
    }

    def misfit(proposal: Proposal) -> str | None:
        action = proposal["action"]
        op = action["op"]
        if not op:
            return str(proposal.get("answer", "no_action"))
        if op not in tables:
            return "unknown_action"
        keys, args = tables[op]
        if action.keys() != keys or proposal.keys() != expected:
            return "malformed_proposal"
        for name, accepts in args:
            if not accepts(action[name]) and type(action[name]) is not Unknown:
                return "malformed_action"
        return None

    return misfit


def _accepts(type_: Type, allowed: Sequence[Any] | None) -> Callable[[Any], bool]:
    """Whether a value is a possible argument."""
    return conformer(type_) if allowed is None else tuple(allowed).__contains__


def compile_actor(role: Role, stage: Stage) -> tuple[Actor, Governor] | None:
    """The actor of a role and its checked governor; None, with findings, if they are wrong."""
    diagnostics = stage.diagnostics
    world = stage.world.seen_by(role.name) if role.name in stage.world.views else stage.world
    # what a call of a recording leads to depends on its result, which no gate knows
    unknown = role.leaves_out(world)
    footing = replace(footing_of(world, stage.like), predicts=role.decider.trajectories is None)
    governor = check_governor(role.governor, footing, diagnostics)
    if governor is None:
        return None
    around, outside = around_of(world, governor, stage.world, role.name), role.decider.outside
    if outside is not None and role.name:
        span = stage.bundle.main.span(*role.at, "agent")
        hint = "run it as the one agent of a scenario, whose world moves the others"
        diagnostics.error(E_AGENTS, f"{role.agent.name!r} is asked outside, as one of several agents", span, hint=hint)
    agent, declared = _agents(role, around, stage)
    if agent is None and outside is None and role.decider.trajectories is None:
        return None
    see_reads(role.decider, around, role.governor, _always(role.rules), diagnostics)
    attached = _attached(role, stage, world, around, agent, declared)
    if stage.like is None or diagnostics.has_errors:
        return None
    actor = Actor(
        name=role.name,
        gates=(SCHEMA, *(() if attached is None else attached.gates), *(gate.id for gate in governor.gates)),
        observe=(recorded_over if unknown else compile_over)(world, world.observe, stage.like),
        judge=compile_judge_set(governor, footing, world, unknown=unknown),
        step=(recorded_step if unknown else compile_step)(world, stage.like),
        governor_state=plan_governor_state(governor, footing, unknown=unknown),
        outside=None if role.decider.outside is None else _asked(role, stage, world, governor, attached),
        memory=sum(most_weight(rules.memory.type) for rules in (governor, agent or declared) if rules is not None),
        **_acts(agent, declared),
        **_controls(attached),
    )
    return actor, governor


def _admission_lines(world: World) -> str:
    """What to write so that a governor of this world admits documents, on which probes depend."""
    grants = (
        f"{op}: {{allowed_ops: [{op}], max_calls: 1, per_ms: 100, expiry_ms: 100}}" for op in sorted(world.actions)
    )
    return (
        "write in the governor `admission: {document: open_proposal, env: now, vocabulary: NAME, "
        f"free: {{{', '.join(grants)}}}}}`; `spec ls vocabulary` lists the names, and "
        "`spec init DIR --start reasons` writes an example of all that probes need"
    )


def _attached(
    role: Role, stage: Stage, world: World, around: Around, agent: Agent | None, declared: Agent | None
) -> Attachment | None:
    """What decides for a role whose governor admits documents; None if it admits bare proposals, or with findings."""
    if role.rules.admission is None:
        _refuse_strays(role, stage, world)
        return _asked_again(role, stage)
    part = admission()
    if part is None:
        message, hint = missing_wing("kernel", "`admission` of a governor")
        stage.diagnostics.error(E_WING, message, role.governor.span("admission"), hint=hint)
        return None
    return part.attach(stage, role, world, around, agent, declared)


def _asked_again(role: Role, stage: Stage) -> Attachment | None:
    """What asks about the calls of a recorded agent; None without probes of it, or with findings."""
    if role.decider.trajectories is None or not role.probes:
        return None
    part = call_probes()
    if part is None:
        message, hint = missing_wing("challenges", "probes of a recorded agent")
        stage.diagnostics.error(E_WING, message, stage.bundle.main.span("probes"), hint=hint)
        return None
    return part.attach(stage, role)


def _refuse_strays(role: Role, stage: Stage, world: World) -> None:
    """Findings for what needs the admission of documents where there is none."""
    wrong = stage.diagnostics.error
    for spec in document_invariants(stage.bundle, role.governor):
        message = "the governor has no `admission`: there are no documents to judge"
        wrong(E_ADMISSION, message, spec.span("scope"), hint=_admission_lines(world))
    if role.probes and role.decider.trajectories is None:
        at = stage.bundle.main.span(*role.at, "probes")
        message = "probes question an agent that hands in documents with reasons, and this governor admits none"
        wrong(E_ADMISSION, message, at, hint=_admission_lines(world))
    if role.decider.draw:
        message = "only an agent whose governor admits documents draws for its decisions"
        wrong(E_ADMISSION, message, role.agent.span("draw"), hint=_admission_lines(world))


def document_invariants(bundle: Bundle, governor: Resolved) -> list[Resolved]:
    """The invariants of scope `proposal` that a governor and the scenario name, each once, in their order."""
    keys = [key for spec in (governor, bundle.main) for path, key in spec.refs.items() if path[0] == "invariants"]
    specs = [bundle.specs[key] for key in dict.fromkeys(keys)]
    return [spec for spec in specs if isinstance(spec.model, InvariantSpec) and spec.model.scope == "proposal"]


def _controls(attached: Attachment | None) -> dict[str, Any]:
    """What an actor has of what decides for it."""
    if attached is None:
        return {}
    names = ("controller", "keyed", "too_few_repeats", "asks", "rehearse")
    return {name: getattr(attached, name) for name in names}


def _always(rules: GovernorSpec) -> Iterator[tuple[str | int, ...]]:
    """The expressions of a governor that are evaluated for every proposal, whatever the proposal and the gates say."""
    yield from (("cost", name) for name in rules.cost)
    for index, gate in enumerate(rules.gates[:1] if rules.mode == "first" else rules.gates):
        if gate.when != "true":
            yield "gates", index, "when"
        else:
            yield "gates", index, "deny" if gate.deny is not None else "require"


def watchdog_of(roles: tuple[Role, ...]) -> PlannedWatchdog | None:
    """The time limits of asking the agents; the shortest of their own and the kernels'."""
    outside = [role.decider.outside.deadline_ms for role in roles if role.decider.outside is not None]
    kernels = [role.rules.admission for role in roles if role.rules.admission is not None]
    limits = [*outside, *(admission.watchdog_ms for admission in kernels)]
    if not limits:
        return None
    return PlannedWatchdog(min(limits), min((admission.ms_per_tick for admission in kernels), default=None))


def _asked(role: Role, stage: Stage, world: World, governor: Governor, attached: Attachment | None) -> PlannedOutside:
    from specledger.compile.outside import plan_outside  # noqa: PLC0415 - only for agents outside: it knows all models

    return plan_outside(role, stage, world, governor, attached)


def _agents(role: Role, around: Around, stage: Stage) -> tuple[Agent | None, Agent | None]:
    """The agent, if it is a spec; and the procedure that one from outside declares, whose memory a kernel keeps."""
    if role.decider.trajectories is not None:
        return None, None
    if role.decider.outside is None:
        return check_agent(role.agent, around, stage.diagnostics), None
    key = None if role.rules.admission is None else role.agent.refs.get(("outside", "declares"))
    return None, None if key is None else check_agent(stage.bundle.specs[key], around, stage.diagnostics)


def _acts(agent: Agent | None, declared: Agent | None) -> dict[str, Any]:
    """What an actor calls of its agent; of one that is asked outside, the memory of the procedure that it declares."""
    acts: dict[str, Any] = {
        "propose": lambda _observation, _memory: [],
        "writes": lambda _observation, _memory, _action: 0,
        "remembers": EPISODE,
        "begin": lambda _observation: {},
        "remember": lambda _observation, memory, _action, _seen: memory,
    }
    if agent is not None:
        acts |= {"propose": compile_propose(agent), "writes": compile_writes(agent.memory)}
    if (keeper := agent or declared) is not None:
        begin, remember = compile_begin(keeper.memory), compile_remember(keeper.memory)
        acts |= {"remembers": keeper.memory.scope, "begin": begin, "remember": remember}
    return acts


def around_of(world: World, governor: Governor, whole: World, name: str) -> Around:
    """What agents are given; `world` is the `whole` world as the actor of a name meets it."""
    hidden = undisclosed(world)
    # An agent may propose arguments that no action has; gates reject them.
    taken = {key: type_ if key == "op" else without_choices(type_) for key, type_ in world.action.fields.items()}
    return Around(
        functions=world.environment.functions,
        constants=world.environment.constants,
        observation=RecordType("observation", world.observe.types),
        actions={name: action.args for name, action in world.actions.items()},
        action=RecordType("action", taken, optional=world.action.optional),
        claims=governor.claims,
        state=None if hidden else world.state,
        step=None if hidden else compile_step(world),
        undisclosed=hidden,
        denied=dict.fromkeys(whole.actions.keys() - world.actions.keys(), f"agents.{name}.actions"),
        allowed={name: action.allowed for name, action in world.actions.items()},
        clock={**world.clock, **world.actor},
    )


def footing_of(world: World, like: State | None = None, *, simultaneous: bool = False) -> Footing:
    """The names and types of the world for the governor and the invariants."""
    return Footing(
        environment=world.environment,
        state=world.state,
        inputs=world.inputs,
        action=world.action,
        outcome=world.outcome,
        observation=RecordType("observation", world.observe.types),
        write_step=lambda emitter, preload, call, wanted: write_step(emitter, preload, world, Call(*call), wanted),
        several=world.others is not None,
        clock=world.clock,
        actor=world.actor,
        simultaneous=simultaneous,
        like=like,
    )
