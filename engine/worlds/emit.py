"""A checked world written as Python functions over plain states; nothing here changes a state in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from engine.expr import Checked, Emitter, compile_function
from engine.expr.statements.bind import bind, emit_let, emit_record, fields_of
from engine.expr.statements.effects import PlannedEffect, emit_effects
from engine.expr.statements.scope import Fields, Let
from engine.worlds.model import PlannedAction, PlannedPart, World

EVERYTHING: Final[frozenset[tuple[str, ...]]] = frozenset({()})
"""The paths of an outcome, where all of it is wanted."""


def compose_step(emitter: Emitter, world: World, wanted: frozenset[tuple[str, ...]] = EVERYTHING) -> str:
    """The function `(state, op, args, inputs) -> (next state, outcome)`; returns its name.

    The next state is the one after the action's effects, the parts' steps and `every_step`; the first two read the
    state before, `every_step` reads what they made.

    Args:
        emitter: Where the function will stand.
        world: The world.
        wanted: Paths of the outcome that the caller reads; the rest is left out, since a prediction needs little of it.
    """
    parts = {
        name: dict.fromkeys(part.follow, compose_step(emitter, part.world, _below(wanted, name)))
        for name, part in world.parts.items()
    }
    actions = {name: _compose_action(emitter, world, name, parts, wanted) for name in world.actions}
    state, op, args, inputs = (emitter.local(hint) for hint in ("state", "op", "args", "inputs"))
    table = emitter.bind(UnknownActionError, "UnknownActionError")
    lines = []
    for name, function in actions.items():
        lines += [f"if {op} == {emitter.constant(name)}:", f"    return {function}({state}, {args}, {inputs})"]
    return emitter.function("step", [state, op, args, inputs], [*lines, f"raise {table}({op})"])


class UnknownActionError(LookupError):
    """A step was asked for an operation that the world does not have: a caller's mistake, never a spec's."""


def _below(wanted: frozenset[tuple[str, ...]], name: str) -> frozenset[tuple[str, ...]]:
    """The wanted paths inside one field; all of the field, if anything above it is wanted whole."""
    return EVERYTHING if () in wanted else frozenset(path[1:] for path in wanted if path[0] == name)


def _compose_action(
    emitter: Emitter,
    world: World,
    name: str,
    parts: Mapping[str, Mapping[str, str]],
    wanted: frozenset[tuple[str, ...]],
) -> str:
    action = world.actions[name]
    state, args, inputs, after, outcome = (emitter.local(h) for h in ("state", "args", "inputs", "after", "outcome"))
    couplings = {part: planned.follow[name] for part, planned in world.parts.items() if name in planned.follow}
    sources = {
        "now": state,
        **fields_of(emitter, state, world.state.fields),
        **fields_of(emitter, args, action.args.fields),
        **fields_of(emitter, inputs, world.inputs.fields),
    }
    told_of = Fields(tuple((key, checked) for key, checked in action.outcome if _below(wanted, key)))
    needed = _reads(action, told_of).union(*(c.let.variables | _free(c.args, c.let) for c in couplings.values()))
    lines, names = bind(emitter, needed, sources)
    lines += emit_let(emitter, action.let, names)
    lines.append(f"{after} = {state}")
    lines += _guarded(emitter, action, names, after)
    outcomes = {key: emitter.expression(checked, names) for key, checked in told_of}
    for part, coupling in couplings.items():
        inner = dict(names)
        lines += emit_let(emitter, coupling.let, inner)
        made, told = emitter.local(part), emitter.local("told")
        call = parts[part][name]
        place = f"{state}[{emitter.constant(part)}]"
        arguments = emit_record(emitter, coupling.args, inner)
        lines += [
            f"{made}, {told} = {call}({place}, {emitter.constant(coupling.action)}, {arguments}, {{}})",
            f"{after} = {{**{after}, {emitter.constant(part)}: {made}}}",
        ]
        outcomes[part] = told
    report = ", ".join(f"{emitter.constant(key)}: {value}" for key, value in outcomes.items())
    lines.append(f"{outcome} = {{{report}}}")
    lines += _every_step(emitter, world, after)
    return emitter.function(f"do_{name}", [state, args, inputs], [*lines, f"return {after}, {outcome}"])


def _guarded(emitter: Emitter, action: PlannedAction, names: Mapping[str, str], after: str) -> list[str]:
    """The effects of an action, or what it does otherwise."""
    effects = emit_effects(emitter, action.effects, names, after)
    otherwise = emit_effects(emitter, action.otherwise, names, after)
    if action.when.text.value == "true":
        return effects
    lines = [f"if {emitter.expression(action.when, names)}:", *_indented(effects or ["pass"])]
    return [*lines, "else:", *_indented(otherwise)] if otherwise else lines


def _every_step(emitter: Emitter, world: World, after: str) -> list[str]:
    needed = frozenset[str]().union(*(effect.variables for effect in world.every_step))
    lines, names = bind(emitter, needed, {"now": after, **fields_of(emitter, after, world.state.fields)})
    return lines + emit_effects(emitter, world.every_step, names, after)


def _reads(action: PlannedAction, outcome: Let) -> frozenset[str]:
    """The variables that an action's own expressions read, with as much of its outcome as is told."""
    effects: Iterable[PlannedEffect] = (*action.effects, *action.otherwise)
    read = action.when.variables.union(*(effect.variables for effect in effects))
    return action.let.variables | ((read | outcome.variables) - {name for name, _ in action.let})


