"""From a scenario's bundle to its plan: each spec is checked against what it will meet, then compiled."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.actor import compile_actor, footing_of, watchdog_of
from specledger.compile.chance import chance_of_actions, chance_of_steps
from specledger.compile.extension import Stage, recordings
from specledger.compile.plan import (
    Plan,
    PlannedDrift,
    PlannedInvariant,
    PlannedMonitor,
    PlannedPart,
    PlannedPolicies,
    PlannedRecording,
    State,
)
from specledger.compile.roles import Role, check_roles, name_memory_owners, roles
from specledger.compile.size_bounds import may_exceed_limit
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics, code
from specledger.core.events import Severity
from specledger.core.identity import ByIdentity
from specledger.core.rng import Stream
from specledger.core.wing import E_WING, missing_wing
from specledger.expr import BOOL, Environment, EvaluationError, RecordType
from specledger.expr.check.types import MISTAKEN, IntType
from specledger.expr.errors import E_EXPR_TYPE
from specledger.gates.governor import Footing, see_claims_read
from specledger.gates.invariant import Invariant, check_invariant, compile_invariant
from specledger.gates.known import recorded_invariant, recorded_monitor_writes
from specledger.gates.monitor import compile_monitor_begin, compile_monitor_writes
from specledger.lang.draws import draw_from
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.load.findings import E_SPEC_MISSING_KEY
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.spec.scenario import Map, Scenario
from specledger.worlds.chance import compile_change, compile_sources
from specledger.worlds.check import check_world
from specledger.worlds.drift import Calendar, Drift, check_drift
from specledger.worlds.emit import (
    compile_between,
    compile_over,
    compile_predicate,
    part_receipt,
)
from specledger.worlds.known import recorded_between, recorded_part_receipt, recorded_predicate
from specledger.worlds.maps import MapError, make
from specledger.worlds.model import World
from specledger.worlds.results import without_simulation
from specledger.worlds.start import E_MAP, IllFormedError, Starter, check_start, report_start, starter

E_RECORDING = code("E_RECORDING", "a scenario does not fit an agent that is a recording")


def compile_scenario(bundle: Bundle) -> Plan:
    """Compile the scenario that a bundle was loaded for; the last one is kept, which is checked and then run.

    Returns:
        The plan.
    """
    return _compile(ByIdentity(bundle))


@lru_cache(maxsize=1)
def _compile(key: ByIdentity[Bundle]) -> Plan:
    return compile_with_findings(key.value)[0]


class Start:
    """`episode -> start state`; a map that does not vary is made once."""

    def __init__(self, make_state: Starter, map_: Map | None, seed: int) -> None:
        self.starter = make_state
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
        if self._made is None or varies or self.starter.draws:
            number = episode if varies else 0
            grid = None if self._map is None else make(self._map, Stream.named(self._seed, "map", number))
            self._made = self.starter.state(grid, list(self.drawn(episode).values()))
        return self._made

    def drawn(self, episode: int) -> dict[str, Any]:
        """What is drawn for the start of an episode, by name."""
        lists = zip(self.starter.draws, self.starter.lists(), strict=True)
        named = (((draw.stream, episode, draw.name), items) for draw, items in lists)
        return {names[-1]: draw_from(Stream.named(self._seed, "start", *names), items) for names, items in named}


def with_start(plan: Plan, bundle: Bundle) -> Plan:
    """The plan of a scenario that differs from a compiled one in `OWN` alone, and whose agents draw nothing.

    Code that was generated for start states of another shape is slower on these.
    """
    model, start = bundle.main.model, plan.start
    assert isinstance(model, Scenario)  # noqa: S101 - see `_Compiler`
    assert isinstance(start, Start)  # noqa: S101 - every compiled plan has one
    begin, diagnostics = Start(start.starter, model.map, model.seed), Diagnostics(MOST_FINDINGS)
    try:
        report_start(
            lambda: begin.make(0),
            model.map,
            Scope(Environment(), bundle.main, diagnostics),
            diagnostics,
            own=bool(model.start),
        )
    except EvaluationError as error:
        diagnostics.error(error.code, error.message, error.span)
    diagnostics.raise_if_errors()
    return replace(plan, **_own(bundle, model), start=begin, drawn=begin.drawn)


OWN: Final = frozenset({"name", "doc", "seed", "map", "episodes", "expect"})
"""The keys of a scenario that a plan holds in its start states and in `_own` alone, if its agents draw nothing."""


def _own(bundle: Bundle, model: Scenario) -> dict[str, Any]:
    """What a plan says of its scenario."""
    return {
        "name": model.name,
        "specs": bundle.digest,
        "seed": model.seed,
        "episodes": model.episodes,
        "expect": {} if model.expect is None else model.expect.model_dump(exclude_none=True),
    }


def compile_with_findings(bundle: Bundle) -> tuple[Plan, tuple[Diagnostic, ...]]:
    """The plan of a scenario, and the findings that do not stop it; Rejected if it does not compile."""
    diagnostics = Diagnostics(MOST_FINDINGS)
    compiler = _Compiler(bundle, diagnostics)
    plan = None
    try:
        plan = compiler.plan()
    except EvaluationError as error:  # a start value, a glyph's code or a drift's schedule, which are computed here
        diagnostics.error(error.code, error.message, error.span)
    diagnostics = name_memory_owners(bundle, diagnostics)
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
        world = without_simulation(world) if self._recorded else world
        scope = Scope(world.environment, self.spec, self.diagnostics)
        start = self._start(world, scope)
        like = None if start is None or self.diagnostics.has_errors else start(0)
        check_roles(self.spec, world, self.diagnostics)
        if self.diagnostics.has_errors:
            return None
        cast = roles(self.bundle)
        stage = Stage(self.bundle, self.model.seed, world, like, self.diagnostics)
        compiled = [compile_actor(role, stage) for role in cast]
        actors, governors = zip(*filter(None, compiled), strict=True) if all(compiled) else ((), ())
        recording = self._recording(cast, stage)
        policies = None if self._recorded else self._policies(stage, scope)
        drifts = self._drifts(world)
        unknown = any(role.leaves_out(world) for role in cast)
        invariants = self._invariants(cast, stage, unknown=unknown)
        until = scope.timed(world.clock).expression("until", expect=BOOL) if self.model.until is not None else None
        if start is None or self.diagnostics.has_errors:
            return None
        for role, governor in zip(cast, governors, strict=True):
            see_claims_read(governor, role.governor, self.diagnostics)
        return Plan(
            **_own(self.bundle, self.model),
            horizon=self.model.horizon or 1,
            start=start,
            drawn=start.drawn,
            chance=chance_of_actions(world) if world.drawing_in_a_step else {},
            step_chance=chance_of_steps(world) if world.chance.draws else None,
            opening=compile_over(world, world.opening, like),
            record=(recorded_between if unknown else compile_between)(world, world.record, like),
            success=(recorded_predicate if unknown else compile_predicate)(world, world.success, default=False),
            until=compile_predicate(world, until, default=False),
            drifts=tuple(planned for _, planned in drifts),
            invariants=tuple(planned for planned, _ in invariants),
            parts=_parts(world, like, unknown=unknown),
            actors=actors,
            simultaneous=self.model.turns == "simultaneous",
            watchdog=watchdog_of(cast),
            recording=recording,
            policies=policies,
            on_denied=self.model.on_denied,
            agent_faults=self.spec.data.get("agent_faults", "inconclusive"),
            check_weights=may_exceed_limit(
                _hashed(world), [world, *governors, *(drift for drift, _ in drifts), *(rule for _, rule in invariants)]
            ),
        )

    @property
    def _recorded(self) -> bool:
        """Whether an agent of the scenario is a recording."""
        return any(role.decider.trajectories is not None for role in roles(self.bundle))

    def _recording(self, cast: tuple[Role, ...], stage: Stage) -> PlannedRecording | None:
        """The recording of the scenario's agent; None where it decides, or with findings."""
        if not self._recorded:
            if self.model.horizon is None:
                self.diagnostics.error(
                    E_SPEC_MISSING_KEY, "a scenario needs the key `horizon`", self.spec.span(), hint="add `horizon: 50`"
                )
            return None
        part = recordings()
        if part is None:
            message, hint = missing_wing("trajectories", "`trajectories` of an agent")
            self.diagnostics.error(E_WING, message, cast[0].agent.span("trajectories"), hint=hint)
            return None
        return part.compile(stage, cast[0])

    def _policies(self, stage: Stage, scope: Scope) -> PlannedPolicies | None:
        """The policies over what the scenario's agents do; None without any, or with findings."""
        time = None if self.model.time is None else scope.timed(stage.world.clock).expression("time")
        if time is not None and not isinstance(time.type, IntType) and time.type != MISTAKEN:
            message = f"a time is seconds as int or qfixed, not {time.type}"
            self.diagnostics.error(E_EXPR_TYPE, message, self.spec.span("time"), hint="as in `t * 60`")
            return None
        if not self.model.policies:
            return None
        part = recordings()
        if part is None:
            message, hint = missing_wing("trajectories", "`policies` of a scenario")
            self.diagnostics.error(E_WING, message, self.spec.span("policies"), hint=hint)
            return None
        return part.policies(stage, time)

    def _referred(self, *path: str | int) -> Resolved:
        """The spec that a reference of the scenario names; its kind was checked when it was resolved."""
        return self.bundle.specs[self.spec.refs[path]]

    def _drifts(self, world: World) -> list[tuple[Drift, PlannedDrift]]:
        """The drifts in their order, without those that have findings; uses of one name are told apart by numbers."""
        keys = [self.spec.refs["drift", index] for index in range(len(self.model.drift))]
        calendar = Calendar(self.model.horizon or 1)
        compiled = {key: self._drift(self.bundle.specs[key], world, calendar, n) for key, n in Counter(keys).items()}
        uses: Counter[str] = Counter()
        drifts = []
        for drift, planned in filter(None, map(compiled.get, keys)):
            uses[planned.name] += 1
            number = uses[planned.name]
            drifts.append((drift, planned if number == 1 else replace(planned, name=f"{planned.name}.{number}")))
        return drifts

    def _drift(self, spec: Resolved, world: World, calendar: Calendar, times: int) -> tuple[Drift, PlannedDrift] | None:
        drift = check_drift(spec, world, self.diagnostics)
        if drift is None:
            return None
        planned = PlannedDrift(
            name=spec.name,
            schedule=calendar.schedule(drift, times),
            streams=tuple(draw.stream for draw in drift.draws),
            draws=tuple(draw.name for draw in drift.draws),
            sources=compile_sources(drift.draws, world, drift.when),
            apply=compile_change(drift.draws, drift.effects, world),
        )
        return drift, planned

    def _invariants(
        self, cast: tuple[Role, ...], stage: Stage, *, unknown: bool
    ) -> list[tuple[PlannedInvariant, Invariant]]:
        """The governors' invariants and the scenario's; one that several name is looked at once."""
        footing = footing_of(stage.world, stage.like, simultaneous=self.model.turns == "simultaneous")
        keys = [
            key
            for spec in (*(role.governor for role in cast), self.spec)
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
                judge = (recorded_invariant if unknown else compile_invariant)(invariant, footing)
                monitor = _monitor(invariant, footing, unknown=unknown)
                judged = model.after_fatal == "judged"
                entry = PlannedInvariant(spec.name, model.scope, Severity(model.severity), judge, monitor, judged)
                planned.append((entry, invariant))
        return planned

    def _start(self, world: World, scope: Scope) -> Start | None:
        start = check_start(world, self.model.start, scope)
        if self.diagnostics.has_errors:
            return None
        begin = Start(starter(world, start), self.model.map, self.model.seed)
        report_start(lambda: begin.make(0), self.model.map, scope, self.diagnostics, own=bool(self.model.start))
        return begin


def _hashed(world: World) -> list[RecordType]:
    """The types of what is hashed and in no receipt: the state, and what is observed by whoever it is."""
    own = [view.types for view, _ in world.views.values()] or [{}]
    return [world.state, *(RecordType("observation", {**world.observe.types, **types}) for types in own)]


def _monitor(invariant: Invariant, footing: Footing, *, unknown: bool) -> PlannedMonitor | None:
    monitor = invariant.monitor
    if monitor is None:
        return None
    writes = recorded_monitor_writes if unknown else compile_monitor_writes
    return PlannedMonitor(
        begin=compile_monitor_begin(monitor, footing),
        remember=writes(monitor, monitor.writes, footing),
        act=writes(monitor, monitor.acts, footing) if monitor.acts else None,
    )


def _parts(world: World, like: State | None, *, unknown: bool) -> tuple[PlannedPart, ...]:
    """The parts whose worlds keep receipts."""
    describe = recorded_part_receipt if unknown else part_receipt
    receipts = ((name, describe(part, name, like)) for name, part in world.parts.items())
    return tuple(PlannedPart(name, receipt) for name, receipt in receipts if receipt is not None)
