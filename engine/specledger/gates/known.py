"""Gates, invariants and what they remember where some of what they read is unknown.

A gate or an invariant that comes out unknown is not judged: neither rejected nor admitted, neither held nor broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specledger.core.unknown import Unknown, first_unknown
from specledger.expr import Checked, EvaluationError
from specledger.expr.eval.evaluator import evaluate_known
from specledger.gates.governor import Footing, Governor, PlannedGate, reads_prediction
from specledger.gates.invariant import Invariant, compile_invariant, reads_of
from specledger.gates.monitor import Monitor, compile_monitor_writes
from specledger.lang.effects import PlannedEffect
from specledger.lang.memory import Memory, compile_remember
from specledger.lang.three_valued import any_unknown, known_effects, known_record, three_valued, with_let

Record = Mapping[str, Any]
Step = Callable[..., tuple[Any, Any]]


def recorded_judge(
    fast: Callable[..., Any], governor: Governor, step: Step, absent: str
) -> Callable[..., list[tuple[Any, ...]]]:
    """`compile_judge` of a recording.

    A gate that reads what a call leads to, by its result, does not know that: an error with the code `absent`.
    """
    known = known_judge(governor, step, predicts=reads_prediction(governor))

    def judge(state: Record, proposals: Sequence[Record], *given: Any) -> list[tuple[Any, ...]]:
        memory = given[-1]
        if not any_unknown(state, memory, *[proposal["action"] for proposal in proposals]):
            try:
                judged: list[tuple[Any, ...]] = fast(state, proposals, *given)
            except EvaluationError as error:
                if error.code != absent:
                    raise
            else:
                return judged
        return known(state, proposals, *given)

    return judge


def known_judge(governor: Governor, step: Step, *, predicts: bool) -> Callable[..., list[tuple[Any, ...]]]:
    """`compile_judge`, with what was not judged as a further member of each judgement.

    `predicts` says whether anything reads what an action leads to, which the three-valued `step` says.
    """

    def judge(
        state: Record, proposals: Sequence[Record], number: int, rejected: int, writes: Sequence[int], memory: Any
    ) -> list[tuple[Any, ...]]:
        names = {**state, "now": state, **(memory or {}), "proposals": number, "rejected": rejected}
        names = with_let(governor.let, names)
        return [
            _judged(governor, step if predicts else None, state, proposal, {**names, "writes": count})
            for proposal, count in zip(proposals, writes, strict=True)
        ]

    return judge


def _judged(
    governor: Governor, step: Step | None, state: Record, proposal: Record, names: dict[str, Any]
) -> tuple[Any, ...]:
    """The judgement of one proposal. A price that is unknown is left out of the sum, and not judged."""
    action = proposal["action"]
    names |= {"proposal": proposal, "action": action}
    priced = known_record(governor.cost, names)
    cost = {name: item for name, item in priced.items() if type(item) is not Unknown}
    unjudged = [_gap("cost", item) for item in priced.values() if type(item) is Unknown][:1]
    names["cost"] = first_unknown(priced) or sum(cost.values())
    names = with_let(governor.each, names)
    inputs = known_record(governor.supply, names)
    if step is not None:
        names["next"], names["outcome"] = step(state, action["op"], action, inputs)
    against: list[dict[str, Any]] = []
    for gate in governor.gates:
        if governor.first and (against or len(unjudged) > bool(first_unknown(priced))):
            break  # whether it judges at all is decided, or unknown
        fails = _fails(gate, names)
        if type(fails) is Unknown:
            unjudged.append(_gap(gate.id, fails))
        elif fails:
            against.append({"gate": gate.id, "reason": gate.reason, "witness": known_record(gate.witness, names)})
    value = evaluate_known(governor.value, names)
    total = {**cost, "total": sum(cost.values())}
    return against, 0 if type(value) is Unknown else value, total, inputs, None, unjudged


def _fails(gate: PlannedGate, names: Record) -> Any:
    return _and(gate.when, gate.condition, names, wanted=gate.rejects)


def _and(when: Checked, condition: Checked, names: Record, *, wanted: bool) -> Any:
    """Whether `when` holds and a condition is as `wanted`: False if either is known not to be."""
    concerned = evaluate_known(when, names)
    if concerned is False:
        return False
    value = evaluate_known(condition, names)
    if type(value) is not Unknown and value is not wanted:
        return False
    return concerned if type(concerned) is Unknown else value if type(value) is Unknown else True


def _gap(gate: str, unknown: Unknown) -> dict[str, str]:
    return {"gate": gate, "reason": unknown.reason}


def known_invariant(invariant: Invariant) -> Callable[..., Any]:
    """`compile_invariant`, or Unknown where that is what comes out."""

    def judge(previous: Record, state: Record, memory: Record | None = None) -> Any:
        names = {**state, "now": state, "previous": previous, **(memory or {})}
        if invariant.monitor is not None:
            names = with_let(invariant.monitor.needed(reads_of(invariant)), names)
        if evaluate_known(invariant.when, names) is False:
            return False
        broken = _and(invariant.when, invariant.require, names, wanted=False)
        if broken is True:
            return known_record(invariant.witness, names)
        return None if broken is False else broken

    return judge


def recorded_invariant(invariant: Invariant, footing: Footing) -> Callable[..., Any]:
    """`compile_invariant` of a recording."""
    return three_valued(compile_invariant(invariant, footing), known_invariant(invariant), any_unknown)


def recorded_monitor_writes(
    monitor: Monitor, writes: tuple[PlannedEffect, ...], footing: Footing
) -> Callable[..., dict[str, Any]]:
    """`compile_monitor_writes` of a recording."""
    fast = compile_monitor_writes(monitor, writes, footing)
    return three_valued(fast, known_monitor_writes(monitor, writes), any_unknown)


def known_monitor_writes(monitor: Monitor, writes: tuple[PlannedEffect, ...]) -> Callable[..., dict[str, Any]]:
    """`compile_monitor_writes`, of records with unknown members."""
    let = monitor.needed(frozenset[str]().union(*(write.variables for write in writes)))

    def remember(previous: Record, state: Record, action: Record, outcome: Record, memory: Record) -> dict[str, Any]:
        names = {**state, "now": state, "previous": previous, "action": action, "outcome": outcome}
        changed: dict[str, Any] = known_effects(writes, with_let(let, {**names, **memory}), memory)
        return changed

    return remember


def recorded_remember(memory: Memory) -> Callable[..., dict[str, Any]]:
    """`compile_remember` of a recording."""
    return three_valued(compile_remember(memory), known_remember(memory), any_unknown)


def known_remember(memory: Memory) -> Callable[..., dict[str, Any]]:
    """`compile_remember`."""

    def remember(observation: Record, remembered: Record, action: Record, seen: Record) -> dict[str, Any]:
        names = {**observation, **remembered, "action": action, "seen": seen}
        changed: dict[str, Any] = known_effects(memory.writes, names, remembered)
        return changed

    return remember


def known_potentials(governor: Governor) -> Callable[..., dict[str, Any]]:
    """`compile_potentials`."""

    def potentials(state: Record, memory: Record | None) -> dict[str, Any]:
        return known_record(governor.potentials, {**state, "now": state, **(memory or {})})

    return potentials
