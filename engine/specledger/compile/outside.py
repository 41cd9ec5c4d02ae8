"""Compiles who is asked where the agent is outside: a program, or a model.

A scenario whose agents are specs needs nothing of it.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from specledger.compile.extension import Attachment, Stage
from specledger.compile.model import compile_model_agent
from specledger.compile.plan import PlannedOutside
from specledger.compile.roles import Role
from specledger.gates.governor import Governor
from specledger.worlds.model import World
from specledger.worlds.variables import Variables


def plan_outside(
    role: Role, stage: Stage, world: World, governor: Governor, attached: Attachment | None
) -> PlannedOutside:
    """The plan of who is asked; findings go to the stage."""
    outside, model = role.decider.outside, None
    assert outside is not None  # noqa: S101 - the caller looked
    if outside.model is not None:
        model = compile_model_agent(stage.bundle, role.agent, outside, world, stage.seed, stage.diagnostics)
    asked = PlannedOutside(
        source=outside,
        operations=_operations(world),
        claims=governor.claims,
        notation=Variables(world).notation,
        greeting=lambda _start: _bare_greeting(governor),
        model=model,
    )
    if attached is None:
        return asked
    return replace(asked, greeting=attached.greeting, shown=attached.shown, questions=attached.questions)


def _bare_greeting(governor: Governor) -> dict[str, Any]:
    """What an agent outside is told that gives bare proposals: there is no document."""
    claims = {name: str(type_) for name, type_ in sorted(governor.claims.items())}
    return {"variables": {}, "claims": claims, "forms": [], "document": False}


def _operations(world: World) -> list[dict[str, Any]]:
    """The operations that an agent from outside is offered."""
    return [
        {
            "op": name,
            "args": {key: list(action.allowed.get(key, ())) or str(type_) for key, type_ in action.args.fields.items()},
            **({"doc": action.doc} if action.doc else {}),
        }
        for name, action in sorted(world.actions.items())
    ]
