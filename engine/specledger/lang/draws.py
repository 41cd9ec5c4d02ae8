"""Values that an agent or a drift draws from lists by named streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specledger.expr.check.checker import Checked
from specledger.expr.check.types import MISTAKEN, ListType, Type
from specledger.lang.scope import E_DECLARATION, Scope

if TYPE_CHECKING:
    from specledger.spec.agent import AgentDraw
    from specledger.spec.world import Draw

Draws = tuple[tuple[str, str, Checked], ...]
"""Name, stream and source list of each drawn value; no stream where values are taken in the order of questions."""


def check_draws(
    draws: Mapping[str, Draw] | Mapping[str, AgentDraw], scope: Scope, *path: str
) -> tuple[Draws, dict[str, Type]]:
    """The draws of a spec in the order of their names, and the types of all drawn values; wrong ones are findings."""
    declared = []
    types: dict[str, Type] = {}
    for name in sorted(draws):
        source = scope.expression(*path, "draw", name, "from")
        types[name] = MISTAKEN
        if source is None:
            continue
        if not isinstance(source.type, ListType):
            scope.wrong(
                E_DECLARATION, f"a value is drawn from a list, not from {source.type}", *path, "draw", name, "from"
            )
            continue
        types[name] = source.type.item
        declared.append((name, draws[name].stream or "", source))
    return tuple(declared), types


def drawn_sources(draws: Draws, drawn: str = "") -> dict[str, str]:
    """Python source of each drawn value, out of the local that holds them all in the order of their names."""
    return {name: f"{drawn}[{index}]" for index, (name, _, _) in enumerate(draws)}
