"""Results of actions: simulated where nothing from outside answers, and from outside alone where logs or tools do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from specledger.expr import Emitter, compile_function
from specledger.lang.bind import bind, fields_of
from specledger.lang.draws import drawn_sources
from specledger.lang.effects import emit_fitting
from specledger.lang.scope import Let
from specledger.worlds.emit import state_sources, supplied
from specledger.worlds.model import World


def compile_result(world: World, op: str) -> Callable[..., dict[str, Any]]:
    """`(state, args, inputs, drawn values) -> result` of an action whose result is simulated."""
    action = world.actions[op]

    def compose(emitter: Emitter) -> str:
        state, args, inputs, drawn = (emitter.local(hint) for hint in ("state", "args", "inputs", "drawn"))
        sources = {**state_sources(emitter, world, state), **supplied(emitter, inputs, world)}
        sources |= {**fields_of(emitter, args, action.args.fields), **drawn_sources(action.draws, drawn)}
        lines, names = bind(emitter, action.simulate.variables, sources)
        fitting, display = emit_fitting(emitter, action.simulate, action.result.fields, names)
        return emitter.function("result", [state, args, inputs, drawn], [*lines, *fitting, f"return {display}"])

    return compile_function(compose)


def without_simulation(world: World) -> World:
    """A world whose results come from outside alone; what is drawn for them alone is not drawn."""
    actions = {
        name: replace(action, simulate=Let(), draws=action.draws if action.chance else ())
        for name, action in world.actions.items()
    }
    return replace(world, actions=actions)
