"""Start states: from a world's own start values, its parts', a scenario's, and the glyphs of a map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span, Text
from specledger.core.weight import check_weight
from specledger.expr import Checked, Emitter, Environment, IntType, Type, compile_expression, compile_function, conforms
from specledger.lang.bind import bind, emit_record
from specledger.lang.draws import Draws, drawn_sources, emit_list
from specledger.lang.effects import emit_effects
from specledger.lang.scope import Fields, Let, Scope
from specledger.spec.scenario import Map
from specledger.worlds.emit import compile_predicate
from specledger.worlds.maps import Grid, MapError, Stretch
from specledger.worlds.model import PlannedGlyph, World

E_MAP = code("E_MAP", "a map cannot be made")
E_MAP_GLYPH = code("E_MAP_GLYPH", "a character of the map means nothing")
E_MAP_TWICE = code("E_MAP_TWICE", "two characters of the map say where one thing is")
E_START_INCOMPLETE = code("E_START_INCOMPLETE", "a field of the state has no start value")
E_START_ILL_FORMED = code("E_START_ILL_FORMED", "the start state breaks a condition of the world")


class IllFormedError(ValueError):
    """A start state that the world refuses.

    Attributes:
        at: Where in a drawing, or None.
        first: Where in the drawing it was said before, or None.
        value: The start value that is wrong, if it is one.
        rule: The condition that fails, if it is one.
    """

    def __init__(
        self,
        code_: str,
        message: str,
        at: Stretch | None = None,
        first: Stretch | None = None,
        hint: str | None = None,
        value: Text | None = None,
        rule: Text | None = None,
    ) -> None:
        """Keep the code, the message, the places and what to do about it."""
        self.value = value
        self.rule = rule
        self.code = code_
        self.hint = hint
        self.at = at
        self.first = first
        super().__init__(message)


class Starter(Struct, frozen=True):
    """Makes start states.

    Attributes:
        draws, sources: What the world's start values draw, and `() -> lists to draw from`.
        own: `drawn values -> start values` of the world and the scenario.
        parts: `() -> start state` of each part.
        glyphs: Per character, the code of its cell and `(state, here) -> state`.
        conditions: Per condition of `well_formed`: its message, itself and `state -> bool`.
        texts: Where the start values of the world and the scenario are written, by the field.
    """

    world: World
    draws: Draws
    sources: Callable[[], list[list[Any]]]
    own: Callable[[list[Any]], dict[str, Any]]
    parts: Mapping[str, Callable[[], dict[str, Any]]]
    glyphs: Mapping[str, tuple[int | None, Callable[[dict[str, Any], dict[str, int]], dict[str, Any]]]]
    conditions: tuple[tuple[str, Text, Callable[[dict[str, Any]], bool]], ...]
    texts: Mapping[str, Text]

    def lists(self) -> list[list[Any]]:
        """What is drawn from, in the order of `draws`.

        Raises:
            IllFormedError: A list is empty.
        """
        lists = self.sources() if self.draws else []
        empty = [draw.name for draw, items in zip(self.draws, lists, strict=True) if not items]
        if empty:
            raise IllFormedError(E_START_INCOMPLETE, f"there is nothing to draw {empty[0]!r} from")
        return lists

    def state(self, grid: Grid | None, drawn: list[Any] | None = None) -> dict[str, Any]:
        """The start state for a map, or without one.

        Raises:
            IllFormedError: A character without a meaning, a field without a value, or a condition that fails.
        """
        state = {name: make() for name, make in self.parts.items()} | self.own(drawn or [])
        if grid is not None:
            state = self._draw(state, grid)
        missing = sorted(set(self.world.state.fields) - set(state))
        if missing:
            message = f"no start value for {', '.join(missing)}"
            raise IllFormedError(E_START_INCOMPLETE, message, hint=self._where_to_give(missing[0], grid))
        try:
            check_weight(state)
        except NotCanonical as error:
            raise IllFormedError(E_START_ILL_FORMED, f"the start state holds too much: {error.message}") from None
        for name, type_ in self.world.state.fields.items():
            if not conforms(state[name], type_):
                text = None if grid is not None and self._setting(name) else self.texts.get(name)
                raise IllFormedError(E_START_ILL_FORMED, _misfit(name, state[name], type_), value=text)
        for message, rule, holds in self.conditions:
            if not holds(state):
                raise IllFormedError(E_START_ILL_FORMED, message, rule=rule)
        return state

    def _setting(self, name: str) -> set[str]:
        """The characters of a map that change a field."""
        glyphs = self.world.glyphs.items()
        return {character for character, glyph in glyphs if any(effect.target[0] == name for effect in glyph.effects)}

    def _where_to_give(self, name: str, grid: Grid | None) -> str:
        """Where a field can get its start value."""
        setting = self._setting(name)
        drawn = f"put {' or '.join(f'`{way}`' for way in sorted(setting))} on the map, or " if grid and setting else ""
        return f"{drawn}write `start: {{{name}: ...}}` in the world or in the scenario"

    def _draw(self, state: dict[str, Any], grid: Grid) -> dict[str, Any]:
        if self.world.drawing is None:
            raise IllFormedError(E_MAP, f"the world {self.world.name!r} has no `drawing`, so it takes no map")
        for y, row in enumerate(grid):
            for x, character in enumerate(row):
                if character not in self.glyphs:
                    message = f"{character!r} in column {x}, row {y} of the map is not in the legend"
                    raise IllFormedError(E_MAP_GLYPH, message, (x, y, 1))
        self._refuse_twins(grid)
        self._demand_bases({character for row in grid for character in row}, state)
        drawing = self.world.drawing
        if drawing.cells is not None:
            state[drawing.cells] = [[self.glyphs[character][0] for character in row] for row in grid]
        for path, length in ((drawing.width, len(grid[0])), (drawing.height, len(grid))):
            if path is not None:
                state = _with(state, path.split("."), length)
        for y, row in enumerate(grid):
            for x, character in enumerate(row):
                state = self.glyphs[character][1](state, {"x": x, "y": y})
        return state

    def _refuse_twins(self, grid: Grid) -> None:
        """Refuse a map on which two glyphs set one field to the cell that each stands on."""
        seen: dict[tuple[str, ...], Stretch] = {}
        lone = {character: _says_where(glyph) for character, glyph in self.world.glyphs.items()}
        for y, row in enumerate(grid):
            for x, character in enumerate(row):
                for target in lone[character]:
                    if target in seen:
                        message = f"{character!r} in column {x}, row {y} of the map sets {'.'.join(target)!r} again"
                        raise IllFormedError(E_MAP_TWICE, message, (x, y, 1), seen[target])
                    seen[target] = (x, y, 1)

    def _demand_bases(self, used: set[str], state: dict[str, Any]) -> None:
        """Refuse glyphs that would change a part of a field which has no value yet."""
        for character in sorted(used):
            for effect in self.world.glyphs[character].effects:
                whole = effect.kind == "set" and len(effect.target) == 1
                if not whole and effect.target[0] not in state:
                    message = f"{character!r} changes {effect.target[0]!r}, which has no start value"
                    raise IllFormedError(E_START_INCOMPLETE, message)


def starter(world: World, scenario_start: Let) -> Starter:
    """Compile what makes a world's start states; the scenario's values replace the world's."""
    own = dict(world.start.items) | dict(scenario_start.items)
    return Starter(
        world=world,
        draws=world.draws,
        sources=_sources(world.draws),
        own=_values(Fields(tuple(sorted(own.items()))), world.draws),
        parts={name: _part_start(world, name) for name in world.parts},
        glyphs={character: (_value(glyph.cell), _glyph(glyph)) for character, glyph in world.glyphs.items()},
        conditions=tuple(
            (c.message, c.require.text, compile_predicate(world, c.require, True)) for c in world.well_formed
        ),
        texts={name: checked.text for name, checked in own.items()},
    )


