"""Trees back to standard CEL text.

Every tree has one spelling, which parses to the same tree. For another CEL engine, a checked expression is expanded:
constants become literals, calls of defined functions and derived values are replaced by their bodies. Source: CEL
language definition, "Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from specledger.expr.check import tree
from specledger.expr.check.checker import Checked
from specledger.expr.check.tree import Slot, Typed, Value, repeatable
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.parse import syntax
from specledger.expr.parse.syntax import Ast, Node

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTABLE = re.compile(r"[A-Za-z0-9_.\-/ ]+\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LEVELS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
CLOCK_PREFIX = "_"
"""Before the names of the clock in expanded text: no name that a spec gives begins so."""
_CONDITIONAL, _RELATION, _UNARY, _MEMBER = 0, 3, 6, 7


def to_cel(source: Ast | Checked) -> str:
    """Standard CEL text.

    Args:
        source: A syntax tree; or a checked expression, which is written with everything of the spec's own expanded, so
            that an engine needs to know only its variables and native functions.
    """
    root = expand(source.root, source.variables) if isinstance(source, Checked) else source.root
    return _write(root, _CONDITIONAL)


def literal(value: bool | int | float | str | None) -> str:
    """A value as CEL text."""
    return _literal(value)[0]


def _write(node: Node, level: int) -> str:
    """The node's text, in brackets when it binds weaker than its place needs."""
    text, own = _written(node)
    return text if own >= level else f"({text})"


def _written(node: Node) -> tuple[str, int]:
    match node:
        case syntax.Literal():
            return _literal(node.value)
        case syntax.Name():
            return node.name, _MEMBER
        case syntax.Select():
            return _member(node.operand, node.key), _MEMBER
        case syntax.Has():
            return f"has({_member(node.operand, node.key)})", _MEMBER
        case syntax.Index():
            return f"{_write(node.operand, _MEMBER)}[{_write(node.index, _CONDITIONAL)}]", _MEMBER
        case syntax.Unary():
            operand = _write(node.operand, _MEMBER)
            folded = node.operator == "-" and operand[0] in ".0123456789"  # `-5` would be a literal
            return f"{node.operator}({operand})" if folded else node.operator + operand, _UNARY
        case syntax.Binary():
            level = _LEVELS.get(node.operator, _RELATION)
            return f"{_write(node.left, level)} {node.operator} {_write(node.right, level + 1)}", level
        case syntax.Logical():
            level = _LEVELS[node.operator]
            return f" {node.operator} ".join(_write(operand, level + 1) for operand in node.operands), level
        case syntax.Conditional():
            first, then = (_write(part, _CONDITIONAL + 1) for part in (node.condition, node.then))
            return f"{first} ? {then} : {_write(node.otherwise, _CONDITIONAL)}", _CONDITIONAL
        case _:
            return _bracketed(node), _MEMBER


def _bracketed(node: Node) -> str:
    match node:
        case syntax.Call():
            target = f"{_write(node.target, _MEMBER)}." if node.target is not None else ""
            return f"{target}{node.function}({_all(node.args)})"
        case syntax.ListLiteral():
            return f"[{_all(node.items)}]"
        case syntax.MapLiteral():
            pairs = (f"{_write(key, _CONDITIONAL)}: {_write(value, _CONDITIONAL)}" for key, value in node.entries)
            return "{" + ", ".join(pairs) + "}"
        case syntax.Macro():
            parts = (node.condition, node.body) if node.condition else (node.body,)
            return f"{_write(node.target, _MEMBER)}.{node.kind}({node.variable}, {_all(parts)})"
        case syntax.Reduce():
            given = _all((syntax.Name(node.accumulator), syntax.Name(node.variable), node.initial, node.body))
            return f"{_write(node.target, _MEMBER)}.reduce({given})"
        case syntax.Closure():
            return f"closure({_all((node.origins, syntax.Name(node.variable), node.body, node.limit))})"
    raise TypeError(f"no form of expressions: {type(node).__name__}")


def _all(nodes: tuple[Node, ...]) -> str:
    return ", ".join(_write(node, _CONDITIONAL) for node in nodes)


def _member(operand: Node, key: str) -> str:
    """A selection; quoted as CEL's extension has it where the key is no identifier."""
    if not _KEY.match(key):
        key = f"`{key}`" if _QUOTABLE.match(key) else _string(key)
    return f"{_write(operand, _MEMBER)}.{key}"


