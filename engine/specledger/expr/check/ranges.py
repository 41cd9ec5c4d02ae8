"""Integer ranges: interval arithmetic, and what conditions prove about the integers that they compare.

From `p.x >= 0 && p.x < 8` follows that `p.x` is in 0..7 wherever the condition holds, through calls of defined
functions too. Generated code leaves out checks that ranges prove needless; the exact evaluator checks everything.
Bounds are exact Python integers; `clipped` brings a result back to 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from specledger.expr.check.tree import DefinedCall, Junction, Operation, Path, Slot, Typed, path_of
from specledger.expr.check.types import INT, IntType, Type
from specledger.expr.limits import INT_MAX, INT_MIN

SIZE_MAX = 2**31


def clipped(raw: IntType) -> IntType:
    """What is left of a range when results outside 64 bits are errors."""
    low, high = max(raw.low, INT_MIN), min(raw.high, INT_MAX)
    return type(raw)(low, high) if low <= high else type(raw)()


def fits(raw: IntType) -> bool:
    """Whether no result of this range overflows."""
    return raw.low >= INT_MIN and raw.high <= INT_MAX


def narrowed(known: IntType, low: int, high: int) -> IntType:
    """The part of a range within `low..high`; the range itself where that is empty (the place is never reached)."""
    inside = type(known)(max(known.low, low), min(known.high, high))
    return inside if inside.low <= inside.high else known


def arithmetic(operator: str, a: IntType, b: IntType | None = None) -> IntType:
    """The range of an operator's mathematical result, which may exceed 64 bits."""
    if b is None:
        return type(a)(-a.high, -a.low)
    if operator == "+":
        return IntType(a.low + b.low, a.high + b.high)
    if operator == "-":
        return IntType(a.low - b.high, a.high - b.low)
    if operator == "*":
        corners = [x * y for x, y in product((a.low, a.high), (b.low, b.high))]
        return IntType(min(corners), max(corners))
    return _quotient(a, b) if operator == "/" else _remainder(a, b)


def _quotient(a: IntType, b: IntType) -> IntType:
    """Extremes are at the ends of the dividend and at the ends of the divisor nearest to and farthest from zero."""
    divisors = [d for d in (b.low, b.high, -1, 1) if d and b.low <= d <= b.high]
    corners = [_truncated(x, d) for x, d in product({a.low, a.high}, divisors)]
    if a.low <= 0 <= a.high:
        corners.append(0)
    return IntType(min(corners), max(corners)) if corners else INT


def _truncated(x: int, divisor: int) -> int:
    return x // divisor if (x >= 0) == (divisor > 0) else -(-x // divisor)


def _remainder(a: IntType, b: IntType) -> IntType:
    most = max(abs(b.low), abs(b.high)) - 1
    if most < 0:
        return INT
    return IntType(max(a.low, -most) if a.low < 0 else 0, min(a.high, most) if a.high > 0 else 0)


def absolute(a: IntType) -> IntType:
    """The range of the absolute value, which may exceed 64 bits by one."""
    if a.low >= 0:
        return a
    return type(a)(0 if a.high >= 0 else -a.high, max(-a.low, a.high))


def greatest(parts: tuple[IntType, ...]) -> IntType:
    """The range of the greatest of several numbers."""
    return type(parts[0])(max(part.low for part in parts), max(part.high for part in parts))


def least(parts: tuple[IntType, ...]) -> IntType:
    """The range of the least of several numbers."""
    return type(parts[0])(min(part.low for part in parts), min(part.high for part in parts))


def total(item: Type, most: int) -> IntType:
    """The range of the sum of at most `most` numbers, which may exceed 64 bits."""
    if not isinstance(item, IntType):
        return IntType(0, 0)
    return type(item)(min(0, item.low * most), max(0, item.high * most))


Place = tuple[Slot | str, Path]
Facts = Mapping[Place, tuple[int, int]]

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def merged(known: Facts, more: Facts) -> Facts:
    """Both, with the intersection where both know the same place."""
    if not more:
        return known
    result = dict(known)
    for path, (low, high) in more.items():
        other = result.get(path, (INT_MIN, INT_MAX))
        result[path] = (max(low, other[0]), min(high, other[1]))
    return result


def proved(node: Typed, holds: bool = True) -> Facts:
    """What follows when a condition is true (or false, with `holds` False)."""
    if isinstance(node, Operation):
        if node.operator == "!":
            return proved(node.args[0], not holds)
        if node.operator in _NEGATED:
            operator = node.operator if holds else _NEGATED[node.operator]
            left, right = node.args
            return merged(_compared(left, operator, right), _compared(right, _MIRRORED[operator], left))
        return {}
    if isinstance(node, Junction) and holds == (node.operator == "&&"):
        known: Facts = {}
        for arg in node.args:
            known = merged(known, proved(arg, holds))
        return known
    return _translated(node, proved(node.instance.body, holds)) if isinstance(node, DefinedCall) else {}


def _compared(subject: Typed, operator: str, other: Typed) -> Facts:
    if not isinstance(subject.type, IntType) or not isinstance(other.type, IntType):
        return {}
    path = path_of(subject)
    bounds = {
        "==": (other.type.low, other.type.high),
        "<": (INT_MIN, other.type.high - 1),
        "<=": (INT_MIN, other.type.high),
        ">": (other.type.low + 1, INT_MAX),
        ">=": (other.type.low, INT_MAX),
    }.get(operator)
    return {path: bounds} if path and bounds else {}


def _translated(call: DefinedCall, facts: Facts) -> Facts:
    """Facts about parameters and captured variables as facts about the places that the call gives them."""
    record = path_of(call.record) if call.record else None
    args = {slot: path_of(arg) for slot, arg in zip(call.instance.params, call.args, strict=True)}
    result: dict[Place, tuple[int, int]] = {}
    for (root, keys), bounds in facts.items():
        if isinstance(root, Slot):
            path = args.get(root)
            translated = path and (path[0], path[1] + keys)
        elif call.record is None:
            translated = (root, keys)
        else:
            translated = record and (record[0], (*record[1], root, *keys))
        if translated:
            result[translated] = bounds
    return result
