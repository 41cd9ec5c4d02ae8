"""Which integers in the receipts of a run are shown in units: fixed-point numbers, and those that a world declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from specledger.agents.agent import check_agent
from specledger.compile.actor import around_of, footing_of
from specledger.compile.roles import Role, roles
from specledger.core.diagnostics import Diagnostics
from specledger.core.identity import ByIdentity
from specledger.expr.check.tree import Choice, DefinedCall, NativeCall, Operation, Typed, Value
from specledger.expr.check.types import FIXED_ONE, FixedType, IntType, ListType, MapType, RecordType, Type
from specledger.gates.governor import Footing, Governor, check_governor
from specledger.gates.invariant import check_invariant
from specledger.lang.scope import Let
from specledger.load import Bundle
from specledger.spec.invariant import Invariant
from specledger.spec.scenario import Scenario
from specledger.worlds.check import check_world
from specledger.worlds.model import World
from specledger.worlds.namespace import split_name

Tree = int | Mapping[str, Any] | None
"""Where a value holds fixed point: an int is the number that is 1 there; a mapping is by field, or by `*` for all."""

MILLIONTHS: Final = "millionths"
"""The function that gives a fixed-point number as an int."""

_NONE: Final[Mapping[str, int]] = {}
_SUMS: Final = frozenset({"+", "-", "neg"})
_EACH: Final = "*"
_MOST_DIGITS: Final = 15  # every decimal number of so many digits has a double of its own


def units_of(bundle: Bundle) -> Mapping[str, Tree]:
    """The numbers of a run that are shown in units, by the type of a receipt.

    `state` is every state, `variable` what reasons may name, `witness` is by invariant, `gate` by gate. There are none
    in what is no scenario.
    """
    return _units_of(ByIdentity(bundle))


@lru_cache(maxsize=8)  # every part of a report asks, and the world is checked for the answer
def _units_of(key: ByIdentity[Bundle]) -> Mapping[str, Tree]:
    bundle = key.value
    if not isinstance(bundle.main.model, Scenario):
        return {}
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    if world is None:
        return {}
    footing = footing_of(world)
    deciders = _deciders(bundle, world)
    governors = [decider.governor for decider in deciders]
    fixed = any(isinstance(type_, FixedType) for governor in governors for type_ in governor.cost.types.values())
    state, declared = _state(world), _declared_in(world)
    changed = _changes(state)
    step = {
        "cost": {_EACH: FIXED_ONE} if fixed else None,
        "record": _shown(world.record, declared),
        "inputs": _tree(world.inputs),
        "chance": {"changed": changed},
        "parts": {name: _shown(part.world.receipt, _declared_in(part.world)) for name, part in world.parts.items()},
        "potentials": _changes(_agreed(_shown(governor.potentials, declared) for governor in governors)),
    }
    return {
        "step": step,
        "drift": {"changed": changed},
        "commit": {"proposals": {_EACH: _agreed(decider.proposal() for decider in deciders)}},
        "episode": {"state": state, "opening": _shown(world.opening, declared)},
        "state": state,
        "variable": _variables(world),
        "witness": _witnesses(bundle, footing, declared),
        "gate": _agreed(_gates(governor, declared) for governor in governors),
    }


class _Decider(Struct, frozen=True):
    """A role of a scenario, with its governor checked on the world as its agent meets it."""

    role: Role
    world: World
    whole: World
    governor: Governor

    def proposal(self) -> Tree:
        """The numbers of a proposal; of a score that is in millionths, as the agent's spec is written, those too."""
        units = _named({**self.governor.claims, "action": self.world.action})
        decider = self.role.decider
        if MILLIONTHS in str(decider.score) or FIXED_ONE in decider.constants.values():
            met = around_of(self.world, self.governor, self.whole, self.role.name)
            agent = check_agent(self.role.agent, met, Diagnostics())
            if agent is not None and _unit_of_score(agent.score.root) is not None:
                units["score"] = FIXED_ONE
        return units


def _deciders(bundle: Bundle, world: World) -> list[_Decider]:
    met = ((role, world.seen_by(role.name) if role.name else world) for role in roles(bundle))
    checked = ((role, seen, check_governor(role.governor, footing_of(seen), Diagnostics())) for role, seen in met)
    return [_Decider(role, seen, world, governor) for role, seen, governor in checked if governor is not None]


def _changes(units: Tree) -> Tree:
    """The numbers of changes, each `{from, to}`, of values."""
    return {name: {_EACH: tree} for name, tree in units.items()} if isinstance(units, Mapping) else None


def _gates(governor: Governor, declared: Mapping[str, int]) -> Tree:
    """What gates show of a proposal that they reject, by their names."""
    return {gate.id: tree for gate in governor.gates if (tree := _shown(gate.witness, declared)) is not None} or None


