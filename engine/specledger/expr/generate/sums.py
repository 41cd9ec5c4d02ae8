"""Sums, differences and absolute values of ints, with as few overflow checks as are enough.

Decides where a check can wait for a later one. Refuses to know the other forms of expressions.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from specledger.expr.check import ranges
from specledger.expr.check.tree import NativeCall, Operation, Typed
from specledger.expr.check.types import INT, IntType
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.generate.frames import Frame
from specledger.expr.generate.inline import Inline
from specledger.expr.limits import INT_MAX, INT_MIN

MOST_LEVELS = 24
"""Expressions inside each other in one Python expression: Python takes 200 brackets, and a level needs a few."""


class _Part(NamedTuple):
    """An operand of a sum: its source, the range of what it can be, whether the source is no atom."""

    text: str
    raw: IntType
    bare: bool

    @property
    def atom(self) -> str:
        return f"({self.text})" if self.bare else self.text


class Sums(Inline):
    """Integer arithmetic that is linear."""

    @abstractmethod
    def render(self, node: Typed, frame: Frame) -> str:
        """The node as an atom of Python."""

    def deferred(self, node: Typed, frame: Frame) -> tuple[str, IntType] | None:
        """A sum, difference or absolute value of ints before its check, and the range of what it can be; else None.

        A part goes unchecked where its leaving 64 bits makes the whole leave them too: in `abs(a - b) + abs(c - d)`
        one check of the sum is enough.
        """
        args = node.args if isinstance(node, Operation | NativeCall) else ()
        if not args or not all(isinstance(arg.type, IntType) for arg in args):
            return None
        if isinstance(node, NativeCall) and node.native is STANDARD["math.abs"]:
            frame.level += 1
            part = self._part(args[0], frame)
            frame.level -= 1
            return f"abs({part.text})", ranges.absolute(part.raw)
        if not isinstance(node, Operation) or node.operator not in ("+", "-"):
            return None
        frame.level += 1
        left, right = (self._part(arg, frame) for arg in args)
        frame.level -= 1
        if node.operator == "-" or not _carries(right.raw, left.raw):
            right = self._settled(right, frame)
        if not _carries(left.raw, right.raw if node.operator == "+" else ranges.arithmetic("neg", right.raw)):
            left = self._settled(left, frame)
        text = f"{left.atom} {node.operator} {right.atom}"
        return text, ranges.arithmetic(node.operator, left.raw, right.raw)

    def _part(self, node: Typed, frame: Frame) -> _Part:
        deferred = self.deferred(node, frame) if frame.level < MOST_LEVELS else None
        if deferred is not None:
            return _Part(*deferred, bare=True)
        return _Part(self.render(node, frame), node.type if isinstance(node.type, IntType) else INT, bare=False)

    def _settled(self, part: _Part, frame: Frame) -> _Part:
        if ranges.fits(part.raw):
            return part
        return _Part(self.int64(part.text, part.raw, frame), ranges.clipped(part.raw), bare=False)


def _carries(part: IntType, other: IntType) -> bool:
    """Whether `part + other` leaves 64 bits whenever `part` does."""
    return (part.high <= INT_MAX or other.low >= 0) and (part.low >= INT_MIN or other.high <= 0)
