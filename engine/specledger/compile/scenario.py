"""From a scenario's bundle to its plan: each spec is checked against what it will meet, then compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specledger.agents.agent import Agent, Around, check_agent
from specledger.agents.propose import compile_propose
from specledger.compile.judging import compile_judge_set, plan_governor_state
from specledger.compile.kernel import Parts, compile_kernel
from specledger.compile.model_agent import compile_model_agent
from specledger.compile.plan import (
    KernelPlan,
    Plan,
    PlannedDrift,
    PlannedInvariant,
    PlannedMonitor,
    PlannedOutside,
    PlannedPart,
    PlannedWatchdog,
    State,
)
from specledger.compile.size_bound import may_exceed_limit
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics
from specledger.core.rng import Stream
from specledger.expr import BOOL, Environment, EvaluationError, RecordType
from specledger.gates.governor import SCHEMA, Footing, Governor, check_governor, see_claims_read
from specledger.gates.invariant import Invariant, check_invariant, compile_invariant
from specledger.gates.monitor import compile_monitor_begin, compile_monitor_step
from specledger.lang.memory import EPISODE, compile_begin, compile_remember, compile_writes
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.spec.agent import Agent as AgentSpec
from specledger.spec.agent import Outside
from specledger.spec.governor import Governor as GovernorSpec
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.spec.scenario import Map, Scenario
from specledger.worlds.check import check_world
from specledger.worlds.drift import Calendar, Drift, check_drift, compile_change, compile_sources
from specledger.worlds.emit import (
    Call,
    compile_between,
    compile_over,
    compile_predicate,
    compile_step,
    discloses_state,
    part_receipt,
    write_step,
)
from specledger.worlds.maps import MapError, make
from specledger.worlds.model import World
from specledger.worlds.start import E_MAP, IllFormedError, Starter, check_start, report_start, starter


def compile_scenario(bundle: Bundle) -> Plan:
    """Compile the scenario that a bundle was loaded for.

    Args:
        bundle: A bundle whose main spec is a scenario.

    Returns:
        The plan.

    Raises:
        Rejected: With every finding in any of the bundle's specs.
    """
    return _compiled(bundle)[0]


def with_seed(plan: Plan, bundle: Bundle) -> Plan:
    """The plan of a scenario that differs from a compiled one in its seed alone, and whose agents draw nothing.

    Raises:
        Rejected: The seed makes no map, or one that the world refuses.
    """
    model, start = bundle.main.model, plan.start
    assert isinstance(model, Scenario)  # noqa: S101 - see `_Compiler`
    assert isinstance(start, _Start)  # noqa: S101 - every compiled plan has one
    begin, diagnostics = start.with_seed(model.seed), Diagnostics(MOST_FINDINGS)
    try:
        report_start(lambda: begin.make(0), model.map, Scope(Environment(), bundle.main, diagnostics), diagnostics)
    except EvaluationError as error:
        diagnostics.error(error.code, error.message, error.span)
    diagnostics.raise_if_errors()
    return replace(plan, specs=bundle.digest, seed=model.seed, start=begin)


def inspect_scenario(bundle: Bundle) -> tuple[Diagnostic, ...]:
    """What was found in a scenario that compiles, and does not stop it.

    Raises:
        Rejected: As `compile_scenario`.
    """
    return _compiled(bundle)[1]


def _compiled(bundle: Bundle) -> tuple[Plan, tuple[Diagnostic, ...]]:
    diagnostics = Diagnostics(MOST_FINDINGS)
    compiler = _Compiler(bundle, diagnostics)
    plan = None
    try:
        plan = compiler.plan()
    except EvaluationError as error:  # a start value, a glyph's code or a drift's schedule, which are computed here
        diagnostics.error(error.code, error.message, error.span)
    diagnostics.raise_if_errors()
    assert plan is not None  # noqa: S101 - a part is missing only where there was a finding
    return plan, diagnostics.sorted()


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
        scope = Scope(world.environment, self.spec, self.diagnostics)
        start = self._start(world, scope)
        like = None if start is None or self.diagnostics.has_errors else start(0)
        footing = footing_of(world, like)
        governor = check_governor(self._referred("governor"), footing, self.diagnostics)
        around = None if governor is None else _around(world, governor)
        outside = self._outside()
        agent, declared = (None, None) if around is None else self._agents(around, outside)
        known = agent is not None or outside is not None
        kernel = self._kernel(world, around, agent, declared) if around is not None and known else None
        drifts = self._drifts(world)
        invariants = self._invariants(footing)
        until = scope.expression("until", expect=BOOL) if self.model.until is not None else None
        if governor is None or not known or start is None or self.diagnostics.has_errors:
            return None
        see_claims_read(governor, self._referred("governor"), self.diagnostics)
        return Plan(
            name=self.model.name,
            specs=self.bundle.digest,
            seed=self.model.seed,
            episodes=self.model.episodes,
            horizon=self.model.horizon,
            gates=(SCHEMA, *(() if kernel is None else kernel.admission.gates), *(gate.id for gate in governor.gates)),
            start=start,
            opening=compile_over(world, world.opening, like),
            observe=compile_over(world, world.observe, like),
            judge=compile_judge_set(governor, footing, world),
            step=compile_step(world, like),
            record=compile_between(world, world.record, like),
            success=compile_predicate(world, world.success, default=False),
            until=compile_predicate(world, until, default=False),
            drifts=tuple(planned for _, planned in drifts),
            invariants=tuple(planned for planned, _ in invariants),
            parts=_parts(world, like),
            governor_state=plan_governor_state(governor, footing),
            kernel=kernel,
            outside=None if outside is None else self._asked(outside, world, governor),
            watchdog=self._watchdog(outside),
            signed=kernel is not None and kernel.signing is not None,
            agent_faults=self.model.agent_faults,
            expect={} if self.model.expect is None else self.model.expect.model_dump(exclude_none=True),
            check_weights=may_exceed_limit(
                [world, governor, *(drift for drift, _ in drifts), *(each for _, each in invariants)]
            ),
            **_acts(agent, declared),
        )

    def _referred(self, *path: str | int) -> Resolved:
        """The spec that a reference of the scenario names; its kind was checked when it was resolved."""
        return self.bundle.specs[self.spec.refs[path]]

    def _outside(self) -> Outside | None:
        """Who is asked outside, if the agent is."""
        model = self._referred("agent").model
        assert isinstance(model, AgentSpec)  # noqa: S101 - see `_referred`
        return model.outside

    def _asked(self, outside: Outside, world: World, governor: Governor) -> PlannedOutside:
        """The agent from outside, and its model if it is one."""
        model, spec = None, self._referred("agent")
        if outside.model is not None:
            model = compile_model_agent(self.bundle, spec, outside, world, self.model.seed, self.diagnostics)
        return PlannedOutside(outside, _operations(world), governor.claims, model)

    def _watchdog(self, outside: Outside | None) -> PlannedWatchdog | None:
        """The time limits of asking the agent; the shorter one of its own and the kernel's."""
        governor = self._referred("governor").model
        assert isinstance(governor, GovernorSpec)  # noqa: S101 - see `_referred`
        admission, limits = governor.admission, [] if outside is None else [outside.deadline_ms]
        limits += [] if admission is None else [admission.watchdog_ms]
        if not limits:
            return None
        return PlannedWatchdog(min(limits), None if admission is None else admission.ms_per_tick)

    def _agents(self, around: Around, outside: Outside | None) -> tuple[Agent | None, Agent | None]:
        """The agent, if it is a spec; and the procedure that one from outside declares, whose memory a kernel keeps."""
        spec, governor = self._referred("agent"), self._referred("governor").model
        assert isinstance(governor, GovernorSpec)  # noqa: S101 - see `_referred`
        if outside is None:
            return check_agent(spec, around, self.diagnostics), None
        key = None if governor.admission is None else spec.refs.get(("outside", "declares"))
        return None, None if key is None else check_agent(self.bundle.specs[key], around, self.diagnostics)

    def _kernel(self, world: World, around: Around, agent: Agent | None, declared: Agent | None) -> KernelPlan | None:
        governor, spec = self._referred("governor"), self._referred("agent")
        parts = Parts(self.bundle, self.spec, governor, spec, world, around, agent, declared, self.diagnostics)
        return compile_kernel(parts)

    def _drifts(self, world: World) -> list[tuple[Drift, PlannedDrift]]:
        """The drifts in their order, without those that have findings; uses of one name are told apart by numbers."""
        keys = [self.spec.refs["drift", index] for index in range(len(self.model.drift))]
        calendar = Calendar(self.model.horizon)
        made = {key: self._drift(self.bundle.specs[key], world, calendar, n) for key, n in Counter(keys).items()}
        uses: Counter[str] = Counter()
        found = []
        for drift, planned in filter(None, map(made.get, keys)):
            uses[planned.name] += 1
            number = uses[planned.name]
            found.append((drift, planned if number == 1 else replace(planned, name=f"{planned.name}.{number}")))
        return found

    def _drift(self, spec: Resolved, world: World, calendar: Calendar, times: int) -> tuple[Drift, PlannedDrift] | None:
        drift = check_drift(spec, world, self.diagnostics)
        if drift is None:
            return None
        planned = PlannedDrift(
            name=spec.name,
            schedule=calendar.schedule(drift, times),
            streams=tuple(stream for _, stream, _ in drift.draws),
            draws=tuple(name for name, _, _ in drift.draws),
            sources=compile_sources(drift, world),
            apply=compile_change(drift, world),
        )
        return drift, planned

    def _invariants(self, footing: Footing) -> list[tuple[PlannedInvariant, Invariant]]:
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
            if model.scope == "proposal":
                continue  # the kernel's
            invariant = check_invariant(spec, footing, self.diagnostics)
            if invariant is not None:
                judge = compile_invariant(invariant, footing)
                monitor = _monitor(invariant, footing)
                judged = model.after_fatal == "judged"
                one = PlannedInvariant(spec.name, model.scope, model.severity, judge, monitor, judged)
                planned.append((one, invariant))
        return planned

    def _start(self, world: World, scope: Scope) -> Callable[[int], State] | None:
        start = check_start(world, self.model.start, scope)
        if self.diagnostics.has_errors:
            return None
        begin = _Start(starter(world, start), self.model.map, self.model.seed)
        report_start(lambda: begin.make(0), self.model.map, scope, self.diagnostics)
        return begin


