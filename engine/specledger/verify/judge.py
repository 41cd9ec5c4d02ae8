"""The second evaluator on a run: every decision of a gate and every verdict of an invariant, by another CEL engine.

The run is made again, and compared, for the states that the expressions read. The values of the expressions, and of
what a governor names by `let`, `each` and `cost`, come from the other engine alone (`cel-expr-python`, the extra
`judge`). Worlds step by our code, and an expression may call functions of ours; both are counted and reported. The
schema gate, scopes and tokens are no expressions and are not judged.

Source: CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from specledger.compile.plan import Judgement, Plan, State
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Event
from specledger.evidence.chain import Chain, run_id
from specledger.expr import RecordType
from specledger.gates.governor import SCHEMA, Footing, Governor, check_governor
from specledger.gates.invariant import Invariant, check_invariant
from specledger.load import Bundle, Resolved
from specledger.spec.invariant import Invariant as InvariantSpec
from specledger.verify.checks import E_REPLAY, E_SPECS, Broken
from specledger.verify.judge_kernel import KernelJudge, fields_of
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference
from specledger.verify.replay import Made, first_difference
from specledger.worlds.check import check_world
from specledger.worlds.model import World

_IDLE: Final = "idle"
_HOLDS: Final = "holds"
_BROKEN: Final = "broken"


def judge_lines(specs: Bundle, make: Callable[[Plan], Made], recorded: Iterable[bytes]) -> Count:
    """Make a run again and judge each verdict where it falls, until one differs.

    Args:
        specs: The recorded specs, which compile.
        make: Gives what makes the run again from a plan.
        recorded: The receipts.

    Raises:
        Broken: E_REPLAY, if the run is not the recorded one.
        Rejected: E_JUDGE_PACKAGE.
    """
    witness = _RunJudge(compile_scenario(specs), _Rules(specs))
    chain = Chain(run_id(specs.digest))
    for event, line in zip_longest(make(witness.plan)(None), recorded):
        made = None if event is None else chain.seal(event)
        if made != line:
            raise Broken(E_REPLAY, first_difference(chain.count - 1, made, line))
        witness.see(event)
        if witness.count.against is not None:
            break
    return witness.count


class _Rules:
    """The expressions of a scenario that give verdicts, checked again for what they read."""

    def __init__(self, bundle: Bundle) -> None:
        diagnostics = Diagnostics()
        self._bundle, self._spec = bundle, bundle.main
        world = check_world(self._referred("world"), bundle, diagnostics)
        footing = None if world is None else _footing(world)
        governor = None if footing is None else check_governor(self._referred("governor"), footing, diagnostics)
        if governor is None or footing is None or world is None:  # it compiled before
            diagnostics.raise_if_errors()
            raise Broken(E_SPECS, "the recorded specs have no rules")
        self.governor: Governor = governor
        self.state = world.state
        self.invariants = self._invariants(footing, diagnostics)

    def _referred(self, name: str) -> Resolved:
        return self._bundle.specs[self._spec.refs[name,]]

    def _invariants(self, footing: Footing, diagnostics: Diagnostics) -> dict[str, Invariant]:
        """By name; those about documents are the kernel's."""
        found = {}
        for spec in (self._referred("governor"), self._spec):
            for path, key in spec.refs.items():
                named = self._bundle.specs[key]
                if path[0] != "invariants" or not isinstance(named.model, InvariantSpec):
                    continue
                if named.model.scope != "proposal" and named.name not in found:
                    invariant = check_invariant(named, footing, diagnostics)
                    if invariant is not None:
                        found[named.name] = invariant
        return found


def _footing(world: World) -> Footing:
    return Footing(
        environment=world.environment,
        state=world.state,
        inputs=world.inputs,
        action=world.action,
        outcome=world.outcome,
        observation=RecordType("observation", world.observe.types),
        write_step=_unwritten,
    )


def _unwritten(*_: Any) -> Any:
    raise NotImplementedError("rules are checked here, not compiled")