def _free(let: Let, before: Let) -> frozenset[str]:
    """What the expressions of `let` read beyond the names that `before` gives."""
    read = frozenset[str]().union(*(checked.variables for _, checked in let))
    return read - {name for name, _ in before}


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def compile_step(world: World) -> Callable[..., Any]:
    """`(state, op, args, inputs) -> (next state, outcome)`."""
    return compile_function(lambda emitter: compose_step(emitter, world))


def compile_over(world: World, expressions: Let) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`state -> {name: value}` for expressions that read one state, such as `observe`."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        lines, names = bind(emitter, expressions.variables, _state_sources(emitter, world, state))
        return emitter.function("over", [state], [*lines, f"return {emit_record(emitter, expressions, names)}"])

    return compile_function(compose)


def compile_predicate(world: World, predicate: Checked | None, default: bool) -> Callable[[dict[str, Any]], bool]:
    """`state -> bool` for one expression over a state, or the default where there is none."""
    if predicate is None:
        return lambda _state: default

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        lines, names = bind(emitter, predicate.variables, _state_sources(emitter, world, state))
        return emitter.function("holds", [state], [*lines, f"return {emitter.expression(predicate, names)}"])

    return compile_function(compose)


def compile_between(world: World, expressions: Let) -> Callable[..., dict[str, Any]]:
    """`(state, next state, outcome) -> {name: value}` for expressions that read a step: `record`, `receipt`."""

    def compose(emitter: Emitter) -> str:
        state, after, outcome = (emitter.local(hint) for hint in ("state", "next", "outcome"))
        sources = {**_state_sources(emitter, world, state), "next": after, "outcome": outcome}
        lines, names = bind(emitter, expressions.variables, sources)
        lines += emit_let(emitter, expressions, names)
        display = ", ".join(f"{emitter.constant(name)}: {names[name]}" for name, _ in expressions)
        return emitter.function("between", [state, after, outcome], [*lines, f"return {{{display}}}"])

    return compile_function(compose)


def part_receipt(part: PlannedPart, name: str) -> Callable[..., dict[str, Any]] | None:
    """The receipt of a part's step as a function of the whole world's step, or None if its world keeps no receipts."""
    if not part.world.receipt.items:
        return None
    told = compile_between(part.world, part.world.receipt)

    def receipt(state: dict[str, Any], after: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
        return told(state[name], after[name], outcome[name])

    return receipt


def _state_sources(emitter: Emitter, world: World, state: str) -> dict[str, str]:
    return {"now": state, **fields_of(emitter, state, world.state.fields)}