def _monitor(invariant: Invariant, footing: Footing) -> PlannedMonitor | None:
    monitor = invariant.monitor
    if monitor is None:
        return None
    return PlannedMonitor(compile_monitor_begin(monitor, footing), compile_monitor_step(monitor, footing))


def _acts(agent: Agent | None, declared: Agent | None) -> dict[str, Any]:
    """What a plan calls of its agent; of one that is asked outside, the memory of the procedure that it declares."""
    if declared is not None:
        kept = {"begin": compile_begin(declared.kept), "remember": compile_remember(declared.kept)}
        return {**_memoryless(), "remembers": declared.scope, **kept}
    if agent is None:
        return {"remembers": EPISODE, **_memoryless()}
    return {
        "remembers": agent.scope,
        "begin": compile_begin(agent.kept),
        "propose": compile_propose(agent),
        "writes": compile_writes(agent.kept),
        "remember": compile_remember(agent.kept),
    }


def _operations(world: World) -> list[dict[str, Any]]:
    """The operations that an agent from outside is offered."""
    return [
        {
            "op": name,
            "args": {key: list(action.allowed.get(key, ())) or str(type_) for key, type_ in action.args.fields.items()},
        }
        for name, action in sorted(world.actions.items())
    ]


def _memoryless() -> dict[str, Callable[..., Any]]:
    """The functions of a plan for an agent that keeps its memory to itself."""
    return {
        "begin": lambda _observation: {},
        "propose": lambda _observation, _memory: [],
        "writes": lambda _observation, _memory, _action: 0,
        "remember": lambda _observation, memory, _action, _seen: memory,
    }


