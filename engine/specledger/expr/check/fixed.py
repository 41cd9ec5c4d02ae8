"""Fixed point: decimals where a fixed-point number is needed, and what the operators make of fixed-point numbers."""

from __future__ import annotations

from decimal import Decimal

from msgspec.structs import replace

from specledger.expr.check import ranges
from specledger.expr.check.tree import Choice, MakeList, MakeMap, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    FIXED_ONE,
    FixedType,
    IntType,
    ListType,
    RecordType,
    Type,
)
from specledger.expr.limits import INT_MAX, INT_MIN


def holds_fixed(type_: Type) -> bool:
    """Whether a type is fixed point, or a list of such."""
    while isinstance(type_, ListType):
        type_ = type_.item
    return isinstance(type_, FixedType)


def apart(a: Type, b: Type) -> bool:
    """Whether one is fixed point and the other another sort of number, at the same depth of lists."""
    while isinstance(a, ListType) and isinstance(b, ListType):
        a, b = a.item, b.item
    numbers = all(isinstance(type_, IntType) or type_ == DOUBLE for type_ in (a, b))
    return numbers and isinstance(a, FixedType) != isinstance(b, FixedType)


def as_fixed(node: Typed, expect: Type) -> Typed:
    """The node with its decimals, and zeros, as fixed-point numbers where the place needs these; else itself."""
    match node:
        case Value() if isinstance(expect, FixedType) and not isinstance(node.type, FixedType):
            value = _millionths(node)
            return node if value is None else replace(node, type=FixedType(value, value), value=value)
        case Value(value=list(values)) if isinstance(expect, ListType) and isinstance(node.type, ListType):
            items = [as_fixed(Value(value, type=node.type.item), expect.item) for value in values]
            fixed = all(isinstance(item.type, FixedType) for item in items)
            made = [item.value for item in items if isinstance(item, Value)]
            return replace(node, type=ListType(FIXED, node.type.most), value=made) if fixed and items else node
        case MakeList() if isinstance(expect, ListType) and holds_fixed(expect):
            items = [as_fixed(item, expect.item) for item in node.items]
            fits = bool(items) and all(holds_fixed(item.type) for item in items)
            return replace(node, items=tuple(items), type=ListType(items[0].type, len(items))) if fits else node
        case MakeMap() if isinstance(expect, RecordType) and isinstance(node.type, RecordType):
            return _record(node, node.type, expect)
        case Choice() if holds_fixed(expect):
            then, otherwise = as_fixed(node.then, expect), as_fixed(node.otherwise, expect)
            fits = holds_fixed(then.type) and holds_fixed(otherwise.type)
            return replace(node, then=then, otherwise=otherwise, type=expect) if fits else node
        case _:
            return node


def _record(node: MakeMap, type_: RecordType, expect: RecordType) -> Typed:
    fields, entries = dict(type_.fields), []
    for key, value in node.entries:
        name = key.value if isinstance(key, Value) else ""
        made = as_fixed(value, expect.fields[name]) if name in expect.fields else value
        fields[name] = made.type
        entries.append((key, made))
    return replace(node, entries=tuple(entries), type=RecordType(type_.name, fields))


def aligned(args: tuple[Typed, ...]) -> tuple[Typed, ...]:
    """Operands of which some are fixed point, with the decimals among them as fixed-point numbers."""
    if not any(holds_fixed(arg.type) for arg in args):
        return args
    return tuple(as_fixed(arg, ListType(FIXED) if isinstance(arg.type, ListType) else FIXED) for arg in args)


def _millionths(node: Value) -> int | None:
    """The millionths of a decimal, or of a literal 0, which is the same in both; None for what has none."""
    if node.type == DOUBLE and node.value - node.value == 0.0:
        scaled = Decimal(repr(node.value)) * FIXED_ONE
        fits = scaled == int(scaled) and INT_MIN <= scaled <= INT_MAX
        return int(scaled) if fits else None
    return 0 if isinstance(node.type, IntType) and node.value == 0 and not node.name else None


def result(operator: str, a: Type, b: Type) -> Type | None:
    """What an operator makes of operands of which at least one is fixed point; None if it takes no such operands."""
    both = isinstance(a, FixedType) == isinstance(b, FixedType) or DYN in (a, b)
    if operator in ("<", "<=", ">", ">="):
        return BOOL if both else None
    kinds = (isinstance(a, FixedType), isinstance(b, FixedType))
    scaled = (operator == "*" and not all(kinds)) or (operator == "/" and kinds == (True, False))
    if DYN in (a, b):
        return FIXED if operator in ("+", "-", "%") else None
    if not isinstance(a, IntType) or not isinstance(b, IntType):
        return None
    if scaled or (both and operator in ("+", "-", "%")):
        raw = ranges.clipped(ranges.arithmetic(operator, a, b))
        return FixedType(raw.low, raw.high)
    return ranges.clipped(ranges.arithmetic(operator, a, b)) if both and operator == "/" else None


def advice(operands: tuple[Typed, ...], sources: tuple[str, ...]) -> str:
    """What to write where a fixed-point number meets another number."""
    if all(isinstance(operand.type, FixedType) for operand in operands):
        return f"write `millionths({sources[0]}) * millionths({sources[1]})`, in millionths of millionths"
    for operand, source in zip(operands, sources, strict=True):
        if isinstance(operand.type, FixedType):
            continue
        if operand.type == DOUBLE:
            return "fixed point has at most six decimals" if isinstance(operand, Value) else "use fixed point for both"
        if isinstance(operand, Value):
            named = f", and `{operand.name}: {operand.value}.0` where it is defined" if operand.name else ""
            return f"write `{operand.value}.0`{named}; if millionths are meant, `millionths(...)` of the other side"
        return f"write `qfixed({source})`, or `millionths(...)` of the other side"
    return "write `qfixed(n)` for the ints, or `millionths(q)` for the fixed-point numbers"
