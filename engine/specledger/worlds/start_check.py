"""Checks how a world begins: its start values and draws, its conditions, and what a map puts into its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import code, suggest
from specledger.core.spans import Text
from specledger.expr import BOOL, INT, MISTAKEN, Environment, IntType, RecordType, Type
from specledger.expr.check.checker import check
from specledger.expr.check.relations import widened
from specledger.lang.declare import CELL, FIELD
from specledger.lang.draws import Draws, check_draws
from specledger.lang.effects import check_effects
from specledger.lang.scope import E_NAME_TAKEN, Fields, Let, Scope
from specledger.spec.world import Drawing
from specledger.spec.world import World as WorldSpec
from specledger.worlds.model import PlannedCondition, PlannedGlyph

E_WORLD_START = code("E_WORLD_START", "a start value is missing or has no place")


class StartDraws(Struct, frozen=True):
    """What a world draws for each episode.

    Attributes:
        types: The types of the drawn values.
        fields: Those of values that are fields of the state.
    """

    draws: Draws
    types: Mapping[str, Type]
    fields: Mapping[str, Type]


def check_start_draws(model: WorldSpec, scope: Scope) -> StartDraws:
    """Check what a world draws, in the scope of its constants and functions alone."""
    draws, types = check_draws(model.draw, scope)
    scope.sealed(types, "draw")
    once = [name for name, draw in sorted(model.draw.items()) if draw.once is not None]
    for name in once:
        if name in model.state:
            message = f"{name!r} is a field of the state already, and a value that is drawn once is one, too"
            scope.wrong(E_NAME_TAKEN, message, "draw", name)
    free = [name for name in once if name not in model.state and scope.free(name, "draw", name)]
    return StartDraws(draws, types, {name: widened(types[name]) for name in free})


def check_beginning(model: WorldSpec, scope: Scope, state: RecordType, drawn: StartDraws) -> dict[str, Any]:
    """What a checked world has of its beginning, by the names of its attributes."""
    draws, start = _start_values(model, scope, state, drawn)
    return {
        "draws": draws,
        "start": start,
        "well_formed": _conditions(model, scope),
        "drawing": model.drawing,
        "glyphs": _glyphs(model, scope, state),
    }


def _start_values(model: WorldSpec, scope: Scope, state: RecordType, drawn: StartDraws) -> tuple[Draws, Let]:
    """What a world draws for its start states, and their values."""
    for name in model.start:
        if name not in state.fields or name in model.parts:
            near = suggest(name, state.fields)
            message = f"{name!r} is no field of the state, which has {', '.join(state.fields)}"
            scope.wrong(E_WORLD_START, message, "start", name, near=near)
    constants = stateless(scope).declare(drawn.types, "draw")
    own = constants.each(model.start, "start", expect=state.fields)
    once = [
        (name, checked)
        for name in sorted(drawn.fields.keys() - model.start.keys())
        if (checked := check(Text.inline(name), constants.environment, scope.diagnostics)) is not None
    ]
    return drawn.draws, Fields((*own.items, *once), own.mistaken)


def _conditions(model: WorldSpec, scope: Scope) -> tuple[PlannedCondition, ...]:
    """What a start state must satisfy."""
    conditions = []
    for index, condition in enumerate(model.well_formed):
        require = scope.expression("well_formed", index, "require", expect=BOOL)
        if require is not None:
            message = condition.message or f"the start state breaks {condition.id!r}"
            conditions.append(PlannedCondition(condition.id, require, message))
    return tuple(conditions)


def _glyphs(model: WorldSpec, scope: Scope, state: RecordType) -> dict[str, PlannedGlyph]:
    """What each character of a map does."""
    if model.drawing is None:
        return {}
    _check_drawing(model.drawing, scope, state)
    glyphs = {}
    constants = stateless(scope)
    drawn = constants.declare({"here": CELL}, "drawing")
    for glyph, spec in model.drawing.legend.items():
        location = ("drawing", "legend", glyph)
        cell = constants.expression(*location, "cell", expect=INT) if spec.cell is not None else None
        effects = check_effects(spec.effects, state, drawn, *location, "effects")
        if (spec.cell is None) != (model.drawing.cells is None):
            scope.wrong(E_WORLD_START, "a glyph has a `cell` exactly if the drawing has `cells`", *location)
        glyphs[glyph] = PlannedGlyph(cell, effects)
    return glyphs


def _check_drawing(drawing: Drawing, scope: Scope, state: RecordType) -> None:
    """Find what the drawing fills beside its glyphs: a field of codes, and the size of the map."""
    cells = state.fields.get(drawing.cells or "")
    if drawing.cells is not None and cells is not MISTAKEN and str(cells) != str(FIELD):
        scope.wrong(E_WORLD_START, f"{drawing.cells!r} is no field of type `field`", "drawing", "cells")
    for key, path in (("width", drawing.width), ("height", drawing.height)):
        type_: Type | None = state
        for name in path.split(".") if path is not None else ():
            if type_ is not MISTAKEN:
                type_ = type_.fields.get(name) if isinstance(type_, RecordType) else None
        if path is not None and type_ is not MISTAKEN and not isinstance(type_, IntType):
            scope.wrong(E_WORLD_START, f"{path!r} is no int of the state", "drawing", key)


def stateless(scope: Scope) -> Scope:
    """The scope of what is read where there is no state: constants and functions."""
    known = Environment(functions=scope.environment.functions, constants=scope.environment.constants)
    return replace(scope, environment=known)