def check_start(world: World, start: Mapping[str, Any], scope: Scope) -> Let:
    """Check a scenario's own start values against the world's state."""
    for name in start:
        if name not in world.state.fields or name in world.parts:
            scope.wrong(
                E_START_INCOMPLETE,
                f"{name!r} is no field of the state that a start value can be given",
                "start",
                name,
                near=suggest(name, world.state.fields),
            )
    constants = Environment(functions=scope.environment.functions, constants=scope.environment.constants)
    return replace(scope, environment=constants).each(start, "start", expect=world.state.fields)


def report_start(
    make: Callable[[], Any], spec: Map | None, scope: Scope, diagnostics: Diagnostics, *, own: bool
) -> None:
    """Make one start state and turn what is wrong with it into a finding at the scenario's map.

    Without a map the finding is at the scenario's `start`, if it has one of its `own`, else at its world.
    """
    drawn = spec is not None and spec.drawing is not None
    without = "start" if own else "world"
    path = (without,) if spec is None else ("map", "drawing" if drawn else "generate")

    def span(at: Stretch | None) -> Span | None:
        return scope.source.span(*path) if at is None or not drawn else _inside(scope.source.text(*path), at)

    try:
        make()
    except IllFormedError as error:
        first = span(error.first) if error.first is not None and drawn else None
        related = [] if first is None else [("the other one", first)]
        related += [] if error.rule is None else [("the condition that fails", error.rule.span())]
        location = span(error.at) if error.value is None else error.value.span()
        diagnostics.error(error.code, str(error), location, related=tuple(related), hint=error.hint)
    except MapError as error:
        diagnostics.error(E_MAP, str(error), span(error.at))


