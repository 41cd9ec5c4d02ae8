"""The ring lengths that the preconditions of a law admit, and starts changed until they meet a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.wings.laws.claim import Binary, Const, Node, Not, Read, evaluator, reads
from specledger.wings.laws.law import Law
from specledger.wings.laws.observable import Observable, range_of
from specledger.wings.laws.universe import Universe

State = tuple[int, ...]
Interval = tuple[int, int]

MAX_CHANGES: Final = 200
"""Changes that are tried on one start."""

MAX_FAILURES: Final = 20
"""Starts in a row that could not be changed to meet the preconditions, after which no other is tried."""


def admitted_lengths(law: Law) -> list[int]:
    """The lengths of the universe's rings at which the preconditions can hold, as far as intervals can exclude others.

    `grid_length <= 5` leaves the lengths up to 5, `count('>') == 29` those from 29 on.
    """
    return lengths_of(law.universe, law.where, law.observables)


def lengths_of(universe: Universe, condition: Node, observables: Mapping[str, Observable]) -> list[int]:
    """The same for any condition over observables."""
    lengths = range(universe.shortest, universe.longest + 1)
    return [size for size in lengths if _outcomes(condition, observables, size)[0]]


def _outcomes(node: Node, observables: Mapping[str, Observable], size: int) -> tuple[bool, bool]:
    """Whether a condition can be true, and whether it can be false, on rings of `size` cells."""
    if isinstance(node, Const):
        return bool(node.value), not node.value
    if isinstance(node, Not):
        true, false = _outcomes(node.operand, observables, size)
        return false, true
    if not isinstance(node, Binary):
        return True, True
    if node.op in ("and", "or", "=>"):
        (true, false), (other, wrong) = (_outcomes(operand, observables, size) for operand in (node.left, node.right))
        if node.op == "and":
            return true and other, false or wrong
        return (true or other, false and wrong) if node.op == "or" else (false or other, true and wrong)
    left, right = (range_of(operand, observables, size, size) for operand in (node.left, node.right))
    return (True, True) if left is None or right is None else _compared(node.op, left, right)


def _compared(op: str, left: Interval, right: Interval) -> tuple[bool, bool]:
    if op in (">", ">="):
        return _compared("<" if op == ">" else "<=", right, left)
    if op == "!=":
        equal, other = _compared("==", left, right)
        return other, equal
    if op == "==":
        return left[0] <= right[1] and right[0] <= left[1], not left[0] == left[1] == right[0] == right[1]
    if op == "<":
        return left[0] < right[1], left[1] >= right[0]
    return left[0] <= right[1], left[1] > right[0]


class Repair:
    """Changes starts of a law until they meet a condition, such as its preconditions.

    Attributes:
        goal: What is to hold when it is judged at the law's first step, if not the preconditions.
    """

    def __init__(self, law: Law, stream: Stream, goal: Node | None = None) -> None:
        self._law, self._stream = law, stream
        self._goal = law.where if goal is None else goal
        self._lengths = lengths_of(law.universe, self._goal, law.observables)
        self._failures = 0

    def start(self, cells: State, symbols: Sequence[int]) -> State | None:
        """The start, or one like it, that meets the condition; None if none was found.

        Args:
            cells: The start.
            symbols: The symbols that changed cells may have.
        """
        if not self._lengths or self._failures >= MAX_FAILURES:
            return None
        try:
            repaired = self._changed(cells, symbols)
        except EvaluationError:
            repaired = None
        self._failures = 0 if repaired is not None else self._failures + 1
        return repaired

    def _changed(self, cells: State, symbols: Sequence[int]) -> State | None:
        """Blocks and single cells are changed while the condition comes no farther from holding."""
        size = min(self._lengths, key=lambda length: abs(length - len(cells)))
        current = cells[:size] + tuple(self._stream.choice(symbols) for _ in range(size - len(cells)))
        left = distance(self._law, current, self._goal)
        for _ in range(MAX_CHANGES):
            if left == 0:
                return current
            block = 1 + self._stream.integer(0, min(left, size) - 1) * self._stream.integer(0, 1)
            index, symbol = self._stream.integer(0, size - 1), self._stream.choice(symbols)
            changed = tuple(symbol if (at - index) % size < block else cell for at, cell in enumerate(current))
            then = distance(self._law, changed, self._goal)
            if then <= left:
                current, left = changed, then
        return current if left == 0 else None


def distance(law: Law, start: State, goal: Node | None = None) -> int:
    """How far a start is from meeting a condition: the sum by which comparisons fail, 0 if it does.

    Args:
        law: The law.
        start: The initial state.
        goal: The condition, judged at the law's first step; the preconditions, if left out.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    goal, first = law.where if goal is None else goal, law.template.first
    states = law.universe.rule.run(start, max((time.at(first) for _, time in reads(goal)), default=0))
    return _distance(goal, True, lambda name, time: law.observables[name].of(states[time.at(first)]))


def _distance(node: Node, wanted: bool, read: Read) -> int:
    if isinstance(node, Not):
        return _distance(node.operand, not wanted, read)
    if isinstance(node, Binary) and node.op in ("and", "or", "=>"):
        left = _distance(node.left, wanted != (node.op == "=>"), read)
        right = _distance(node.right, wanted, read)
        return left + right if (node.op == "and") == wanted else min(left, right)
    if bool(evaluator(node)(read)) == wanted:
        return 0
    if not isinstance(node, Binary) or (node.op in ("==", "!=") and (node.op == "==") != wanted):
        return 1
    sides = [evaluator(side)(read) for side in (node.left, node.right)]
    return max(1, abs(int(sides[0]) - int(sides[1])))