class _RunJudge:
    """Stands beside a run, sees what its rules are given, and has each verdict judged.

    Attributes:
        plan: The plan, whose judgements and invariants are recorded.
        count: What was judged so far.
    """

    def __init__(self, plan: Plan, rules: _Rules) -> None:
        self.count = Count()
        self._rules = rules
        self._reference = Reference()
        self._step = plan.step
        self._judge = plan.judge
        self._given: tuple[Any, ...] | None = None
        self._judgements: list[Judgement] = []
        invariants = tuple(replace(one, judge=partial(self._looked, one.name, one.judge)) for one in plan.invariants)
        self._kernel = KernelJudge(self.count, self._reference, rules.state)
        kernel = None if plan.kernel is None else self._kernel.beside(plan.kernel)
        self.plan = replace(plan, judge=self._judged, invariants=invariants, kernel=kernel)

    def _judged(self, *given: Any) -> list[Judgement]:
        self._judgements = self._judge(*given)
        self._given = given
        return self._judgements

    def _looked(self, name: str, judge: Callable[..., Any], previous: State, state: State) -> Any:
        """What an invariant says, after the other engine was asked."""
        found = judge(previous, state)
        invariant = self._rules.invariants[name]
        said = _IDLE if found is False else _HOLDS if found is None else _BROKEN
        names = Names(self._reference, {**fields_of(state, self._rules.state), "now": state, "previous": previous})

        def verdict() -> str:
            if not names.truth(invariant.when):
                return _IDLE
            return _HOLDS if names.truth(invariant.require) else _BROKEN

        rules = (invariant.when, invariant.require)
        self.count.compare(f"invariant {name}", said, verdict, self._reference, rules)
        return found

    def see(self, event: Event | None) -> None:
        """Judge what a step decided; count what is no expression's."""
        if event is None:
            return
        if event.type == "probe":
            self._kernel.see(event.body)
        elif event.type == "step":
            for decision in event.body["decisions"]:
                self._count_rest({failing["gate"] for failing in decision["rejected"]})
            if self._given is not None:
                self._decided(event.body, *self._given)
            self._given = None

    def _count_rest(self, recorded: set[str]) -> None:
        """Count the schema gate, which judges every proposal, and rejections by other gates without an expression."""
        ruled = {gate.id for gate in self._rules.governor.gates} | self._kernel.ruled
        self.count.without.update(f"the {name} gate" for name in {SCHEMA} | recorded - ruled)

    def _decided(
        self,
        body: Mapping[str, Any],
        state: State,
        proposals: Sequence[Mapping[str, Any]],
        rejected: int,
        writes: Sequence[int],
        memory: Any = None,
    ) -> None:
        governor = self._rules.governor
        shared = {
            **fields_of(state, self._rules.state),
            **(memory or {}),
            "now": state,
            "proposals": len(proposals),
            "rejected": rejected,
        }
        once = Names(self._reference, shared, dict(governor.let))
        for index, (proposal, judgement) in enumerate(zip(proposals, self._judgements, strict=True)):
            recorded = {failing["gate"] for failing in body["decisions"][index]["rejected"]}
            if judgement.error is not None:
                self.count.open[UNVALUED] += len(governor.gates)
            elif SCHEMA not in recorded:
                action = proposal["action"]
                after, outcome = self._step(state, action["op"], action, judgement.inputs)
                given = {"proposal": proposal, "action": action, "writes": writes[index]}
                names = once.inner(given, {**dict(governor.each)}, dict(governor.cost))
                names.bind(next=after, outcome=outcome)
                place = f"episode {body['episode']}, step {body['t']}, proposal {index}"
                self._gates(governor, names, recorded, place)

    def _gates(self, governor: Governor, names: Names, recorded: set[str], place: str) -> None:
        for gate in governor.gates:

            def verdict(gate: Any = gate) -> str:
                fails = names.truth(gate.when) and names.truth(gate.condition) is gate.rejects
                return "rejected" if fails else "admitted"

            said = "rejected" if gate.id in recorded else "admitted"
            rules = (gate.when, gate.condition)
            self.count.compare(f"gate {gate.id} ({place})", said, verdict, self._reference, rules, names)
