"""Observables: expressions over a universe's primitives, evaluated exactly in 64 bits.

An observable consists of primitives with literal arguments, of observables defined before it, of integers, `+`, `-`,
`*` and brackets; an integer that leaves 64 bits is an EvaluationError. If no two primitives are multiplied, it is
additive: one sum over windows. Source: law proposer, section 6, Canonical Observables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_OVERFLOW
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.claim import ARITHMETIC, CELLWISE, Const, Node, Not, Observe, apply
from specledger.wings.laws.primitive import (
    MAX_WINDOWS,
    Measure,
    Scan,
    bounds_of,
    measure_of,
)

if TYPE_CHECKING:
    from specledger.wings.laws.evolve import Trajectory


class Number(Struct, frozen=True):
    """An integer."""

    value: int


class Measured(Struct, frozen=True):
    """A primitive with its arguments."""

    measure: Measure


class Combined(Struct, frozen=True):
    """`+`, `-` or `*` of two parts."""

    op: str
    left: Part
    right: Part


Part = Number | Measured | Combined


class Observable(Struct, frozen=True):
    """A checked observable."""

    root: Part

    def of(self, cells: Sequence[int]) -> int:
        """The value on a ring.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        return _value(self.root, cells)

    def bounds(self, longest: int, shortest: int = 0) -> tuple[int, int] | None:
        """The least and greatest value on rings of so many cells; None if a part of it may leave 64 bits."""
        return _bounds(self.root, longest, shortest)

    def additive(self, rule: Rule) -> Additive | None:
        """The observable as one sum over windows, or None if it is none."""
        terms = _linear(self.root)
        return None if terms is None else merged(terms, rule.symbols)

    def batch(self, states: Trajectory) -> Any:
        """The values of all states of all cases, as int64 of shape (steps + 1, cases); exact integers where needed.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        if self.bounds(states.longest) is None:
            return _exact(self.root, states)
        total = self.additive(states.rule)
        return states.total(total) if total is not None else _fast(self.root, states)


def _value(part: Part, cells: Sequence[int]) -> int:
    if isinstance(part, Number):
        return part.value
    if isinstance(part, Measured):
        return _held(measure_of(part.measure, cells))
    value = apply(part.op, _value(part.left, cells), _value(part.right, cells))
    return int(value)


def _held(value: int) -> int:
    if not INT_MIN <= value <= INT_MAX:
        raise EvaluationError(E_EVAL_OVERFLOW, "a sum over windows is beyond 64 bits")
    return value


def _bounds(part: Part, longest: int, shortest: int) -> tuple[int, int] | None:
    if isinstance(part, Number):
        return (part.value, part.value)
    if isinstance(part, Measured):
        bounds = bounds_of(part.measure, longest, shortest)
    else:
        left, right = _bounds(part.left, longest, shortest), _bounds(part.right, longest, shortest)
        if left is None or right is None:
            return None
        bounds = _combined(part.op, left, right)
    return bounds if bounds[0] >= INT_MIN and bounds[1] <= INT_MAX else None


def _combined(op: str, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """The range of `+`, `-` or `*` of two ranges."""
    if op == "+":
        return (left[0] + right[0], left[1] + right[1])
    if op == "-":
        return (left[0] - right[1], left[1] - right[0])
    corners = [a * b for a, b in product(left, right)]
    return (min(corners), max(corners))


Terms = dict[Additive | None, int]
"""Integer factors of sums over windows; that of None is the constant."""


def _linear(part: Part) -> Terms | None:
    if isinstance(part, Number):
        return {None: part.value}
    if isinstance(part, Measured):
        return None if isinstance(part.measure, Scan) else {part.measure: 1}
    left, right = _linear(part.left), _linear(part.right)
    if left is None or right is None:
        return None
    if part.op == "*":
        if set(left) <= {None}:
            left, right = right, left
        if not set(right) <= {None}:
            return None
        return {key: factor * right.get(None, 0) for key, factor in left.items()}
    sign = 1 if part.op == "+" else -1
    merged = dict(left)
    for key, factor in right.items():
        merged[key] = merged.get(key, 0) + sign * factor
    return merged


def merged(terms: Terms, symbols: int) -> Additive | None:
    """One sum over the widest window, the narrower ones being read at its beginning; None if it has too many."""
    width = max((term.width for term in terms if term is not None), default=1)
    if symbols**width > MAX_WINDOWS:
        return None
    weights = [0] * symbols**width
    constant = terms.get(None, 0)
    for term, factor in terms.items():
        if term is None or factor == 0:
            continue
        constant += factor * term.constant
        span = symbols ** (width - term.width)
        for index in range(len(weights)):
            weights[index] += factor * term.weights[index // span]
    return Additive(symbols, width, tuple(weights), constant)


def largest(part: Part, symbols: int) -> int:
    """The largest absolute value of an integer in a part, and of its factors if it is one sum over windows."""
    terms = _linear(part)
    total = None if terms is None else merged(terms, symbols)
    if total is not None:
        return max(abs(total.constant), *map(abs, total.weights), _largest_number(part))
    return _largest_number(part)


def _largest_number(part: Part) -> int:
    if isinstance(part, Combined):
        return max(_largest_number(part.left), _largest_number(part.right))
    return abs(part.value) if isinstance(part, Number) else 0


def _fast(part: Part, states: Trajectory) -> Any:
    if isinstance(part, Number):
        return part.value
    if isinstance(part, Measured):
        return states.measure(part.measure)
    return apply_fast(part.op, _fast(part.left, states), _fast(part.right, states))


def apply_fast(op: str, left: Any, right: Any) -> Any:
    """`+`, `-` or `*` of arrays or integers whose results are known to fit 64 bits, though not fewer."""
    left, right = _wide(left), _wide(right)
    return left + right if op == "+" else left - right if op == "-" else left * right


def _wide(values: Any) -> Any:
    """An array of integers of fewer than 64 bits as one of 64 bits; anything else as it is."""
    narrow = getattr(values, "dtype", None) in ("int8", "int16", "int32")
    return values.astype("int64") if narrow else values


def _exact(part: Part, states: Trajectory) -> Any:
    """The same with unbounded integers, each result held to 64 bits."""
    if isinstance(part, Number):
        return part.value
    if isinstance(part, Measured):
        return states.measure(part.measure, exact=True)
    return hold(apply_fast(part.op, _exact(part.left, states), _exact(part.right, states)))


def hold(values: Any) -> Any:
    """Integers, or an array of them, that lie within 64 bits.

    Raises:
        EvaluationError: One does not.
    """
    least, greatest = (values, values) if isinstance(values, int) else (values.min(), values.max())
    if not (least >= INT_MIN and greatest <= INT_MAX):
        raise EvaluationError(E_EVAL_OVERFLOW, "an integer leaves 64 bits")
    return values


def range_of(
    node: Node, observables: Mapping[str, Observable], longest: int, shortest: int = 0
) -> tuple[int, int] | None:
    """The range of a claim's node on rings of so many cells; None if an integer in it may leave 64 bits."""
    if isinstance(node, Const):
        return (node.value, node.value) if type(node.value) is int else (0, 1)
    if isinstance(node, Observe):
        return (0, 1) if node.name in CELLWISE else observables[node.name].bounds(longest, shortest)
    if isinstance(node, Not):
        return range_of(node.operand, observables, longest, shortest)
    left, right = (range_of(operand, observables, longest, shortest) for operand in (node.left, node.right))
    if left is None or right is None:
        return None
    bounds = _combined(node.op, left, right) if node.op in ARITHMETIC else (0, 1)
    return bounds if bounds[0] >= INT_MIN and bounds[1] <= INT_MAX else None


def measures(part: Part) -> tuple[Measure, ...]:
    """The measures that an observable is made of."""
    if isinstance(part, Combined):
        return measures(part.left) + measures(part.right)
    return (part.measure,) if isinstance(part, Measured) else ()
