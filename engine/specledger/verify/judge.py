"""The second evaluator on a run: gates, invariants and probes, by another CEL engine.

The run is made again, and compared, for the states that the expressions read. The values of the expressions, and of
what a governor names by `let`, `each` and `cost`, come from the other engine alone (`cel-expr-python`, the extra
`judge`). Worlds step by our code, and an expression may call functions of ours; both are counted and reported. The
schema gate, scopes and tokens are no expressions and are not judged.

Of a kernel, `when` and `require` of an invariant are judged at each ruling, `when` of a probe at each step, and
`expect` from the probe's receipt, for each answer to a challenge and for each offer. Scores, and whether a refusal was
logged, are in no receipt: they come from replay.

Source: CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.actor import footing_of
from specledger.compile.plan import Actor, Judgement, KernelPlan, Plan, State
from specledger.compile.roles import Role, roles
from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe as ProbeReceipt
from specledger.evidence.receipts.kernel import ProbeEvidence, Trial
from specledger.evidence.receipts.run import Step
from specledger.expr import Checked, EvaluationError, RecordType
from specledger.gates.governor import SCHEMA, Footing, Governor, check_governor
from specledger.gates.invariant import DocumentInvariant, Invariant, check_invariant
from specledger.load import Bundle
from specledger.probes.causes import Cause
from specledger.probes.check import Probe
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.verify.checks import E_SPECS, Broken
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference
from specledger.verify.replay import Made, compare, make_again
from specledger.worlds.check import check_world
from specledger.worlds.model import World

_ALWAYS: Final = "true"
"""A condition of which there is no verdict: it is what is left out."""

ENDED: Final = "probes that ended in an error"
UNASKED: Final = "probes that asked nothing"
UNCHANGED: Final = "challenges that changed nothing"
OTHERWISE: Final = "offers that were not denied for their breach"
REMEMBERED: Final = "memories of invariants, which replay makes"
"""What is counted as no expression's verdict."""


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
    diagnostics, found = Diagnostics(), roles(bundle)
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, diagnostics)
    checked = {} if world is None else {role.name: _governor(role, world, diagnostics) for role in found}
    governors = {name: governor for name, governor in checked.items() if governor is not None}
    if world is None or len(governors) < len(found):  # it compiled before
        diagnostics.raise_if_errors()
        raise Broken(E_SPECS, "the recorded specs have no rules")
    invariants: dict[str, Invariant] = {}
    for spec in (*(role.governor for role in found), bundle.main):
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
        invariants = tuple(replace(one, judge=partial(self._looked, one.name, one.judge)) for one in plan.invariants)
        self.plan = replace(plan, invariants=invariants, actors=tuple(one.actor for one in self._actors.values()))

    def _looked(self, name: str, judge: Callable[..., Any], previous: State, state: State, *memory: Any) -> Any:
        """What an invariant says, after the other engine was asked."""
        found = judge(previous, state, *memory)
        invariant = self._invariants[name]
        recorded = "idle" if found is False else "holds" if found is None else "broken"
        remembered = memory[0] if memory else {}
        self.count.without.update([REMEMBERED] * len(memory))
        given = {**given_by(state, self._state), "previous": previous, **remembered}
        let = {} if invariant.monitor is None else dict(invariant.monitor.let)
        names = Names(self._reference, given, let)

        def verdict() -> str:
            if not names.truth(invariant.when):
                return "idle"
            return "holds" if names.truth(invariant.require) else "broken"

        self.count.compare(f"invariant {name}", recorded, verdict, names, (invariant.when, invariant.require))
        return found

    def see(self, event: Event) -> None:
        """Judge what a step decided; count what is no expression's."""
        if event.type == "probe":
            probe = typed(ProbeReceipt, event.body)
            self._actors[probe.get("agent", "")].kernel.see(probe)
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
        self.kernel = KernelJudge(count, reference, state)
        observed = None if actor.kernel is None else self.kernel.observed(actor.kernel)
        self.actor = replace(actor, judge=self._judged, kernel=observed)

    def _judged(self, *given: Any) -> list[Judgement]:
        self._judgements = self._judge(*given)
        self._given = given
        return self._judgements

    def see(self, body: Step) -> None:
        """Judge what a step decided; count what is no expression's."""
        for decision in body["decisions"]:
            ruled = {gate.id for gate in self._governor.gates} | self.kernel.ruled
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
            recorded = {failing["gate"] for failing in body["decisions"][index]["rejected"]}
            if judgement.error is not None:
                self._count.open[UNVALUED] += len(governor.gates)
            elif SCHEMA not in recorded:
                action = proposal["action"]
                after, outcome = self._step(state, action["op"], action, judgement.inputs)
                given = {"proposal": proposal, "action": action, "writes": writes[index]}
                names = once.inner(given, {**dict(governor.each)}, dict(governor.cost))
                names.bind(next=after, outcome=outcome)
                place = f"episode {body['episode']}, step {body['t']}, {self._who}proposal {index}"
                self._gates(governor, names, recorded, place)

    def _gates(self, governor: Governor, names: Names, recorded: set[str], place: str) -> None:
        for number, gate in enumerate(governor.gates):
            if governor.first and any(earlier.id in recorded for earlier in governor.gates[:number]):
                break  # it did not judge

            def verdict(gate: Any = gate) -> str:
                fails = names.truth(gate.when) and names.truth(gate.condition) is gate.rejects
                return "rejected" if fails else "admitted"

            own = "rejected" if gate.id in recorded else "admitted"
            self._count.compare(f"gate {gate.id} ({place})", own, verdict, names, (gate.when, gate.condition))