def _around(world: World, governor: Governor) -> Around:
    """What agents are given."""
    disclosed = discloses_state(world)
    return Around(
        functions=world.environment.functions,
        constants=world.environment.constants,
        observation=RecordType("observation", world.observe.types),
        actions={name: action.args for name, action in world.actions.items()},
        action=world.action,
        claims=governor.claims,
        state=world.state if disclosed else None,
        step=compile_step(world) if disclosed else None,
    )


def footing_of(world: World, like: State | None = None) -> Footing:
    """The names and types of the world for the governor and the invariants."""
    return Footing(
        environment=world.environment,
        state=world.state,
        inputs=world.inputs,
        action=world.action,
        outcome=world.outcome,
        observation=RecordType("observation", world.observe.types),
        write_step=lambda emitter, preload, call, wanted: write_step(emitter, preload, world, Call(*call), wanted),
        like=like,
    )


def _parts(world: World, like: State | None) -> tuple[PlannedPart, ...]:
    """The parts whose worlds keep receipts."""
    told = ((name, part_receipt(part, name, like)) for name, part in world.parts.items())
    return tuple(PlannedPart(name, receipt) for name, receipt in told if receipt is not None)


class _Start:
    """`episode -> start state`; a map that does not vary is made once."""

    def __init__(self, make_state: Starter, map_: Map | None, seed: int) -> None:
        self._starter = make_state
        self._map = map_
        self._seed = seed
        self._made: State | None = None

    def with_seed(self, seed: int) -> _Start:
        """The same, with the maps of another seed."""
        return _Start(self._starter, self._map, seed)

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
