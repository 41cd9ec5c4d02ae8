"""Results that are drawn: what an action does before its result is known, and what it does by it.

A result is drawn after the action, as chance is: what reads it follows, and what is judged before does not see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from specledger.expr import Emitter
from specledger.lang.bind import emit_let
from specledger.lang.scope import Fields, Let
from specledger.worlds.model import PlannedAction

Guarded = Callable[[Emitter, PlannedAction, Mapping[str, str], str], list[str]]
"""Writes the effects of an action, or what it does otherwise, on a copy of the state."""


class Locals(NamedTuple):
    """The locals that hold the state before, the state after, and what a step is supplied with."""

    before: str
    after: str
    inputs: str


def before_result(action: PlannedAction) -> PlannedAction:
    """What of an action happens whatever its result is."""
    reading = {"result"}
    for name, checked in action.let:  # each reads only those before it
        if reading & checked.variables:
            reading.add(name)
    waits = reading & action.when.variables
    return replace(
        action,
        let=Let(tuple(item for item in action.let if item[0] not in reading)),
        effects=() if waits else tuple(effect for effect in action.effects if not reading & effect.variables),
        otherwise=() if waits else tuple(effect for effect in action.otherwise if not reading & effect.variables),
        outcome=Fields(tuple(item for item in action.outcome if not reading & item[1].variables)),
    )


def misfits_of_draws(name: str, action: PlannedAction) -> Iterator[tuple[tuple[str, ...], str]]:
    """The key and the message of what an action that draws does not fit."""
    if not action.draws_result:
        if not action.chance and action.simulate.items:
            yield ("draw",), f"`simulate` of {name!r} reads nothing that is drawn"
        return
    known = {label for label, _ in before_result(action).outcome}
    for label in sorted({label for label, _ in action.outcome} - known):
        message = f"`outcome` reads the result of {name!r}, which is drawn after gates have judged the outcome"
        yield ("outcome", label), message


def emit_around_result(
    emitter: Emitter, action: PlannedAction, names: dict[str, str], locals_: Locals, guarded: Guarded
) -> list[str]:
    """Lines of an action: with a result all that it does, without one what does not read it; `names` gains lets."""
    before, result = before_result(action), emitter.local("result")
    lines = [*emit_let(emitter, before.let, names), f"{locals_.after} = {{**{locals_.before}}}"]
    known = guarded(emitter, before, names, locals_.after) if before.effects or before.otherwise else []
    lines += [f"{result} = {locals_.inputs}.get('result')", f"if {result} is None:", *_indented(known)]
    given = {**names, "result": result}
    let = emit_let(emitter, Let(tuple(item for item in action.let if item not in before.let.items)), given)
    return [*lines, "else:", *_indented([*let, *guarded(emitter, action, given, locals_.after)])]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines or ["pass"]]
