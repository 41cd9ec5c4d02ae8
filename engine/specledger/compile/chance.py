"""The chance of a world's actions, planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.compile.plan import PlannedChance
from specledger.compile.starts import Start
from specledger.lang.scope import Scope
from specledger.worlds.chance import E_CHANCE, compile_change, compile_sources
from specledger.worlds.model import World


def refuse_chance(world: World, scope: Scope) -> None:
    """Report an action that draws, of a world under a kernel."""
    drawing = [op for op, action in world.actions.items() if action.draws]
    if drawing:
        message = f"the action {drawing[0]!r} of the world {world.name!r} draws, and the governor is a kernel"
        scope.wrong(E_CHANCE, message, "governor")


def begun(start: Start, world: World) -> dict[str, Any]:
    """The fields of a plan about starts and chance."""
    return {"start": start, "drawn": start.drawn, "chance": _chance(world)}


def _chance(world: World) -> Mapping[str, PlannedChance]:
    """What is drawn after each action that draws, by its op."""
    return {
        op: PlannedChance(
            tuple((stream, name) for name, stream, _ in action.draws),
            compile_sources(action.draws, world, op=op),
            compile_change(action.draws, action.chance, world, op),
        )
        for op, action in world.actions.items()
        if action.draws
    }
