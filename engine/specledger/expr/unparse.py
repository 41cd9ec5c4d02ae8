"""Trees back to standard CEL text, and to JSON.

Every tree has one spelling, which parses to the same tree. For another CEL engine, a checked expression is expanded:
constants become literals, calls of defined functions and derived values are replaced by their bodies. Source: CEL
language definition, "Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from specledger.expr.check.checker import Checked
from specledger.expr.check.tree import (
    Choice,
    DefinedCall,
    Field,
    Fold,
    Item,
    Junction,
    Local,
    Loop,
    MakeList,
    MakeMap,
    NativeCall,
    Operation,
    Present,
    Search,
    Slot,
    Typed,
    Value,
    Variable,
    repeatable,
)
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.parse.syntax import (
    Ast,
    Binary,
    Call,
    Closure,
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
    Reduce,
    Select,
    Unary,
)

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTABLE = re.compile(r"[A-Za-z0-9_.\-/ ]+\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LEVELS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
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
        case Literal():
            return _literal(node.value)
        case Name():
            return node.name, _MEMBER
        case Select():
            return _member(node.operand, node.key), _MEMBER
        case Has():
            return f"has({_member(node.operand, node.key)})", _MEMBER
        case Index():
            return f"{_write(node.operand, _MEMBER)}[{_write(node.index, _CONDITIONAL)}]", _MEMBER
        case Unary():
            operand = _write(node.operand, _MEMBER)
            folded = node.operator == "-" and operand[0] in ".0123456789"  # `-5` would be a literal
            return f"{node.operator}({operand})" if folded else node.operator + operand, _UNARY
        case Binary():
            level = _LEVELS.get(node.operator, _RELATION)
            return f"{_write(node.left, level)} {node.operator} {_write(node.right, level + 1)}", level
        case Logical():
            level = _LEVELS[node.operator]
            return f" {node.operator} ".join(_write(operand, level + 1) for operand in node.operands), level
        case Conditional():
            first, then = (_write(part, _CONDITIONAL + 1) for part in (node.condition, node.then))
            return f"{first} ? {then} : {_write(node.otherwise, _CONDITIONAL)}", _CONDITIONAL
        case _:
            return _bracketed(node), _MEMBER


def _bracketed(node: Node) -> str:
    match node:
        case Call():
            target = f"{_write(node.target, _MEMBER)}." if node.target is not None else ""
            return f"{target}{node.function}({_all(node.args)})"
        case ListLiteral():
            return f"[{_all(node.items)}]"
        case MapLiteral():
            pairs = (f"{_write(key, _CONDITIONAL)}: {_write(value, _CONDITIONAL)}" for key, value in node.entries)
            return "{" + ", ".join(pairs) + "}"
        case Macro():
            parts = (node.condition, node.body) if node.condition else (node.body,)
            return f"{_write(node.target, _MEMBER)}.{node.kind}({node.variable}, {_all(parts)})"
        case Reduce():
            given = _all((Name(node.accumulator), Name(node.variable), node.initial, node.body))
            return f"{_write(node.target, _MEMBER)}.reduce({given})"
        case Closure():
            return f"closure({_all((node.origins, Name(node.variable), node.body, node.limit))})"
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


def to_json(source: Ast) -> Any:
    """The tree without places, as JSON: `[kind, parts...]`; a literal is `["literal", type, value]`."""
    return _json(source.root)


def _json(part: Any) -> Any:
    if isinstance(part, Literal):
        return ["literal", "null" if part.value is None else type(part.value).__name__, part.value]
    if isinstance(part, Node):
        return [type(part).__name__.lower(), *map(_json, part.parts)]
    return [_json(each) for each in part] if isinstance(part, tuple) else part


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
        return ListLiteral(tuple(map(_literal_node, value)))
    if isinstance(value, dict):
        return MapLiteral(tuple((Literal(key), _literal_node(each)) for key, each in value.items()))
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


def _named(slot: Slot, place: _Place) -> tuple[str, _Place]:
    """The name of a macro's variable, and the place inside of the macro."""
    name = _free_name(slot, place.taken)
    return name, _Place({**place.slots, slot: Name(name)}, place.record, place.taken | {name})


def _fold(node: Fold, place: _Place) -> Node:
    accumulator, inner = _named(node.accumulator, place)
    name, inner = _named(node.slot, inner)
    target, initial = _expanded(node.target, place), _expanded(node.initial, place)
    return Reduce(target, accumulator, name, initial, _expanded(node.body, inner))


def _search(node: Search, place: _Place) -> Node:
    name, inner = _named(node.slot, place)
    return Closure(_expanded(node.origins, place), name, _expanded(node.body, inner), Literal(node.limit))


def _loop(node: Loop, place: _Place) -> Node:
    name, inner = _named(node.slot, place)
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
    Value: lambda node, place: _literal_node(node.value),
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
    Fold: _fold,
    Search: _search,
    NativeCall: _native,
    DefinedCall: _defined,
}
