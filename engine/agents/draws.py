"""What an agent draws for a decision: an agent that is not deterministic says so, and draws from named streams.

Decides nothing of its own. The same question asked again is another occasion, with other draws; the same run asks the
same questions, so that it can be replayed.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.expr import Checked, ListType, Type
from engine.expr.statements.scope import E_DECLARATION, Scope
from engine.spec.drift import Draw

Draws = tuple[tuple[str, str, Checked], ...]
"""Name, stream and source list of each drawn value."""


def check_draws(draws: Mapping[str, Draw], scope: Scope) -> tuple[Draws, Scope]:
    """The draws of a spec, and the scope in which the drawn values are visible; wrong ones are findings."""
    found = []
    types: dict[str, Type] = {}
    for name in sorted(draws):
        source = scope.expression("draw", name, "from")
        if source is None:
            continue
        if not isinstance(source.type, ListType):
            scope.wrong(E_DECLARATION, f"a value is drawn from a list, not from {source.type}", "draw", name, "from")
            continue
        types[name] = source.type.item
        found.append((name, draws[name].stream, source))
    return tuple(found), scope.declare(types, "draw")


def drawn_sources(draws: Draws, drawn: str = "") -> dict[str, str]:
    """Python source of each drawn value, out of the local that holds them all in the order of their names."""
    return {name: f"{drawn}[{index}]" for index, (name, _, _) in enumerate(draws)}
