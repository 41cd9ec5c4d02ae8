"""The rule of a universe: a table of every window, from an expression, a table of symbols or a number."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from specledger.core.diagnostics import code
from specledger.expr import STRING, EvaluationError, compile_expression
from specledger.expr.errors import E_EXPR_UNKNOWN_NAME
from specledger.lang.scope import Let, Scope
from specledger.lang.words import mentioned_in
from specledger.laws.automaton import Rule
from specledger.laws.primitive import MAX_WINDOWS, NEIGHBOURS, cells_around, report_symbols, unknown_symbols
from specledger.spec.universe import Universe as UniverseSpec

E_UNIVERSE_TABLE = code(
    "E_UNIVERSE_TABLE",
    "a rule does not say what follows",
    "A rule gives one symbol of the alphabet for every window of a cell and its neighbours within the radius: an "
    "expression by its value, a table by an entry for each, a number for an alphabet of two symbols and radius 1.",
)
E_UNIVERSE_WINDOWS = code(
    "E_UNIVERSE_WINDOWS",
    "a rule has too many windows",
    "A cell and its neighbours within `radius` 1, 2 or 3 are windows of 3, 5 or 7 cells. They have at most 65536 "
    "different contents: 16, 9 or 4 symbols.",
)


def read_rule(model: UniverseSpec, alphabet: tuple[str, ...], scope: Scope) -> Rule | None:
    """The rule of a universe; None, with findings, if it is wrong."""
    windows = len(alphabet) ** (2 * model.radius + 1)
    if windows > MAX_WINDOWS:
        message = f"{len(alphabet)} symbols and radius {model.radius} make {windows} windows, of at most {MAX_WINDOWS}"
        hint = "make `radius` or the alphabet smaller"
        scope.diagnostics.error(E_UNIVERSE_WINDOWS, message, scope.source.span("radius"), hint=hint)
        return None
    transition, names = model.transition, cells_around(model.radius)
    if transition.number is not None:
        if len(alphabet) != 2 or model.radius != 1:
            found = f"the alphabet has {len(alphabet)}, the radius is {model.radius}"
            message = f"a number says what two symbols do with one neighbour on either side; {found}"
            scope.wrong(E_UNIVERSE_TABLE, message, "transition", "number")
            return None
        return Rule(2, tuple(transition.number >> entry & 1 for entry in range(8)))
    if transition.table is not None:
        return _tabled(transition.table, alphabet, len(names), scope)
    cells = scope.within(**dict.fromkeys(names, STRING))
    if _reads_beyond(model, names, scope):
        return None
    let, inner = cells.let(transition.let, "transition", "let")
    following = inner.expression("transition", "next", expect=STRING)
    if following is None or len(let.items) < len(transition.let):
        return None
    for name, checked in (*let.items, ("next", following)):
        path = ("let", name) if name != "next" else ("next",)
        strange = sorted(unknown_symbols(checked, alphabet))
        if strange:
            report_symbols(scope, strange, alphabet, "transition", *path)
            return None
    return _computed(let, names, compile_expression(following, [*names, *let.types]), alphabet, scope)


def _reads_beyond(model: UniverseSpec, names: tuple[str, ...], scope: Scope) -> bool:
    """Whether a rule reads neighbours beyond the radius; the hint of each finding is the radius that it needs."""
    transition = model.transition
    beyond = NEIGHBOURS - {*names, *transition.let, *scope.environment.constants}
    texts = [(("transition", "let", name), text) for name, text in transition.let.items()]
    rule: tuple[str, ...] = ("transition", "next")
    found = False
    for path, text in [*texts, (rule, transition.next or "")]:
        for name in sorted(beyond & mentioned_in(text)):
            message = f"`{name}` lies beyond the radius {model.radius}"
            span, hint = scope.span_of(name, *path), f"write `radius: {name[-1]}`"
            scope.diagnostics.error(E_EXPR_UNKNOWN_NAME, message, span, hint=hint)
            found = True
    return found


def _computed(let: Let, cells: tuple[str, ...], following: Any, alphabet: tuple[str, ...], scope: Scope) -> Rule | None:
    """The table of an expression."""
    named, names = [], [*cells]
    for name, checked in let.items:
        named.append(compile_expression(checked, tuple(names)))
        names.append(name)
    table = []
    for window in product(alphabet, repeat=len(cells)):
        try:
            values: list[Any] = list(window)
            for each in named:
                values.append(each(*values))
            table.append(alphabet.index(following(*values)))
        except (EvaluationError, ValueError) as error:
            reason = error.message if isinstance(error, EvaluationError) else "its value is no symbol"
            scope.wrong(E_UNIVERSE_TABLE, f"after {''.join(window)!r}: {reason}", "transition", "next")
            return None
    return Rule(len(alphabet), tuple(table))


def _tabled(table: Mapping[str, str], alphabet: tuple[str, ...], cells: int, scope: Scope) -> Rule | None:
    windows = ["".join(window) for window in product(alphabet, repeat=cells)]
    for window, symbol in table.items():
        if len(window) != cells:
            message = f"{window!r} has {len(window)} symbols; with this radius a window has {cells}"
            scope.wrong(E_UNIVERSE_TABLE, message, "transition", "table", window)
        strange = sorted(set(window + symbol) - set(alphabet))
        if strange:
            report_symbols(scope, strange, alphabet, "transition", "table", window)
    missing = [window for window in windows if window not in table]
    if missing:
        shown = ", ".join(map(repr, missing[:8])) + (", …" if len(missing) > 8 else "")
        scope.wrong(E_UNIVERSE_TABLE, f"the table lacks {shown}", "transition", "table")
    if missing or not set(table.values()) <= set(alphabet):
        return None
    return Rule(len(alphabet), tuple(alphabet.index(table[window]) for window in windows))
