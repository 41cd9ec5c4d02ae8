"""Chance that follows every action of a world."""

from __future__ import annotations

from collections.abc import Mapping

from specledger.expr import RecordType
from specledger.lang.draws import check_draws
from specledger.lang.effects import check_effects
from specledger.lang.scope import E_NAME_TAKEN, Scope
from specledger.spec.world import Action, StepChance
from specledger.worlds.model import Chance


def check_step_chance(chance: StepChance, actions: Mapping[str, Action], state: RecordType, scope: Scope) -> Chance:
    """What is drawn after every action, from the state that it and its own chance made, and the effects of that."""
    for name in sorted(chance.draw):
        owner = next((op for op, action in sorted(actions.items()) if name in action.draw), None)
        if owner is not None:
            scope.wrong(E_NAME_TAKEN, f"{name!r} is drawn after the action {owner!r} already", "chance", "draw", name)
    draws, drawn = check_draws(chance.draw, scope, "chance")
    scope.sealed(drawn, "chance", "draw")
    inner = scope.declare(drawn, "chance", "draw")
    return Chance(draws, check_effects(chance.effects, state, inner, "chance", "effects"))
