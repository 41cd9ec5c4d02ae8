"""Parses the observables and preconditions of a law.

A precondition such as `count('>') > 0 && grid_length < 9` becomes a claim about step 0. Source: law proposer, section
6, Precondition.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import code
from specledger.expr import BOOL, INT, STRING, Environment, EvaluationError, Native, Signature, parse
from specledger.expr.check.tree import Junction, NativeCall, Operation, Typed, Value, Variable
from specledger.expr.check.types import Type
from specledger.expr.errors import E_EVAL_ARGUMENT
from specledger.expr.parse.syntax import Call, Name, children
from specledger.expr.parse.syntax import Node as Syntax
from specledger.lang.scope import Scope
from specledger.wings.laws.claim import COMPARISONS, START, Binary, Const, Node, Not, Observe
from specledger.wings.laws.claim_parser import E_CLAIM_DIVISION
from specledger.wings.laws.findings import E_LAW_INTEGER
from specledger.wings.laws.observable import Combined, Measured, Number, Part, largest
from specledger.wings.laws.primitive import E_MEASURE_ARGUMENT, PATTERN, ArgumentError, report_symbols, strange_symbols
from specledger.wings.laws.universe import Universe

E_OBSERVABLE_FORM = code("E_OBSERVABLE_FORM", "an expression is no observable")
E_OBSERVABLE_ORDER = code("E_OBSERVABLE_ORDER", "an observable is used before it is defined")

MAX_TERMS: Final = 2_000
"""Parts of an observable when those that it reads are written out."""

MAX_DEPTH: Final = 200
"""Operations inside one another, likewise; what computes with an observable follows them down."""


class Reader(Struct, frozen=True):
    """Checks the observables and conditions of a law, one after the other.

    Attributes:
        universe: What can be measured.
        known: The observables that were defined so far.
        missing: Primitives that were asked for and that the universe lacks; filled while reading.
        later: Names that the law defines further on.
    """

    universe: Universe
    known: dict[str, Part]
    missing: dict[str, None]
    later: frozenset[str] = frozenset()

    def environment(self) -> Environment:
        """What an expression may read."""
        primitives = self.universe.measures
        sorts = {"symbol": STRING, PATTERN: STRING, "int": INT}
        functions = {
            name: Native(name, (Signature(tuple(sorts[sort] for sort in primitive.args.values()), INT),), _never)
            for name, primitive in primitives.items()
            if primitive.args
        }
        plain = [name for name, primitive in primitives.items() if not primitive.args]
        return Environment(dict.fromkeys([*plain, *(name for name in self.known if name not in plain)], INT), functions)

    def read(self, scope: Scope, *path: str | int) -> Part | None:
        """The observable at a path; None if it is wrong (with findings) or needs what is missing."""
        root = self.typed(scope, INT, *path)
        return None if root is None else self.part(root, scope, *path)

    def typed(self, scope: Scope, expect: Type, *path: str | int) -> Typed | None:
        """The expression at a path; None if it is wrong (with findings) or needs what is missing."""
        ast = parse(scope.source.text(*path), scope.diagnostics)
        if ast is None or not self._offered(ast.root, scope, *path):
            return None
        checked = Scope(self.environment(), scope.source, scope.diagnostics).expression(*path, expect=expect)
        return None if checked is None else checked.root

    def part(self, node: Typed, scope: Scope, *path: str | int) -> Part | None:
        """The observable that a typed expression stands for; None, with findings, if it is none."""
        part = self._part(node, scope, *path)
        terms, depth = (0, 0) if part is None else _size(part)
        if terms > MAX_TERMS or depth > MAX_DEPTH:
            bound = f"{MAX_TERMS} parts" if terms > MAX_TERMS else f"{MAX_DEPTH} operations inside one another"
            scope.wrong(E_OBSERVABLE_FORM, f"written out, it has more than {bound}", *path)
            return None
        large = 0 if part is None else largest(part, len(self.universe.alphabet))
        if large > MAX_INTEGER:
            scope.wrong(E_LAW_INTEGER, f"{large} is beyond 2^53 - 1", *path)
            return None
        return part

    def _offered(self, node: Syntax, scope: Scope, *path: str | int) -> bool:
        """Whether the universe has what an expression measures; what it lacks is noted, what comes later is refused."""
        offered = True
        waiting = [node]
        while waiting:
            part_node = waiting.pop()
            waiting += children(part_node)
            name = part_node.name if isinstance(part_node, Name) else None
            if isinstance(part_node, Call) and part_node.target is None:
                name = part_node.function
            if name is None or name in self.known or name in self.universe.measures:
                continue
            if name in self.later:
                scope.wrong(E_OBSERVABLE_ORDER, f"`{name}` is defined further down", *path, word=name)
            else:
                self.missing[name] = None
            offered = False
        return offered

    def _part(self, node: Typed, scope: Scope, *path: str | int) -> Part | None:
        if isinstance(node, Value) and type(node.value) is int:
            return Number(node.value)
        if isinstance(node, Variable):
            known = self.known.get(node.name)
            return known if known is not None else self._measured(node.name, (), scope, *path)
        if isinstance(node, NativeCall) and node.native.name in self.universe.measures:
            if not all(isinstance(arg, Value) or _negative(arg) is not None for arg in node.args):
                scope.wrong(E_OBSERVABLE_FORM, f"the arguments of `{node.native.name}` are not written out", *path)
                return None
            values = tuple(arg.value if isinstance(arg, Value) else _negative(arg) for arg in node.args)
            return self._measured(node.native.name, values, scope, *path)
        if isinstance(node, Operation) and node.operator in ("+", "-", "*", "neg"):
            parts = [self._part(arg, scope, *path) for arg in node.args]
            if node.operator == "neg":
                parts.insert(0, Number(0))
            left, right = parts
            op = "-" if node.operator == "neg" else node.operator
            return None if left is None or right is None else Combined(op, left, right)
        if isinstance(node, Operation) and node.operator in ("/", "%"):
            hint = "multiply out: `X <= L / 2` becomes `2 * X <= L`"
            scope.diagnostics.error(
                E_CLAIM_DIVISION, "an observable does not divide", scope.source.span(*path), hint=hint
            )
            return None
        scope.wrong(E_OBSERVABLE_FORM, "only observables, integers, + - * and brackets stand here", *path)
        return None

    def _measured(self, name: str, values: tuple[Any, ...], scope: Scope, *path: str | int) -> Part | None:
        measure, alphabet = self.universe.measures[name], self.universe.alphabet
        strange = [value for value in values if isinstance(value, str) and value not in alphabet]
        if PATTERN in measure.args.values():
            strange = strange_symbols(str(values[0]), alphabet)
        if strange:
            report_symbols(scope, strange, alphabet, *path)
            return None
        try:
            return Measured(measure.bind(values))
        except ArgumentError as error:
            scope.diagnostics.error(E_MEASURE_ARGUMENT, f"`{name}`: {error}", scope.source.span(*path), hint=error.hint)
            return None


def _negative(node: Typed) -> int | None:
    if isinstance(node, Operation) and node.operator == "neg" and isinstance(node.args[0], Value):
        return -int(node.args[0].value)
    return None


def _size(part: Part) -> tuple[int, int]:
    """How many parts there are, written out, and how many operations inside one another."""
    terms = depth = 0
    waiting = [(part, 0)]
    while waiting:
        operand, level = waiting.pop()
        terms, depth = terms + 1, max(depth, level)
        if isinstance(operand, Combined):
            waiting += ((operand.left, level + 1), (operand.right, level + 1))
    return terms, depth


def _never(*values: Any) -> int:
    raise EvaluationError(E_EVAL_ARGUMENT, "an observable is measured, not called")


E_PRECONDITION = code("E_PRECONDITION", "a precondition is no condition on the initial state")

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
