"""Which integers in the receipts of a run are fixed-point numbers, by the types of its specs, and these in units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from specledger.compile.actor import footing_of
from specledger.compile.roles import roles
from specledger.core.diagnostics import Diagnostics
from specledger.expr.check.types import FIXED_ONE, FixedType, ListType, MapType, RecordType, Type
from specledger.gates.governor import Footing, check_governor
from specledger.gates.invariant import check_invariant
from specledger.load import Bundle
from specledger.spec.base import format_qfixed
from specledger.spec.invariant import Invariant
from specledger.spec.scenario import Scenario
from specledger.worlds.check import check_world

Tree = int | Mapping[str, Any] | None
"""Where a value holds fixed point: an int is the number that is 1 there; a mapping is by field, or by `*` for all."""

_EACH: Final = "*"
_MOST_DIGITS: Final = 15  # every decimal number of so many digits has a double of its own


def units_of(bundle: Bundle) -> Mapping[str, Tree]:
    """The fixed-point numbers of a run, by the type of a receipt; `state` is every state, `witness` by invariant.

    There are none in what is no scenario.
    """
    if not isinstance(bundle.main.model, Scenario):
        return {}
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    if world is None:
        return {}
    footing, fixed = footing_of(world), False
    for role in roles(bundle):
        met = footing_of(world.seen_by(role.name)) if role.name else footing
        governor = check_governor(role.governor, met, Diagnostics())
        fixed |= governor is not None and any(isinstance(type_, FixedType) for type_ in governor.cost.types.values())
    state = _tree(world.state)
    changed = {name: {_EACH: tree} for name, tree in state.items()} if isinstance(state, Mapping) else None
    step = {
        "cost": {_EACH: FIXED_ONE} if fixed else None,
        "record": _fields(world.record.types),
        "inputs": _tree(world.inputs),
        "chance": {"changed": changed},
    }
    return {
        "step": step,
        "drift": {"changed": changed},
        "episode": {"state": state},
        "state": state,
        "witness": _witnesses(bundle, footing),
    }


def _witnesses(bundle: Bundle, footing: Footing) -> Tree:
    """What the invariants of states show, by their names."""
    witnesses = {}
    for spec in bundle.specs.values():
        if isinstance(spec.model, Invariant) and spec.model.scope != "proposal":
            invariant = check_invariant(spec, footing, Diagnostics())
            witnesses[spec.name] = None if invariant is None else _fields(invariant.witness.types)
    return witnesses


def _tree(type_: Type) -> Tree:
    match type_:
        case FixedType():
            return FIXED_ONE
        case RecordType():
            return _fields(type_.fields)
        case ListType(item=inner) | MapType(value=inner):
            return _fields({_EACH: inner})
    return None


def _fields(types: Mapping[str, Type]) -> Tree:
    return {name: tree for name, type_ in types.items() if (tree := _tree(type_)) is not None} or None


def within(units: Tree, path: Iterable[str]) -> Tree:
    """The numbers in the part of a value to which keys and indices lead."""
    for step in path:
        units = units.get(step, units.get(_EACH)) if isinstance(units, Mapping) else None
    return units


def unit_at(units: Tree, path: Iterable[str]) -> int:
    """The number that is shown as 1 where keys lead: 1 itself, unless fixed point is there."""
    unit = within(units, path)
    return unit if isinstance(unit, int) else 1


def express(value: Any, units: Tree) -> Any:
    """A value with its fixed-point numbers in units: 996300000 as 996.3; as text, if it has too many digits."""
    if isinstance(units, int):
        return _number(value) if type(value) is int else value
    if units is None:
        return value
    if isinstance(value, Mapping):
        return {name: express(item, within(units, [name])) for name, item in value.items()}
    if isinstance(value, list):
        return [express(item, within(units, [_EACH])) for item in value]
    return value


def _number(millionths: int) -> int | float | str:
    text = format_qfixed(millionths)
    if "." not in text:
        return int(text)
    return float(text) if len(text) <= _MOST_DIGITS else text
