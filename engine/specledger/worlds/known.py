"""A world's functions where some of what they read is unknown: of a recording, which leaves things out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specledger.core.unknown import Unknown, first_unknown
from specledger.expr import Checked
from specledger.expr.eval.evaluator import evaluate_known
from specledger.lang.scope import Let
from specledger.lang.three_valued import (
    any_unknown,
    known_effects,
    known_record,
    three_valued,
    unknown_effects,
    with_let,
)
from specledger.worlds.emit import compile_between, compile_over, compile_predicate, compile_step, part_receipt
from specledger.worlds.model import PlannedAction, PlannedPart, World

State = Mapping[str, Any]

NO_RESULT = Unknown("the result of a call is not known before it")


def recorded_step(world: World, like: State | None) -> Callable[..., Any]:
    """`compile_step`, of states, arguments and results with unknown members."""
    return three_valued(compile_step(world, like), known_step(world), _step_reads_unknown)


def recorded_over(world: World, expressions: Let, like: State | None) -> Callable[[Any], dict[str, Any]]:
    """`compile_over`, of states with unknown members."""

    def known(state: State) -> dict[str, Any]:
        return known_record(expressions, _names(state))

    return three_valued(compile_over(world, expressions, like), known, any_unknown)


def recorded_between(world: World, expressions: Let, like: State | None) -> Callable[..., dict[str, Any]]:
    """`compile_between`, of states and outcomes with unknown members."""
    own = Let(tuple(item for item in expressions if item[0] not in expressions.labels))

    def known(state: State, after: State, outcome: Mapping[str, Any]) -> dict[str, Any]:
        names = with_let(own, {**_names(state), "next": after, "outcome": outcome})
        return {
            name: names[name] if name not in expressions.labels else evaluate_known(c, names) for name, c in expressions
        }

    fast = compile_between(world, expressions, like)
    return three_valued(fast, known, any_unknown) if any(expressions) else fast


def recorded_predicate(world: World, predicate: Checked | None, default: bool) -> Callable[[Any], bool]:
    """`compile_predicate`, of states with unknown members: what is not known to hold does not."""

    def known(state: State) -> bool:
        return predicate is not None and evaluate_known(predicate, _names(state)) is True

    fast = compile_predicate(world, predicate, default)
    return fast if predicate is None else three_valued(fast, known, any_unknown)


def recorded_part_receipt(part: PlannedPart, name: str, like: State | None) -> Callable[..., dict[str, Any]] | None:
    """`part_receipt` of a recording: empty where the part's step is unknown."""
    fast = part_receipt(part, name, like)

    def unknown(*records: State) -> bool:
        return any(type(record[name]) is Unknown for record in records)

    return None if fast is None else three_valued(fast, lambda *_: {}, unknown)


def known_step(world: World) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """`(state, op, args, inputs) -> (next state, outcome)`."""
    parts = {name: compile_step(part.world) for name, part in world.parts.items()}

    def step(state: State, op: str, args: State, inputs: State) -> tuple[Any, dict[str, Any]]:
        action = world.actions[op]
        names = {**_names(state), **{name: args[name] for name in action.args.fields}, **inputs}
        if action.result.fields:
            names["result"] = inputs.get("result") or dict.fromkeys(action.result.fields, NO_RESULT)
        names = with_let(action.let, names)
        after = _guarded(action, names, state)
        outcome = known_record(action.outcome, names)
        for name, coupling in world.parts.items():
            if op in coupling.follow:
                after[name], outcome[name] = _part(coupling.follow[op], names, state[name], parts[name])
        return known_effects(world.every_step, _names(after), after), outcome

    return step


def _guarded(action: PlannedAction, names: Mapping[str, Any], state: State) -> Any:
    when = evaluate_known(action.when, names)
    if type(when) is Unknown:
        return unknown_effects((*action.effects, *action.otherwise), when, state)
    return known_effects(action.effects if when else action.otherwise, names, state)


def _part(coupling: Any, names: Mapping[str, Any], state: Any, step: Callable[..., Any]) -> tuple[Any, Any]:
    """The next state of a part and its outcome; both unknown where what it is given is."""
    given = known_record(coupling.args, with_let(coupling.let, names))
    unknown = first_unknown(state) or first_unknown(given)
    return (unknown, unknown) if unknown is not None else step(state, coupling.action, given, {})


def _step_reads_unknown(state: State, op: str, args: State, inputs: State) -> bool:
    return any_unknown(state, args, inputs, inputs.get("result"))


def _names(state: State) -> dict[str, Any]:
    return {**state, "now": state}
