"""The second evaluator on a run: gates and invariants, by another CEL engine.

The run is made again, and compared, for the states that the expressions read. The values of the expressions, and of
what a governor names by `let`, `each` and `cost`, come from the other engine alone (`cel-expr-python`, the extra
`judge`). Worlds step by our code, and an expression may call functions of ours; both are counted and reported. The
schema gate, scopes and tokens are no expressions and are not judged.

Source: CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.actor import footing_of
from specledger.compile.plan import Actor, Judgement, Plan, State
from specledger.compile.roles import Role, roles
from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Event
from specledger.core.unknown import Unknown
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe as ProbeReceipt
from specledger.evidence.receipts.run import Rules, Step
from specledger.expr import EvaluationError, RecordType
from specledger.gates.governor import SCHEMA, Footing, Governor, check_governor
from specledger.gates.invariant import Invariant, check_invariant
from specledger.load import Bundle
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.verify.checks import E_SPECS, Broken
from specledger.verify.extension import ControllerJudge, controlled
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference
from specledger.verify.replay import Made, compare, make_again
from specledger.worlds.check import check_world
from specledger.worlds.model import World

REMEMBERED: Final = "memories of invariants, which replay makes"
RULES: Final = "rules of policies"
"""What is counted as no expression's verdict."""
UNKNOWN_HERE: Final = "unjudged"
"""The verdict on what a recording leaves out."""


def judge_lines(specs: Bundle, plan: Plan, make: Callable[[Plan], Made], recorded: Iterable[bytes]) -> Count:
    """Make a run again and judge each verdict after its receipt was found to be the recorded one."""
    witness = RunJudge(specs, plan)

    def seen() -> Iterator[Event]:
        for event in make(witness.plan)(None):
            yield event
            witness.see(event)

    compare(make_again(lambda _: seen(), specs.digest), recorded)
    return witness.count


def _rules(bundle: Bundle) -> tuple[World, dict[str, Governor], dict[str, Invariant]]:
    """The world of a scenario, the governors by agent, and the invariants by name, checked again for what they read.

    Invariants about documents are the kernel's.
    """
    diagnostics, all_roles = Diagnostics(), roles(bundle)
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, diagnostics)
    checked = {} if world is None else {role.name: _governor(role, world, diagnostics) for role in all_roles}
    governors = {name: governor for name, governor in checked.items() if governor is not None}
    if world is None or len(governors) < len(all_roles):  # it compiled before
        diagnostics.raise_if_errors()
        raise Broken(E_SPECS, "the recorded specs have no rules")
    invariants: dict[str, Invariant] = {}
    for spec in (*(role.governor for role in all_roles), bundle.main):
        for path, key in spec.refs.items():
            named = bundle.specs[key]
            about_states = isinstance(named.model, InvariantSpec) and named.model.scope != "proposal"
            if path[0] == "invariants" and about_states and named.name not in invariants:
                invariant = check_invariant(named, _footing(world), diagnostics)
                if invariant is not None:
                    invariants[named.name] = invariant
    return world, governors, invariants


def _governor(role: Role, world: World, diagnostics: Diagnostics) -> Governor | None:
    """The governor of a role, checked on the world as its agent meets it."""
    met = world.seen_by(role.name) if role.name else world
    return check_governor(role.governor, _footing(met), diagnostics)


def _footing(world: World) -> Footing:
    return replace(footing_of(world), write_step=_unwritten)


def _unwritten(*_: Any) -> Any:
    raise NotImplementedError("rules are checked here, not compiled")


class RunJudge:
    """Records what the rules of a run are given, and judges each verdict."""

    def __init__(self, specs: Bundle, plan: Plan) -> None:
        self.count = Count()
        world, governors, self._invariants = _rules(specs)
        self._state, self._reference = world.state, Reference()
        self._actors = {
            actor.name: _ActorJudge(actor, governors[actor.name], self._state, self.count, self._reference)
            for actor in plan.actors
        }
        invariants = tuple(
            replace(rule, judge=partial(self._judge_invariant, rule.name, rule.judge)) for rule in plan.invariants
        )
        self.plan = replace(plan, invariants=invariants, actors=tuple(judge.actor for judge in self._actors.values()))

    def _judge_invariant(
        self, name: str, judge: Callable[..., Any], previous: State, state: State, *memory: Any
    ) -> Any:
        """Evaluate an invariant, and compare its outcome with the other engine's."""
        outcome = judge(previous, state, *memory)
        invariant = self._invariants[name]
        recorded = "idle" if outcome is False else "holds" if outcome is None else "broken"
        recorded = UNKNOWN_HERE if type(outcome) is Unknown else recorded
        remembered = memory[0] if memory else {}
        self.count.without.update([REMEMBERED] * len(memory))
        given = {**given_by(state, self._state), "previous": previous, **remembered}
        let = {} if invariant.monitor is None else dict(invariant.monitor.let)
        names = Names(self._reference, given, let)

        def verdict() -> str:
            concerned = names.truth_if_known(invariant.when)
            if concerned is False:
                return "idle"
            holds = names.truth_if_known(invariant.require)
            if holds:
                return "holds"
            return UNKNOWN_HERE if holds is None or concerned is None else "broken"

        self.count.compare(f"invariant {name}", recorded, verdict, names, (invariant.when, invariant.require))
        return outcome

    def see(self, event: Event) -> None:
        """Judge what a step decided; count what is no expression's."""
        if event.type == "probe":
            probe = typed(ProbeReceipt, event.body)
            controller = self._actors[probe.get("agent", "")].controller
            assert controller is not None  # noqa: S101 - a controller made the event
            controller.see(probe)
        elif event.type == "rules":
            rules = typed(Rules, event.body)
            judged = sum(rules["held"].values()) + len(rules["broken"]) + len(rules["unjudged"])
            self.count.without[RULES] += judged
        elif event.type == "step":
            step = typed(Step, event.body)
            self._actors[step.get("agent", "")].see(step)


