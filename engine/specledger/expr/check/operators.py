"""The result type of every operator, or the reason why it takes no such operands.

Source: CEL language definition, "List of Standard Definitions".
"""

from __future__ import annotations

from msgspec import Struct

from specledger.expr.check import fixed, ranges
from specledger.expr.check.fixed import apart
from specledger.expr.check.relations import as_map, comparable, join
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
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
from specledger.expr.limits import MAX_LIST

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
        return fixed.result(operator, a, b) or (_no_promotion if mixed(a, b) else _refused)(operator, a, b)
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
    hint = "ask `has(record.field)` whether an optional field is there" if NULL in (a, b) else None
    return Refusal(E_EXPR_TYPE, f"`{operator}` compares {a} with {b}, which can never be equal", hint)


def _no_promotion(operator: str, a: Type, b: Type) -> Refusal:
    why = "fixed point mixes with no other number" if apart(a, b) else "CEL does not turn an int into a double"
    return Refusal(E_EXPR_NO_PROMOTION, f"`{operator}` mixes {a} and {b}; {why}")


def _refused(operator: str, a: Type, b: Type) -> Refusal:
    hint = "write `string(n)` to join a number to a text" if operator == "+" and STRING in (a, b) else None
    return Refusal(E_EXPR_TYPE, f"`{operator}` cannot take {a} and {b}", hint)


def unary(operator: str, a: Type) -> Type | Refusal:
    """The type of `-a` (operator `neg`) or `!a`."""
    a = DYN if a == NOTHING else a
    if operator == "!":
        return BOOL if a in (BOOL, DYN) else Refusal(E_EXPR_TYPE, f"`!` needs a bool, found {a}")
    if isinstance(a, IntType):
        return ranges.clipped(ranges.arithmetic("neg", a))
    return a if a in (DOUBLE, DYN) else Refusal(E_EXPR_TYPE, f"`-` needs a number, found {a}")
