"""Chance: what follows an action, or a drift, once values are drawn.

Nothing is drawn before an action is done: gates, predictions and potentials see the state that the action alone makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specledger.core.diagnostics import code
from specledger.expr import Checked, Emitter, RecordType, compile_function
from specledger.lang.bind import bind, fields_of
from specledger.lang.draws import Draws, check_draws, drawn_sources, emit_list
from specledger.lang.effects import PlannedEffect, check_effects, emit_effects
from specledger.lang.scope import Scope
from specledger.spec.world import Action
from specledger.worlds.emit import supplied
from specledger.worlds.model import World

E_CHANCE = code("E_CHANCE", "chance where there can be none")


def check_chance(
    name: str, spec: Action, state: RecordType, scope: Scope
) -> tuple[Draws, tuple[PlannedEffect, ...], Scope]:
    """What is drawn after an action, from the state that it made, the effects of that, and who may read it."""
    location = "actions", name
    if spec.chance and not spec.draw:
        scope.wrong(E_CHANCE, f"{name!r} has `chance` and no `draw`; it needs both, or neither", *location)
    if spec.draw and not spec.chance and not spec.simulate:
        scope.wrong(E_CHANCE, f"{name!r} has `draw` and no `chance` or `simulate` that reads it", *location)
    draws, drawn = check_draws(spec.draw, scope, *location)
    scope.sealed(drawn, *location, "draw")
    inner = scope.declare(drawn, *location, "draw")
    return draws, check_effects(spec.chance, state, inner, *location, "chance"), inner


def compile_sources(
    draws: Draws, world: World, when: Checked | None = None, op: str | None = None
) -> Callable[..., list[list[Any]] | None]:
    """`state -> lists to draw from`, None where `when` does not hold; of an action, of `(state, action, inputs)`."""

    def compose(emitter: Emitter) -> str:
        params, sources = _given(emitter, world, op)
        needed = frozenset[str]() if when is None else when.variables
        lines, names = bind(emitter, needed.union(*(draw.variables for draw in draws)), sources)
        lists = ", ".join(emit_list(emitter, draw, names) for draw in draws)
        refuse = [] if when is None else [f"if not {emitter.expression(when, names)}:", "    return None"]
        return emitter.function("sources", params, [*lines, *refuse, f"return [{lists}]"])

    return compile_function(compose)


def compile_change(
    draws: Draws, effects: tuple[PlannedEffect, ...], world: World, op: str | None = None
) -> Callable[..., dict[str, Any]]:
    """`(state, drawn values) -> next state`; of an action `(state, action, inputs, drawn values) -> next state`."""

    def compose(emitter: Emitter) -> str:
        params, sources = _given(emitter, world, op)
        drawn, after = emitter.local("drawn"), emitter.local("after")
        needed = frozenset[str]().union(*(effect.variables for effect in effects))
        lines, names = bind(emitter, needed, {**sources, **drawn_sources(draws, drawn)})
        lines += [f"{after} = {params[0]}", *emit_effects(emitter, effects, names, after), f"return {after}"]
        return emitter.function("change", [*params, drawn], lines)

    return compile_function(compose)


def _given(emitter: Emitter, world: World, op: str | None) -> tuple[list[str], dict[str, str]]:
    """The parameters, and the Python source of each name that they give."""
    now = emitter.local("state")
    sources = {"now": now, **fields_of(emitter, now, world.state.fields)}
    if op is None:
        return [now], sources
    action, inputs = emitter.local("action"), emitter.local("inputs")
    args = fields_of(emitter, action, world.actions[op].args.fields)
    return [now, action, inputs], {**sources, **args, **supplied(emitter, inputs, world)}
