"""Preconditions: conditions on the initial state, as claims about step 0.

Decides how `count('>') > 0 && grid_length < 9`, or its three fields, becomes a claim. Refuses to know templates.
Source: law proposer, section 6, Precondition.
"""

from __future__ import annotations

from typing import Final

from specledger.core.diagnostics import code
from specledger.expr import BOOL
from specledger.expr.check.tree import Junction, Operation, Typed, Value
from specledger.lang.scope import Scope
from specledger.laws.claim import COMPARISONS, START, Binary, Const, Node, Not, Observe
from specledger.laws.observable import Part
from specledger.laws.reader import Reader

E_PRECONDITION = code(
    "E_PRECONDITION",
    "a precondition is no condition on the initial state",
    "A precondition compares observables, as in `count('>') > 0`, and joins comparisons by `&&`, `||` and `!`; or it "
    "is {lhs: …, op: …, rhs: …}.",
)

_JUNCTIONS: Final = {"&&": "and", "||": "or"}


class Conditions:
    """Reads the preconditions of a law; `measured` gains an observable for each side of each comparison."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self.measured: dict[str, Part] = {}

    def compared(self, op: str, *path: str | int) -> Node | None:
        """The claim of a precondition with three fields; None if one is wrong or missing."""
        left = self._named(self._reader.read(self._scope, *path, "lhs"))
        right = self._named(self._reader.read(self._scope, *path, "rhs"))
        return None if left is None or right is None else Binary(op, left, right)

    def read(self, *path: str | int) -> Node | None:
        """The claim of a precondition that is an expression; None if it is wrong or needs what is missing."""
        root = self._reader.typed(self._scope, BOOL, *path)
        return None if root is None else self._node(root, path)

    def _node(self, node: Typed, path: tuple[str | int, ...]) -> Node | None:
        if isinstance(node, Value) and isinstance(node.value, bool):
            return Const(node.value)
        if isinstance(node, Operation) and node.operator == "!":
            inner = self._node(node.args[0], path)
            return None if inner is None else Not(inner)
        if isinstance(node, Junction):
            joined = self._node(node.args[0], path)
            for arg in node.args[1:]:
                part = self._node(arg, path)
                joined = None if joined is None or part is None else Binary(_JUNCTIONS[node.operator], joined, part)
            return joined
        if isinstance(node, Operation) and node.operator in COMPARISONS:
            left, right = (self._named(self._reader.part(arg, self._scope, *path)) for arg in node.args)
            return None if left is None or right is None else Binary(node.operator, left, right)
        self._scope.wrong(E_PRECONDITION, "this is no comparison of observables", *path)
        return None

    def _named(self, part: Part | None) -> Node | None:
        if part is None:
            return None
        name = f"precondition {len(self.measured) + 1}"
        self.measured[name] = part
        return Observe(name, START)
