"""The result type of every operator, or the reason why it takes no such operands; decimals as fixed-point numbers.

Source: CEL language definition, "List of Standard Definitions".
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from specledger.expr.check import ranges
from specledger.expr.check.misfits import hint_of_unequal
from specledger.expr.check.relations import as_map, comparable, join
from specledger.expr.check.tree import Choice, DefinedCall, Item, MakeList, MakeMap, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    FIXED_ONE,
    INT,
    NOTHING,
    NULL,
    STRING,
    FixedType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import E_EXPR_NO_PROMOTION, E_EXPR_OUTSIDE_PROFILE, E_EXPR_TYPE
from specledger.expr.limits import INT_MAX, INT_MIN, MAX_LIST


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
            fixed_values = [item.value for item in items if isinstance(item, Value)]
            return replace(node, type=ListType(FIXED, node.type.most), value=fixed_values) if fixed and items else node
        case Item(operand=operand) if isinstance(expect, FixedType) and node.type == DOUBLE:
            listed = as_fixed(operand, ListType(FIXED))
            return replace(node, operand=listed, type=FIXED) if listed is not operand else node
        case MakeList() if isinstance(expect, ListType) and holds_fixed(expect):
            items = [as_fixed(item, expect.item) for item in node.items]
            fits = bool(items) and all(holds_fixed(item.type) for item in items)
            wide = _joined(items) if fits else None
            return node if wide is None else replace(node, items=tuple(items), type=ListType(wide, len(items)))
        case MakeMap() if isinstance(expect, RecordType) and isinstance(node.type, RecordType):
            return _record(node, node.type, expect)
        case DefinedCall(instance=instance) if holds_fixed(expect) and has_double(node.type):
            body = as_fixed(instance.body, expect)
            fits = holds_fixed(body.type)
            return replace(node, instance=replace(instance, body=body), type=body.type) if fits else node
        case Choice() if holds_fixed(expect):
            then, otherwise = as_fixed(node.then, expect), as_fixed(node.otherwise, expect)
            fits = holds_fixed(then.type) and holds_fixed(otherwise.type)
            return replace(node, then=then, otherwise=otherwise, type=expect) if fits else node
        case _:
            return node


def _joined(items: Sequence[Typed]) -> Type | None:
    """The narrowest type that holds all items, of which there is one."""
    wide: Type | None = items[0].type
    for item in items:
        wide = None if wide is None else join(wide, item.type)
    return wide


def _record(node: MakeMap, type_: RecordType, expect: RecordType) -> Typed:
    fields, entries = dict(type_.fields), []
    for key, value in node.entries:
        name = key.value if isinstance(key, Value) else ""
        converted = as_fixed(value, expect.fields[name]) if name in expect.fields else value
        fields[name] = converted.type
        entries.append((key, converted))
    return replace(node, entries=tuple(entries), type=RecordType(type_.name, fields))


def aligned(args: tuple[Typed, ...]) -> tuple[Typed, ...]:
    """Operands of which some are fixed point, with the decimals among them as fixed-point numbers."""
    if not any(holds_fixed(arg.type) for arg in args):
        return args
    return tuple(as_fixed(arg, fixed_like(arg.type)) for arg in args)


def fixed_like(type_: Type) -> Type:
    """A fixed-point number, or a list of them for what is a list."""
    return ListType(FIXED) if isinstance(type_, ListType) else FIXED


def has_double(type_: Type) -> bool:
    """Whether it is a double, or a list of doubles."""
    return type_ == DOUBLE or (isinstance(type_, ListType) and type_.item == DOUBLE)


def _millionths(node: Value) -> int | None:
    """The millionths of a decimal, or of a literal 0, which is the same in both; None for what has none."""
    if node.type == DOUBLE and node.value - node.value == 0.0:
        scaled = Decimal(repr(node.value)) * FIXED_ONE
        fits = scaled == int(scaled) and INT_MIN <= scaled <= INT_MAX
        return int(scaled) if fits else None
    return 0 if isinstance(node.type, IntType) and node.value == 0 and not node.name else None


def fixed_result(operator: str, a: Type, b: Type) -> Type | None:
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
        if holds_fixed(operand.type):
            continue
        if has_double(operand.type):
            return _instead_of_double(operand)
        if isinstance(operand.type, ListType):
            break
        if isinstance(operand, Value):
            named = f", and `{operand.name}: {operand.value}.0` where it is defined" if operand.name else ""
            return f"write `{operand.value}.0`{named}; if millionths are meant, `millionths(...)` of the other side"
        return f"write `qfixed({source})`, or `millionths(...)` of the other side"
    return "write `qfixed(n)` for the ints, or `millionths(q)` for the fixed-point numbers"


def hint_of_mixture(a: Type, b: Type) -> str:
    """What to write where parts of one list or map have these two types."""
    if apart(a, b):
        return "use fixed point for all of them" if has_double(a) or has_double(b) else "write `qfixed(n)` for the ints"
    return "write `double(n)` for the ints" if mixed(a, b) else "use one type"


def _instead_of_double(operand: Typed) -> str:
    if isinstance(operand, Value) and operand.type == DOUBLE:
        if as_fixed(operand, FIXED) is operand:
            return "fixed point has at most six decimals"
        over, under = Decimal(str(operand.value)).as_integer_ratio()  # no sum or order mixes them, so it is a product
        return f"fixed point is multiplied by integers alone: write `* {over}{f' / {under}' if under > 1 else ''}`"
    within = f" in `{operand.instance.name}`" if isinstance(operand, DefinedCall) else ""
    return f"use fixed point for both: declare `qfixed`, and write decimals{within} as `qfixed(0.5)`"


ORDERED = (DOUBLE, STRING, BOOL)


class Refusal(Struct, frozen=True):
    """Why operand types do not go together."""

    code: str
    message: str
    hint: str | None = None


def mixed(a: Type, b: Type) -> bool:
    """Whether they are numbers of different sorts, at the same depth of lists."""
    if apart(a, b):
        return True
    while isinstance(a, ListType) and isinstance(b, ListType):
        a, b = a.item, b.item
    return (isinstance(a, IntType) and b == DOUBLE) or (a == DOUBLE and isinstance(b, IntType))


def binary(operator: str, a: Type, b: Type) -> Type | Refusal:
    """The type of `a operator b`."""
    a, b = (DYN if operand == NOTHING else operand for operand in (a, b))
    if operator == "in":
        return _membership(a, b)
    if operator in ("==", "!="):
        return BOOL if comparable(a, b) else _unequal(operator, a, b)
    if isinstance(a, FixedType) or isinstance(b, FixedType):
        return fixed_result(operator, a, b) or (_no_promotion if mixed(a, b) else _refused)(operator, a, b)
    if mixed(a, b):
        return _no_promotion(operator, a, b)
    if operator in ("<", "<=", ">", ">="):
        return BOOL if _both(a, b, INT, *ORDERED) is not None else _refused(operator, a, b)
    return _arithmetic(operator, a, b)


def _arithmetic(operator: str, a: Type, b: Type) -> Type | Refusal:
    if isinstance(a, IntType) and isinstance(b, IntType):
        return ranges.clipped(ranges.arithmetic(operator, a, b))
    if operator == "%":
        return INT if _both(a, b, INT) is not None else _refused(operator, a, b)
    if operator == "+" and (isinstance(a, ListType) or isinstance(b, ListType)):
        return _concatenation(a, b)
    allowed = (INT, DOUBLE, STRING) if operator == "+" else (INT, DOUBLE)
    return _both(a, b, *allowed) or _refused(operator, a, b)


def _both(a: Type, b: Type, *allowed: Type) -> Type | None:
    """The one of the allowed types that both have; a dynamic operand takes the type of the other."""
    general = [INT if isinstance(operand, IntType) else operand for operand in (a, b)]
    static = [operand for operand in general if operand != DYN]
    if not static:
        return DYN
    return static[0] if static[0] in allowed and static[0] == static[-1] else None


def _concatenation(a: Type, b: Type) -> Type | Refusal:
    if DYN in (a, b):
        return ListType(DYN)
    if isinstance(a, ListType) and isinstance(b, ListType):
        item = join(a.item, b.item)
        if item is not None:
            return ListType(item, min(MAX_LIST, a.most + b.most))
    return _refused("+", a, b)


def _membership(a: Type, b: Type) -> Type | Refusal:
    if b == DYN:
        return BOOL
    if isinstance(b, ListType):
        if comparable(a, b.item):
            return BOOL
        return _no_promotion("in", a, b.item) if mixed(a, b.item) else _refused("in", a, b)
    if isinstance(b, MapType):
        return BOOL if comparable(a, b.key) else _refused("in", a, b)
    if isinstance(b, RecordType):
        return BOOL if a in (STRING, DYN) or not b.fields else _refused("in", a, b)
    hint = "write `text.contains(part)`" if b == STRING else None
    return Refusal(E_EXPR_TYPE, f"`in` looks into a list or a map, not into {b}", hint)


def _unequal(operator: str, a: Type, b: Type) -> Refusal:
    if mixed(a, b):
        return _no_promotion(operator, a, b)
    if isinstance(a, MapType | RecordType) and isinstance(b, MapType | RecordType) and None in (as_map(a), as_map(b)):
        message = f"`{operator}` of records that mix types in different ways is CEL, but outside the profile"
        return Refusal(E_EXPR_OUTSIDE_PROFILE, message)
    hint = "ask `has(record.field)` whether an optional field is there" if NULL in (a, b) else hint_of_unequal(a, b)
    return Refusal(E_EXPR_TYPE, f"`{operator}` compares {a} with {b}, which can never be equal", hint)


def _no_promotion(operator: str, a: Type, b: Type) -> Refusal:
    why = "fixed point mixes with no other number" if apart(a, b) else "CEL does not turn an int into a double"
    return Refusal(E_EXPR_NO_PROMOTION, f"`{operator}` mixes {a} and {b}; {why}")


def _refused(operator: str, a: Type, b: Type) -> Refusal:
    hint = "write `string(n)` for the number to join it to a text" if operator == "+" and STRING in (a, b) else None
    return Refusal(E_EXPR_TYPE, f"`{operator}` cannot take {a} and {b}", hint)


def unary(operator: str, a: Type) -> Type | Refusal:
    """The type of `-a` (operator `neg`) or `!a`."""
    a = DYN if a == NOTHING else a
    if operator == "!":
        hint = "write `n == 0`" if isinstance(a, IntType) else None
        return BOOL if a in (BOOL, DYN) else Refusal(E_EXPR_TYPE, f"`!` needs a bool, found {a}", hint)
    if isinstance(a, IntType):
        return ranges.clipped(ranges.arithmetic("neg", a))
    return a if a in (DOUBLE, DYN) else Refusal(E_EXPR_TYPE, f"`-` needs a number, found {a}")