class KernelJudge:
    """Records what the rules of a kernel are given, and judges each verdict."""

    def __init__(self, count: Count, reference: Reference, state: RecordType) -> None:
        self._count = count
        self._reference = reference
        self._state = state
        self.ruled: frozenset[str] = frozenset()
        self._probe: Probe | None = None
        self._given: list[Mapping[str, Any]] = []
        self._unvalued = False

    def observed(self, kernel: KernelPlan) -> KernelPlan:
        """The kernel with its rules replaced by recorded ones."""
        self.ruled = frozenset(one.name for one in kernel.admission.invariants)
        invariants = tuple(replace(one, judge=partial(self._ruled, one)) for one in kernel.admission.invariants)
        probes = [
            replace(one, when=partial(self._due, one), expect=partial(self._expected, one)) for one in kernel.probes
        ]
        return replace(kernel, admission=replace(kernel.admission, invariants=invariants), probes=probes)

    def _ruled(self, invariant: DocumentInvariant, state: State, document: Any, found: Any) -> dict[str, Any] | None:
        """What an invariant finds in a document, after the other engine was asked."""
        with self._valued():
            finding = invariant.judge(state, document, found)
        names = Names(self._reference, {**given_by(state, self._state), "document": document, "found": found})
        when, require = invariant.rules
        recorded = "kept" if finding is None else "broken"

        def verdict() -> str:
            return "broken" if names.truth(when) and not names.truth(require) else "kept"

        self._count.compare(f"invariant {invariant.name}", recorded, verdict, names, invariant.rules)
        return finding

    def _due(self, probe: Probe, state: State, t: int) -> bool:
        """Whether a probe is made, after the other engine was asked."""
        self._probe, self._given, self._unvalued = probe, [], False
        with self._valued():
            made = probe.when(state, t)
        when, _ = probe.rules
        if when.text.value != _ALWAYS:
            names = Names(self._reference, {**given_by(state, self._state), **probe.clock(t)})
            self._compare_truth(f"`when` of probe {probe.spec.name}", ("made", "not made"), made, names, when)
        return made

    @contextmanager
    def _valued(self) -> Iterator[None]:
        """While our engine evaluates: where it finds no value, that is what is recorded, and nothing is judged."""
        try:
            yield
        except EvaluationError:
            self._unvalued = True
            self._count.open[UNVALUED] += 1
            raise

    def _expected(self, probe: Probe, values: dict[str, Any]) -> bool:
        """Keep what `expect` is given until its receipt comes."""
        self._given.append(values)
        with self._valued():
            return probe.expect(values)

    def see(self, body: ProbeReceipt) -> None:
        """Judge what a probe's receipt says of what was expected."""
        given, self._given = self._given, []
        evidence = body["evidence"]
        if body["verdict"] == Verdict.ERROR:
            self._count.without[ENDED] += not self._unvalued
        elif "trials" in evidence:
            asked = [trial for trial in evidence["trials"] if trial["after"] is not None]
            self._count.without += {UNCHANGED: len(evidence["trials"]) - len(asked)}
            for number, (trial, values) in enumerate(zip(asked, given, strict=True)):
                self._compare(body, f", answer {number}", trial["held"], _answered(evidence, trial, values))
        elif "taken" not in evidence:
            self._count.without[UNASKED] += 1
        elif body["cause"] in (Cause.UNDENIED, Cause.UNRELATED):
            self._count.without[OTHERWISE] += 1
        else:
            denied = evidence["denied"] is None or evidence["denied"]  # null: nothing was attempted, so nothing passed
            recorded = {"taken": evidence["taken"], "denied": denied}
            self._compare(body, "", body["verdict"] == Verdict.PASS, {**given[0], **recorded})

    def _compare(self, body: ProbeReceipt, which: str, held: bool | None, values: Mapping[str, Any]) -> None:
        assert self._probe is not None  # noqa: S101 - its receipt comes after it was made
        _, expect = self._probe.rules
        names = Names(self._reference, values)
        what = f"probe {body['probe']} (episode {body['episode']}, step {body['t']}{which})"
        self._compare_truth(what, ("held", "not held"), bool(held), names, expect)

    def _compare_truth(self, what: str, words: tuple[str, str], recorded: bool, names: Names, rule: Checked) -> None:
        """Compare a truth with that of one rule; `words` say that it is true, and that it is not."""

        def word(holds: bool) -> str:
            return words[0] if holds else words[1]

        self._count.compare(what, word(recorded), lambda: word(names.truth(rule)), names, (rule,))


def _answered(evidence: ProbeEvidence, trial: Trial, made: Mapping[str, Any]) -> dict[str, Any]:
    """What `expect` reads in a challenge: choices and claims as recorded, scores as replay makes them."""
    before = trial["after"] if evidence.get("of") == "declared" else evidence["before"]
    choices = {"before": before, "after": trial["after"], "declared": trial["declared"]}
    read: dict[str, Any] = {name: {**made[name], "choice": choice} for name, choice in choices.items()}
    return {**read, "claim": {"variable": trial["variable"], "choice": trial["predicted"]}}


def given_by(state: State, type_: RecordType) -> dict[str, Any]:
    """What expressions read of a state: `now`, and its fields by their names alone."""
    return {**{name: state[name] for name in type_.fields if name in state}, "now": state}