def _inside(drawing: Text, at: Stretch) -> Span:
    """Where characters of a drawing were written."""
    column, row, length = at
    start = sum(len(line) + 1 for line in drawing.value.split("\n")[:row]) + column
    return drawing.span(start, start + length)


def _part_start(world: World, name: str) -> Callable[[], dict[str, Any]]:
    part = world.parts[name]
    inner = starter(part.world, part.start)
    return lambda: inner.state(None)


def _values(let: Let, draws: Draws) -> Callable[[list[Any]], dict[str, Any]]:
    def compose(emitter: Emitter) -> str:
        drawn = emitter.local("drawn")
        lines, names = bind(emitter, let.variables, drawn_sources(draws, drawn))
        return emitter.function("start", [drawn], [*lines, f"return {emit_record(emitter, let, names)}"])

    return compile_function(compose)


def _sources(draws: Draws) -> Callable[[], list[list[Any]]]:
    def compose(emitter: Emitter) -> str:
        lists = ", ".join(emit_list(emitter, draw, {}) for draw in draws)
        return emitter.function("sources", [], [f"return [{lists}]"])

    return compile_function(compose)


def _with(record: dict[str, Any], path: list[str], value: int) -> dict[str, Any]:
    """The record with the value at a path; a record on the way that has no value yet is made."""
    inner = value if len(path) == 1 else _with(record.get(path[0], {}), path[1:], value)
    return {**record, path[0]: inner}


def _value(checked: Checked | None) -> int | None:
    if checked is None:
        return None
    value: int = compile_expression(checked, ())()
    return value


def _says_where(glyph: PlannedGlyph) -> list[tuple[str, ...]]:
    """The fields that a glyph sets to something about its cell, if it does nothing else: it says where one thing is."""
    sets = [effect for effect in glyph.effects if effect.kind == "set" and effect.when is None]
    return [effect.target for effect in sets if "here" in effect.variables] if len(sets) == len(glyph.effects) else []


def _glyph(glyph: PlannedGlyph) -> Callable[[dict[str, Any], dict[str, int]], dict[str, Any]]:
    if not glyph.effects:
        return lambda state, _here: state

    def compose(emitter: Emitter) -> str:
        state, here = emitter.local("state"), emitter.local("here")
        lines, names = bind(emitter, ["here"], {"here": here})
        return emitter.function(
            "draw", [state, here], [*lines, *emit_effects(emitter, glyph.effects, names, state), f"return {state}"]
        )

    return compile_function(compose)


def _misfit(name: str, value: Any, type_: Type) -> str:
    """Why the start value of a field does not fit, with the value as far as it is short."""
    if isinstance(type_, IntType) and type(value) is int:
        return f"the start value of {name!r} is {value}, not in its range {type_.low}..{type_.high}"
    return f"the start value of {name!r}, {ascii(value)[:60]}, does not fit its type {type_}"
