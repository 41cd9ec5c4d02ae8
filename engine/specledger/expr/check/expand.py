"""A checked tree as a syntax tree without anything of the spec's own.

Decides how defined functions and derived values are replaced by their bodies: parameters by arguments, captured
variables by what is visible at the call, variables of macros by names that capture nothing. Refuses to know text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specledger.expr.check.tree import (
    Choice,
    DefinedCall,
    Field,
    Item,
    Junction,
    Local,
    Loop,
    MakeList,
    MakeMap,
    NativeCall,
    Operation,
    Present,
    Slot,
    Typed,
    Value,
    Variable,
    repeatable,
)
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.parse.syntax import (
    Binary,
    Call,
    Conditional,
    Has,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    MapLiteral,
    Name,
    Node,
    Select,
    Unary,
)


def expand(root: Typed, variables: frozenset[str]) -> Node:
    """The syntax tree.

    Args:
        root: A checked tree.
        variables: Names that the variables of macros must not take.
    """
    return _expanded(root, _Place({}, None, variables))


@dataclass(frozen=True, slots=True)
class _Place:
    """What slots stand for, the record whose fields variables are, and the names in use."""

    slots: Mapping[Slot, Node]
    record: Node | None
    taken: frozenset[str]


def _literal(value: Any) -> Node:
    if isinstance(value, list):
        return ListLiteral(tuple(map(_literal, value)))
    if isinstance(value, dict):
        return MapLiteral(tuple((Literal(key), _literal(each)) for key, each in value.items()))
    return Literal(value)


def _variable(node: Variable, place: _Place) -> Node:
    if place.record is not None:
        return Select(place.record, node.name)
    first, *keys = node.name.split(".")
    found: Node = Name(first)
    for key in keys:
        found = Select(found, key)
    return found


def _operation(node: Operation, place: _Place) -> Node:
    args = [_expanded(arg, place) for arg in node.args]
    if len(args) == 1:
        return Unary("!" if node.operator == "!" else "-", args[0])
    return Binary(node.operator, *args)


def _native(node: NativeCall, place: _Place) -> Node:
    args = tuple(_expanded(arg, place) for arg in node.args)
    name = node.native.name
    if name not in STANDARD and name in ("contains", "startsWith", "endsWith"):
        return Call(name, args[0], args[1:])
    return Call(name, None, args)


def _free_name(slot: Slot, taken: frozenset[str]) -> str:
    name, count = slot.name, 1
    while name in taken:
        count += 1
        name = f"{slot.name}_{count}"
    return name


def _loop(node: Loop, place: _Place) -> Node:
    name = _free_name(node.slot, place.taken)
    inner = _Place({**place.slots, node.slot: Name(name)}, place.record, place.taken | {name})
    condition = _expanded(node.condition, inner) if node.condition else None
    return Macro(node.kind, _expanded(node.target, place), name, _expanded(node.body, inner), condition)


def _defined(node: DefinedCall, place: _Place) -> Node:
    """The body; an argument that may fail is evaluated first, and once, by `[argument].map(name, body)[0]`."""
    slots: dict[Slot, Node] = {}
    taken, record = place.taken, place.record
    bound: list[tuple[str, Node]] = []

    def settle(slot: Slot, arg: Typed) -> Node:
        nonlocal taken
        if repeatable(arg):
            return _expanded(arg, place)
        name = _free_name(slot, taken)
        taken |= {name}
        bound.append((name, _expanded(arg, place)))
        return Name(name)

    for slot, arg in zip(node.instance.params, node.args, strict=True):
        slots[slot] = settle(slot, arg)
    if node.record is not None:
        record = settle(Slot("record"), node.record)
    body = _expanded(node.instance.body, _Place(slots, record, taken))
    for name, value in reversed(bound):
        body = Index(Macro("map", ListLiteral((value,)), name, body), Literal(0))
    return body


def _expanded(node: Typed, place: _Place) -> Node:
    return _FORMS[type(node)](node, place)


_FORMS: Mapping[type, Callable[[Any, _Place], Node]] = {
    Value: lambda node, place: _literal(node.value),
    Variable: _variable,
    Local: lambda node, place: place.slots[node.slot],
    Field: lambda node, place: Select(_expanded(node.operand, place), node.key),
    Present: lambda node, place: Has(_expanded(node.operand, place), node.key),
    Item: lambda node, place: Index(_expanded(node.operand, place), _expanded(node.index, place)),
    Operation: _operation,
    Junction: lambda node, place: Logical(node.operator, tuple(_expanded(arg, place) for arg in node.args)),
    Choice: lambda node, place: Conditional(
        _expanded(node.condition, place), _expanded(node.then, place), _expanded(node.otherwise, place)
    ),
    MakeList: lambda node, place: ListLiteral(tuple(_expanded(part, place) for part in node.items)),
    MakeMap: lambda node, place: MapLiteral(
        tuple((_expanded(key, place), _expanded(value, place)) for key, value in node.entries)
    ),
    Loop: _loop,
    NativeCall: _native,
    DefinedCall: _defined,
}
