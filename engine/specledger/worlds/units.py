"""Checks the units of a world: each is of an int that the state or a receipt has under this name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specledger.core.diagnostics import code, suggest
from specledger.expr import MISTAKEN, IntType, RecordType
from specledger.lang.scope import Let, Scope

E_WORLD_UNIT = code("E_WORLD_UNIT", "a unit is for no integer of the world")


def check_units(units: Mapping[str, int], state: RecordType, figures: Iterable[Let], scope: Scope) -> Mapping[str, int]:
    """The units of ints, by their names in the state and in figures; every other name is a finding."""
    types = {name: type_ for let in figures for name, type_ in let.types.items()} | dict(state.fields)
    ints = [name for name, type_ in types.items() if type(type_) is IntType]
    for name in (name for name in units if name not in ints and types.get(name) is not MISTAKEN):
        message = f"{name!r} is no int of the state, `record`, `opening` or `receipt`"
        scope.wrong(E_WORLD_UNIT, message, "units", name, near=suggest(name, ints))
    return units