def _literal(value: bool | int | float | str | None) -> tuple[str, int]:
    """Negative numbers stand in brackets before a member, as a negated operand would."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value], _MEMBER
    if isinstance(value, str):
        return _string(value), _MEMBER
    text = repr(value)
    if isinstance(value, float) and value - value != 0.0:
        return {"inf": "1.0 / 0.0", "-inf": "-1.0 / 0.0", "nan": "0.0 / 0.0"}[text], _LEVELS["/"]
    return text, _UNARY if text.startswith("-") else _MEMBER


def _string(value: str) -> str:
    return '"' + "".join(map(_character, value)) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if " " <= character <= "~":
        return character
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"


def expand(root: Typed, variables: frozenset[str]) -> Node:
    """The syntax tree.

    Args:
        root: A checked tree.
        variables: Names that the variables of macros must not take.
    """
    return _expanded(root, _Place({}, None, variables))


class _Place(Struct, frozen=True):
    """What slots stand for, the record whose fields variables are, and the names in use."""

    slots: Mapping[Slot, Node]
    record: Node | None
    taken: frozenset[str]


def _literal_node(value: Any) -> Node:
    if isinstance(value, list):
        return syntax.ListLiteral(tuple(map(_literal_node, value)))
    if isinstance(value, dict):
        return syntax.MapLiteral(tuple((syntax.Literal(key), _literal_node(member)) for key, member in value.items()))
    return syntax.Literal(value)


def _variable(node: tree.Variable, context: _Place) -> Node:
    if context.record is not None:
        return syntax.Select(context.record, node.name)
    first, *keys = node.name.split(".")
    selected: Node = syntax.Name(first)
    for key in keys:
        selected = syntax.Select(selected, key)
    return selected


def _operation(node: tree.Operation, context: _Place) -> Node:
    args = [_expanded(arg, context) for arg in node.args]
    if len(args) == 1:
        return syntax.Unary("!" if node.operator == "!" else "-", args[0])
    return syntax.Binary(node.operator, *args)


def _native(node: tree.NativeCall, context: _Place) -> Node:
    args = tuple(_expanded(arg, context) for arg in node.args)
    name = node.native.name
    if name not in STANDARD and name in ("contains", "startsWith", "endsWith"):
        return syntax.Call(name, args[0], args[1:])
    return syntax.Call(name, None, args)


def _free_name(slot: Slot, taken: frozenset[str]) -> str:
    name, count = slot.name, 1
    while name in taken:
        count += 1
        name = f"{slot.name}_{count}"
    return name


def _named(slot: Slot, context: _Place) -> tuple[str, _Place]:
    """The name of a macro's variable, and the place inside of the macro."""
    name = _free_name(slot, context.taken)
    return name, _Place({**context.slots, slot: syntax.Name(name)}, context.record, context.taken | {name})


def _fold(node: tree.Fold, context: _Place) -> Node:
    accumulator, inner = _named(node.accumulator, context)
    name, inner = _named(node.slot, inner)
    target, initial = _expanded(node.target, context), _expanded(node.initial, context)
    return syntax.Reduce(target, accumulator, name, initial, _expanded(node.body, inner))


def _search(node: tree.Search, context: _Place) -> Node:
    name, inner = _named(node.slot, context)
    return syntax.Closure(
        _expanded(node.origins, context), name, _expanded(node.body, inner), syntax.Literal(node.limit)
    )


def _loop(node: tree.Loop, context: _Place) -> Node:
    name, inner = _named(node.slot, context)
    condition = _expanded(node.condition, inner) if node.condition else None
    return syntax.Macro(node.kind, _expanded(node.target, context), name, _expanded(node.body, inner), condition)


def _defined(node: tree.DefinedCall, context: _Place) -> Node:
    """The body; an argument that may fail is evaluated first, and once, by `[argument].map(name, body)[0]`."""
    slots: dict[Slot, Node] = {}
    taken, record = context.taken, context.record
    bound: list[tuple[str, Node]] = []

    def settle(slot: Slot, arg: Typed) -> Node:
        nonlocal taken
        if repeatable(arg):
            return _expanded(arg, context)
        name = _free_name(slot, taken)
        taken |= {name}
        bound.append((name, _expanded(arg, context)))
        return syntax.Name(name)

    for slot, arg in zip(node.instance.params, node.args, strict=True):
        slots[slot] = settle(slot, arg)
    if node.record is not None:
        record = settle(Slot("record"), node.record)
    body = _expanded(node.instance.body, _Place(slots, record, taken))
    for name, value in reversed(bound):
        body = syntax.Index(syntax.Macro("map", syntax.ListLiteral((value,)), name, body), syntax.Literal(0))
    return body


def _expanded(node: Typed, context: _Place) -> Node:
    return _FORMS[type(node)](node, context)


_FORMS: Mapping[type, Callable[[Any, _Place], Node]] = {
    Value: lambda node, place: _literal_node(node.value),
    tree.Variable: _variable,
    tree.ClockRead: lambda node, place: syntax.Name(CLOCK_PREFIX + node.name),
    tree.Local: lambda node, place: place.slots[node.slot],
    tree.Field: lambda node, place: syntax.Select(_expanded(node.operand, place), node.key),
    tree.Present: lambda node, place: syntax.Has(_expanded(node.operand, place), node.key),
    tree.Item: lambda node, place: syntax.Index(_expanded(node.operand, place), _expanded(node.index, place)),
    tree.Operation: _operation,
    tree.Junction: lambda node, place: syntax.Logical(node.operator, tuple(_expanded(arg, place) for arg in node.args)),
    tree.Choice: lambda node, place: syntax.Conditional(
        _expanded(node.condition, place), _expanded(node.then, place), _expanded(node.otherwise, place)
    ),
    tree.MakeList: lambda node, place: syntax.ListLiteral(tuple(_expanded(part, place) for part in node.items)),
    tree.MakeMap: lambda node, place: syntax.MapLiteral(
        tuple((_expanded(key, place), _expanded(value, place)) for key, value in node.entries)
    ),
    tree.Loop: _loop,
    tree.Fold: _fold,
    tree.Search: _search,
    tree.NativeCall: _native,
    tree.DefinedCall: _defined,
}
