"""Interval arithmetic: in which range an integer result must lie.

Decides what is known of a result before it is computed; generated code leaves out the checks that it proves needless.
Refuses to know expressions. All bounds are exact Python integers; `clipped` brings a result back to 64 bits.
"""

from __future__ import annotations

from itertools import product

from specledger.expr.check.types import INT, IntType, Type
from specledger.expr.limits import INT_MAX, INT_MIN

SIZE_MAX = 2**31


def clipped(raw: IntType) -> IntType:
    """What is left of a range when results outside 64 bits are errors."""
    low, high = max(raw.low, INT_MIN), min(raw.high, INT_MAX)
    return IntType(low, high) if low <= high else INT


def fits(raw: IntType) -> bool:
    """Whether no result of this range overflows."""
    return raw.low >= INT_MIN and raw.high <= INT_MAX


def narrowed(known: IntType, low: int, high: int) -> IntType:
    """The part of a range within `low..high`; the range itself where that is empty (the place is never reached)."""
    inside = IntType(max(known.low, low), min(known.high, high))
    return inside if inside.low <= inside.high else known


def arithmetic(operator: str, a: IntType, b: IntType | None = None) -> IntType:
    """The range of an operator's mathematical result, which may exceed 64 bits."""
    if b is None:
        return IntType(-a.high, -a.low)
    if operator == "+":
        return IntType(a.low + b.low, a.high + b.high)
    if operator == "-":
        return IntType(a.low - b.high, a.high - b.low)
    if operator == "*":
        corners = [x * y for x, y in product((a.low, a.high), (b.low, b.high))]
        return IntType(min(corners), max(corners))
    if operator == "/":
        return _quotient(a, b)
    return _remainder(a, b)


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
    return IntType(0 if a.high >= 0 else -a.high, max(-a.low, a.high))


def greatest(parts: tuple[IntType, ...]) -> IntType:
    """The range of the greatest of several numbers."""
    return IntType(max(part.low for part in parts), max(part.high for part in parts))


def least(parts: tuple[IntType, ...]) -> IntType:
    """The range of the least of several numbers."""
    return IntType(min(part.low for part in parts), min(part.high for part in parts))


def total(item: Type, most: int) -> IntType:
    """The range of the sum of at most `most` numbers, which may exceed 64 bits."""
    if not isinstance(item, IntType):
        return IntType(0, 0)
    return IntType(min(0, item.low * most), max(0, item.high * most))