def _agreed(trees: Iterable[Tree]) -> Tree:
    """What several governors say alike of a name; a name of which they differ is shown as it was recorded."""
    listed = [tree if isinstance(tree, Mapping) else {} for tree in trees]
    names = dict.fromkeys(name for tree in listed for name in tree)
    return {name: listed[0][name] for name in names if all(tree.get(name) == listed[0].get(name) for tree in listed)}


def _witnesses(bundle: Bundle, footing: Footing, declared: Mapping[str, int]) -> Tree:
    """What the invariants of states show, by their names."""
    witnesses = {}
    for spec in bundle.specs.values():
        if isinstance(spec.model, Invariant) and spec.model.scope != "proposal":
            invariant = check_invariant(spec, footing, Diagnostics())
            witnesses[spec.name] = None if invariant is None else _shown(invariant.witness, declared)
    return witnesses


def _shown(let: Let, declared: Mapping[str, int] = _NONE) -> Tree:
    """What named expressions give: by their types, ints whose expressions have a unit, and ints of a declared one."""
    units = _named(let.types)
    counts = ((name, unit_of(checked.root, declared)) for name, checked in let if name not in units)
    known = {name: unit for name, unit in counts if unit is not None}
    return {**units, **known, **_declared(let.types, declared)} or None


def _declared_in(world: World) -> dict[str, int]:
    """The units that a world and its parts declare; expressions call the functions of parts by their names."""
    return {name: unit for part in world.parts.values() for name, unit in _declared_in(part.world).items()} | dict(
        world.units
    )


def _declared(types: Mapping[str, Type], declared: Mapping[str, int]) -> dict[str, Tree]:
    """The units that a world declares for those of its names that are ints."""
    return {name: unit for name, unit in declared.items() if type(types.get(name)) is IntType}


def _state(world: World) -> Tree:
    """The numbers of a state: by their types, those of parts and of the world in the units that these declare."""
    parts = {name: tree for name, part in world.parts.items() if (tree := _state(part.world)) is not None}
    return {**_named(world.state.fields), **parts, **_declared(world.state.fields, world.units)} or None


def _variables(world: World) -> Tree:
    """The numbers of variables, by their names as in the spec."""
    types = {variable.name: variable.read.type for variable in world.namespace.variables}
    return {**_named(types), **_declared(types, world.units)} or None


def of_variable(units: Mapping[str, Tree], name: str) -> Tree:
    """The numbers of a variable, which may be one of a family such as `dist:<id>`."""
    known = units.get("variable")
    if not isinstance(known, Mapping) or name in known:
        return within(known, [name])
    families = ((tree, split_name(family)) for family, tree in known.items() if "<" in family)
    fitting = (tree for tree, (before, _, after) in families if name.startswith(before) and name.endswith(after))
    return next(fitting, None)


def unit_of(node: Typed, declared: Mapping[str, int] = _NONE) -> int | None:
    """The unit of an int: of `millionths(q)`, of a function for which one is declared, and of sums in one unit.

    A product or a quotient may turn it into another unit, so it has none.
    """
    match node:
        case NativeCall() if node.native.name == MILLIONTHS:
            return FIXED_ONE
        case Operation() if node.operator in _SUMS:
            return _only(unit_of(arg, declared) for arg in node.args)
        case Choice():
            return _only(unit_of(branch, declared) for branch in (node.then, node.otherwise))
        case DefinedCall():
            return declared.get(node.instance.name) or unit_of(node.instance.body, declared)
    return None


def _unit_of_score(node: Typed) -> int | None:
    """The unit of a score: that of an int, and millionths of what is multiplied by a million before it is added up."""
    match node:
        case Operation(operator="*", args=(Value(value=unit), _) | (_, Value(value=unit))) if unit == FIXED_ONE:
            return FIXED_ONE
        case Operation() if node.operator in _SUMS:
            return _only(map(_unit_of_score, node.args))
        case Choice():
            return _only(map(_unit_of_score, (node.then, node.otherwise)))
    return unit_of(node)


def _only(units: Iterable[int | None]) -> int | None:
    """The unit of all parts that have one; none, if they differ."""
    known = {unit for unit in units if unit is not None}
    return known.pop() if len(known) == 1 else None


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
    return _named(types) or None


def _named(types: Mapping[str, Type]) -> dict[str, Tree]:
    return {name: tree for name, type_ in types.items() if (tree := _tree(type_)) is not None}


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
    """A value with its numbers in units: 996300000 as 996.3; as text, if it has too many digits."""
    if isinstance(units, int):
        return _number(value, units) if type(value) is int else value
    if units is None:
        return value
    if isinstance(value, Mapping):
        return {name: express(item, within(units, [name])) for name, item in value.items()}
    if isinstance(value, list):
        return [express(item, within(units, [_EACH])) for item in value]
    return value


def _number(value: int, unit: int) -> int | float | str:
    whole, rest = divmod(abs(value), unit)
    sign = "-" if value < 0 else ""
    if not rest:
        return int(f"{sign}{whole}")
    text = f"{sign}{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0")
    return float(text) if len(text) <= _MOST_DIGITS else text