class _ActorJudge:
    """Records what the governor of an actor is given, and judges its decisions."""

    def __init__(self, actor: Actor, governor: Governor, state: RecordType, count: Count, reference: Reference) -> None:
        self._governor, self._state, self._count, self._reference = governor, state, count, reference
        self._step, self._judge = actor.step, actor.judge
        self._who = f"agent {actor.name}, " if actor.name else ""
        self._given: tuple[Any, ...] | None = None
        self._judgements: list[Judgement] = []
        self.controller: ControllerJudge | None = None
        if actor.controller is not None:
            actor, self.controller = controlled().observe(actor, count, reference, state)
        self.actor = replace(actor, judge=self._judged)

    def _judged(self, *given: Any) -> list[Judgement]:
        self._judgements = self._judge(*given)
        self._given = given
        return self._judgements

    def see(self, body: Step) -> None:
        """Judge what a step decided; count what is no expression's."""
        for decision in body["decisions"]:
            ruled = {gate.id for gate in self._governor.gates}
            ruled |= self.controller.ruled if self.controller is not None else frozenset()
            rest = {failing["gate"] for failing in decision["rejected"]} - ruled  # rejections by no expression
            self._count.without.update(f"the {name} gate" for name in {SCHEMA} | rest)
        if self._given is not None:
            self._decided(body, *self._given)
        self._given = None

    def _decided(
        self,
        body: Step,
        state: State,
        proposals: Sequence[Mapping[str, Any]],
        rejected: int,
        writes: Sequence[int],
        memory: Any = None,
    ) -> None:
        governor = self._governor
        shared = {
            **given_by(state, self._state),
            **(memory or {}),
            "proposals": len(proposals),
            "rejected": rejected,
        }
        once = Names(self._reference, shared, dict(governor.let))
        for index, (proposal, judgement) in enumerate(zip(proposals, self._judgements, strict=True)):
            decision = body["decisions"][index]
            recorded = {failing["gate"]: "rejected" for failing in decision["rejected"]}
            recorded |= {gap["gate"]: UNKNOWN_HERE for gap in decision.get("unjudged", ())}
            if judgement.error is not None:
                self._count.open[UNVALUED] += len(governor.gates)
            elif SCHEMA not in recorded:
                action = proposal["action"]
                after = outcome = None
                with suppress(EvaluationError):  # a call of a recording that failed
                    after, outcome = self._step(state, action["op"], action, judgement.inputs)
                given = {"proposal": proposal, "action": action, "writes": writes[index]}
                names = once.inner(given, {**dict(governor.each)}, dict(governor.cost))
                names.bind(next=after, outcome=outcome)
                location = f"episode {body['episode']}, step {body['t']}, {self._who}proposal {index}"
                self._gates(governor, names, recorded, location)

    def _gates(self, governor: Governor, names: Names, recorded: Mapping[str, str], location: str) -> None:
        for number, gate in enumerate(governor.gates):
            if governor.first and any(earlier.id in recorded for earlier in governor.gates[:number]):
                break  # it did not judge

            def verdict(gate: Any = gate) -> str:
                concerned = names.truth_if_known(gate.when)
                if concerned is False:
                    return "admitted"
                condition = names.truth_if_known(gate.condition)
                if condition is not None and condition is not gate.rejects:
                    return "admitted"
                return UNKNOWN_HERE if condition is None or concerned is None else "rejected"

            own = recorded.get(gate.id, "admitted")
            self._count.compare(f"gate {gate.id} ({location})", own, verdict, names, (gate.when, gate.condition))


def given_by(state: State, type_: RecordType) -> dict[str, Any]:
    """What expressions read of a state: `now`, and its fields by their names alone."""
    return {**{name: state[name] for name in type_.fields if name in state}, "now": state}
