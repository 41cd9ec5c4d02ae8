"""What the clock of the run gives to the expressions of a world and of everything that is built on it."""

from __future__ import annotations

from specledger.core.canonical import MAX_INTEGER
from specledger.expr import IntType, RecordType, Type, one_of
from specledger.spec.world import World as WorldSpec


def clock_of(model: WorldSpec, state: RecordType) -> tuple[dict[str, Type], dict[str, Type]]:
    """The step and the episode, and, of several agents, who acts.

    A name that the world itself gives to something keeps that meaning in every spec of the scenario.
    """
    number = IntType(0, MAX_INTEGER)
    names: dict[str, Type] = {"t": number, "episode": number}
    if model.agents is not None:
        names["actor"] = one_of(sorted(model.agents))
    taken = {*state.fields, *state.derived, *model.constants, *model.inputs, *model.functions}
    free = {name: type_ for name, type_ in names.items() if name not in taken}
    actor = {"actor": free.pop("actor")} if "actor" in free else {}
    return free, actor
