"""From a scenario's bundle to its plan: each spec is checked against what it will meet, then compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.agents.agent import (
    Agent,
    Around,
    check_agent,
    compile_begin,
    compile_propose,
    compile_remember,
    compile_writes,
)
from engine.compile.plan import Judgement, Plan, PlannedDrift, PlannedInvariant, PlannedPart, Proposal, State
from engine.core.diagnostics import Diagnostics
from engine.core.rng import Stream
from engine.expr import BOOL, EvaluationError, RecordType, Type, conforms
from engine.expr.statements.scope import Scope
from engine.gates.governor import SCHEMA, Footing, Governor, check_governor, compile_judge
from engine.gates.invariant import check_invariant, compile_invariant
from engine.load import Bundle, Resolved
from engine.spec.invariant import Invariant as InvariantSpec
from engine.spec.scenario import Map, Scenario
from engine.worlds.check import check_world
from engine.worlds.drift import check_drift, compile_change, compile_sources
from engine.worlds.emit import (
    Call,
    compile_between,
    compile_over,
    compile_predicate,
    compile_step,
    part_receipt,
    write_step,
)
from engine.worlds.maps import MapError, make
from engine.worlds.model import World
from engine.worlds.start import E_MAP, IllFormedError, Starter, check_start, report_start, starter


def compile_scenario(bundle: Bundle) -> Plan:
    """Compile the scenario that a bundle was loaded for.

    Args:
        bundle: A bundle whose main spec is a scenario.

    Returns:
        The plan.

    Raises:
        Rejected: With every finding in any of the bundle's specs.
    """
    diagnostics = Diagnostics()
    compiler = _Compiler(bundle, diagnostics)
    plan = None
    try:
        plan = compiler.plan()
    except EvaluationError as error:  # a start value, a glyph's code or a drift's schedule, which are computed here
        diagnostics.error(error.code, error.message, error.span)
    diagnostics.raise_if_errors()
    assert plan is not None  # noqa: S101 - a part is missing only where there was a finding
    return plan


class _Compiler:
    def __init__(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        assert isinstance(bundle.main.model, Scenario)  # noqa: S101 - the pipeline compiles what it dispatched by kind
        self.bundle = bundle
        self.spec = bundle.main
        self.model = bundle.main.model
        self.diagnostics = diagnostics

    def plan(self) -> Plan | None:
        world = check_world(self._referred("world"), self.bundle, self.diagnostics)
        if world is None or self.diagnostics.has_errors:
            return None
        footing = _footing(world)
        governor = check_governor(self._referred("governor"), footing, self.diagnostics)
        agent = None if governor is None else self._agent(world, governor)
        drifts = [self._drift(index, world) for index in range(len(self.model.drift))]
        invariants = self._invariants(footing)
        scope = Scope(world.environment, self.spec, self.diagnostics)
        until = scope.expression("until", expect=BOOL) if self.model.until is not None else None
        start = self._start(world, scope)
        if governor is None or agent is None or start is None or self.diagnostics.has_errors:
            return None
        return Plan(
            name=self.model.name,
            specs=self.bundle.digest,
            seed=self.model.seed,
            episodes=self.model.episodes,
            horizon=self.model.horizon,
            remembers=agent.scope,
            gates=(SCHEMA, *(gate.id for gate in governor.gates)),
            start=start,
            begin=compile_begin(agent),
            observe=compile_over(world, world.observe),
            propose=compile_propose(agent),
            writes=compile_writes(agent),
            remember=compile_remember(agent),
            judge=_judge(governor, footing, world),
            step=compile_step(world),
            record=compile_between(world, world.record),
            success=compile_predicate(world, world.success, default=False),
            until=compile_predicate(world, until, default=False),
            drifts=tuple(drift for drift in drifts if drift is not None),
            invariants=invariants,
            parts=_parts(world),
        )

    def _referred(self, *path: str | int) -> Resolved:
        """The spec that a reference of the scenario names; its kind was checked when it was resolved."""
        return self.bundle.specs[self.spec.refs[path]]

    def _agent(self, world: World, governor: Governor) -> Agent | None:
        around = Around(
            functions=world.environment.functions,
            constants=world.environment.constants,
            observation=RecordType("observation", world.observe.types),
            actions={name: action.args for name, action in world.actions.items()},
            action=world.action,
            claims=governor.claims,
        )
        return check_agent(self._referred("agent"), around, self.diagnostics)

    def _drift(self, index: int, world: World) -> PlannedDrift | None:
        spec = self._referred("drift", index)
        drift = check_drift(spec, world, self.diagnostics)
        if drift is None:
            return None
        return PlannedDrift(
            name=spec.name,
            schedule=drift.schedule(self.model.horizon),
            streams=tuple(stream for _, stream, _ in drift.draws),
            draws=tuple(name for name, _, _ in drift.draws),
            sources=compile_sources(drift, world),
            apply=compile_change(drift, world),
        )

    def _invariants(self, footing: Footing) -> tuple[PlannedInvariant, ...]:
        """The governor's invariants and the scenario's; one that both name is looked at once."""
        keys = [
            key
            for spec in (self._referred("governor"), self.spec)
            for path, key in spec.refs.items()
            if path[0] == "invariants"
        ]
        planned = []
        for key in dict.fromkeys(keys):
            spec = self.bundle.specs[key]
            model = spec.model
            assert isinstance(model, InvariantSpec)  # noqa: S101 - see `_referred`
            invariant = check_invariant(spec, footing, self.diagnostics)
            if invariant is not None:
                judge = compile_invariant(invariant, footing)
                planned.append(PlannedInvariant(spec.name, model.scope, model.severity, judge))
        return tuple(planned)

    def _start(self, world: World, scope: Scope) -> Callable[[int], State] | None:
        start = check_start(world, self.model.start, scope)
        if self.diagnostics.has_errors:
            return None
        begin = _Start(starter(world, start), self.model.map, self.model.seed)
        report_start(lambda: begin.make(0), self.model.map, scope, self.diagnostics)
        return begin


def _footing(world: World) -> Footing:
    """What the governor and the invariants stand on."""
    return Footing(
        environment=world.environment,
        state=world.state,
        inputs=world.inputs,
        action=world.action,
        outcome=world.outcome,
        write_step=lambda emitter, kept, call, wanted: write_step(emitter, kept, world, Call(*call), wanted),
    )


def _parts(world: World) -> tuple[PlannedPart, ...]:
    """The parts whose worlds keep receipts."""
    told = ((name, part_receipt(part, name)) for name, part in world.parts.items())
    return tuple(PlannedPart(name, receipt) for name, receipt in told if receipt is not None)


class _Start:
    """`episode -> start state`; a map that does not vary is made once."""

    def __init__(self, make_state: Starter, map_: Map | None, seed: int) -> None:
        self._starter = make_state
        self._map = map_
        self._seed = seed
        self._made: State | None = None

    def __call__(self, episode: int) -> State:
        """The start state of an episode.

        Raises:
            EvaluationError: The world refuses the map of this episode; the first one's was looked at when compiling.
        """
        try:
            return self.make(episode)
        except IllFormedError as error:
            raise EvaluationError(error.code, str(error)) from None
        except MapError as error:
            raise EvaluationError(E_MAP, str(error)) from None

    def make(self, episode: int) -> State:
        """The same, with errors as the world gives them: IllFormedError, MapError or EvaluationError."""
        varies = self._map is not None and self._map.vary == "episode"
        if self._made is None or varies:
            number = episode if varies else 0
            grid = None if self._map is None else make(self._map, Stream.named(self._seed, "map", number))
            self._made = self._starter.state(grid)
        return self._made


def _judge(governor: Governor, footing: Footing, world: World) -> Callable[..., list[Judgement]]:
    """Judge a set of proposals: the schema first, then every gate; what cannot be evaluated is judged alone again."""
    judge = compile_judge(governor, footing)
    fits = _schema(world, governor.claims)

    def judge_set(state: State, proposals: list[Proposal], rejected: int, writes: list[int]) -> list[Judgement]:
        misfits = [fits(proposal) for proposal in proposals]
        if not any(misfits):
            try:
                return [Judgement(*found) for found in judge(state, proposals, len(proposals), rejected, writes)]
            except EvaluationError:
                pass  # at least one proposal has no judgement: find out which, the others keep theirs
        return [
            _schema_rejection(misfit) if misfit else _alone(judge, state, proposal, len(proposals), rejected, count)
            for misfit, proposal, count in zip(misfits, proposals, writes, strict=True)
        ]

    return judge_set


def _alone(
    judge: Callable[..., Any], state: State, proposal: Proposal, number: int, rejected: int, writes: int
) -> Judgement:
    try:
        return Judgement(*judge(state, [proposal], number, rejected, [writes])[0])
    except EvaluationError as error:
        return Judgement([], 0, {}, {}, error)


def _schema_rejection(reason: str) -> Judgement:
    return Judgement([{"gate": SCHEMA, "reason": reason, "witness": {}}], 0, {}, {})


def _schema(world: World, claims: Mapping[str, Type]) -> Callable[[Proposal], str | None]:
    """Why a proposal is malformed, or None: its operation, its arguments and its claims against their declarations."""
    tables = {
        op: tuple((name, action.allowed.get(name), type_) for name, type_ in action.args.fields.items())
        for op, action in world.actions.items()
    }
    keys = {op: {"op", *action.args.fields} for op, action in world.actions.items()}
    expected = {"action", "score", *claims}

    def misfit(proposal: Proposal) -> str | None:
        action = proposal["action"]
        op = action["op"]
        if op not in tables:
            return "unknown_action"
        if action.keys() != keys[op] or proposal.keys() != expected:
            return "malformed_proposal"
        for name, allowed, type_ in tables[op]:
            value = action[name]
            if (value not in allowed) if allowed is not None else not conforms(value, type_):
                return "malformed_action"
        return None

    return misfit
