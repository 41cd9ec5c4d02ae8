"""Chance of a world as the loop calls it: what is drawn after actions, results among that, and after each step."""

from __future__ import annotations

from collections.abc import Mapping

from specledger.compile.plan import PlannedChance
from specledger.worlds.chance import compile_change, compile_sources
from specledger.worlds.model import World
from specledger.worlds.results import compile_result


def chance_of_actions(world: World) -> Mapping[str, PlannedChance]:
    """What is drawn after each action that draws, by its op."""
    return {
        op: PlannedChance(
            tuple((draw.stream, draw.name) for draw in action.draws),
            compile_sources(action.draws, world, op=op),
            compile_change(action.draws, action.chance, world, op),
            compile_result(world, op) if action.draws_result else None,
        )
        for op, action in world.actions.items()
        if action.draws
    }


def chance_of_steps(world: World) -> PlannedChance:
    """What is drawn after every action."""
    draws, effects = world.chance.draws, world.chance.effects
    sources, change = compile_sources(draws, world), compile_change(draws, effects, world)
    return PlannedChance(
        tuple((draw.stream, draw.name) for draw in draws),
        lambda state, _action, _inputs: sources(state),
        lambda state, _action, _inputs, drawn: change(state, drawn),
    )
