"""Operators and standard functions as plain Python.

Where types allow it, an operator or function has a fast form with the checks it needs; otherwise it is a call of the
exact operation. A fast form returns the exact value or raises.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from specledger.expr.check import ranges
from specledger.expr.check.analysis import longest
from specledger.expr.check.relations import plain
from specledger.expr.check.tree import MakeList, NativeCall, Operation, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    NOTHING,
    STRING,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import E_EVAL_OVERFLOW, EvaluationError
from specledger.expr.eval.builtins import METHODS, STANDARD
from specledger.expr.eval.values import OPERATORS, concatenated, divide_doubles, joined
from specledger.expr.generate.source import Frame, Source
from specledger.expr.limits import INT_MAX, INT_MIN, MAX_LIST, MAX_STRING

MOST_LEVELS = 24
"""Expressions nested in one Python expression: Python allows 200 brackets, and a level needs a few."""

MOST_WRITTEN = 16
"""Items of a list of constants that are written out at most."""

_SIMPLE = re.compile(r"(?:[a-z]\w*|[0-9.e+]+|\(-[0-9.e+-]+\))\Z", re.ASCII)
_BITS = {"math.bitAnd": "({} & {})", "math.bitOr": "({} | {})", "math.bitXor": "({} ^ {})", "math.bitNot": "(~{})"}
_TEXTS = {"contains": "({1} in {0})", "startsWith": "{}.startswith({})", "endsWith": "{}.endswith({})"}
_SAME = {"int": IntType, "double": DOUBLE, "string": STRING, "bool": BOOL}


def _overflow() -> NoReturn:
    raise EvaluationError(E_EVAL_OVERFLOW, "the result does not fit 64 bits")


def constants_of(node: Typed) -> list[Any] | None:
    """The values of a long list of constants, which is an object of the module; a short one is part of its text."""
    if not isinstance(node, MakeList) or len(node.items) <= MOST_WRITTEN:
        return None
    values = [part.value for part in node.items if isinstance(part, Value)]
    return values if len(values) == len(node.items) else None


def _ints(types: Sequence[Type]) -> list[IntType] | None:
    ints = [type_ for type_ in types if isinstance(type_, IntType)]
    return ints if len(ints) == len(types) else None


class FastForms:
    """Fast forms of operators and functions; the renderer is a subclass."""

    source: Source

    # -- checks

    def int64(self, text: str, raw: IntType, frame: Frame) -> str:
        """An integer result, checked unless its range proves that 64 bits hold it."""
        if ranges.fits(raw):
            return f"({text})"
        name = frame.fresh()
        low = f"{INT_MIN} <= " if raw.low < INT_MIN else ""
        high = f" <= {INT_MAX}" if raw.high > INT_MAX else ""
        return f"({name} if {low}({name} := {text}){high} else {self.source.bind(_overflow)}())"

    def again(self, text: str, frame: Frame) -> tuple[str, str]:
        """Source for the first use of a value, and for later ones."""
        if _SIMPLE.match(text):
            return text, text
        name = frame.fresh()
        return f"({name} := {text})", name

    # -- operators

    def operation(self, node: Operation, args: list[str], frame: Frame) -> str:
        """A strict operator over rendered operands."""
        types = [arg.type for arg in node.args]
        fast = None if DYN in types or NOTHING in types else self._operation_of(node, types, args, frame)
        return fast or f"{self.source.bind(OPERATORS[node.operator], 'exact')}({', '.join(args)})"

    def _operation_of(self, node: Operation, types: list[Type], args: list[str], frame: Frame) -> str | None:
        name = node.operator
        if name == "!":
            return f"(not {args[0]})"
        if name == "neg":
            ints = _ints(types)
            return self.int64(f"-{args[0]}", ranges.arithmetic("neg", ints[0]), frame) if ints else f"(-{args[0]})"
        if name == "in":
            return self._membership(node, types, args)
        if name in ("==", "!="):
            scalar = not isinstance(types[0], ListType | MapType | RecordType)
            return f"({args[0]} {name} {args[1]})" if scalar or all(map(plain, types)) else None
        if name in ("<", "<=", ">", ">="):
            return f"({args[0]} {name} {args[1]})"
        return self._arithmetic(node, types, args, frame)

    def _membership(self, node: Operation, types: list[Type], args: list[str]) -> str | None:
        container = types[1]
        if isinstance(container, ListType):
            if not plain(types[0]) or not plain(container) or container.item == NOTHING:
                return None
            listed = node.args[1]
            values = constants_of(listed)
            if values is not None:
                return f"({args[0]} in {self.source.bind(tuple(values), 'constant')})"
            if isinstance(listed, MakeList) and all(isinstance(part, Value) for part in listed.items):
                return f"({args[0]} in ({args[1][1:-1]},))"
        return f"({args[0]} in {args[1]})"

    def _arithmetic(self, node: Operation, types: list[Type], args: list[str], frame: Frame) -> str | None:
        ints = _ints(types)
        if ints is None:
            return self._other_arithmetic(node, types, args)
        raw = ranges.arithmetic(node.operator, *ints)
        if node.operator == "/":
            return self._quotient(ints, args, raw, frame)
        if node.operator == "%":
            return self._remainder(ints, args, frame)
        return self.int64(f"{args[0]} {node.operator} {args[1]}", raw, frame)

    def _other_arithmetic(self, node: Operation, types: list[Type], args: list[str]) -> str:
        if types[0] == DOUBLE:
            divisor = node.args[1]
            if node.operator != "/" or (isinstance(divisor, Value) and divisor.value):
                return f"({args[0]} {node.operator} {args[1]})"
            return f"{self.source.bind(divide_doubles)}({args[0]}, {args[1]})"
        if types[0] == STRING:
            if longest(node) <= MAX_STRING:
                return f"({args[0]} + {args[1]})"
            return f"{self.source.bind(concatenated)}({args[0]}, {args[1]})"
        first, second = types
        if isinstance(first, ListType) and isinstance(second, ListType) and first.most + second.most <= MAX_LIST:
            return f"({args[0]} + {args[1]})"
        return f"{self.source.bind(joined)}({args[0]}, {args[1]})"

    def _quotient(self, ints: list[IntType], args: list[str], raw: IntType, frame: Frame) -> str:
        """Python rounds down, CEL towards zero: the same unless exactly one operand is negative."""
        a, b = ints
        if a.low >= 0 and b.low >= 0:
            return f"({args[0]} // {args[1]})"
        first, second = self.again(args[0], frame), self.again(args[1], frame)
        alone = b.low > 0 and second[0] == second[1]
        test = f"{first[0]} >= 0" if alone else f"({first[0]} >= 0) == ({second[0]} > 0)"
        text = f"{first[1]} // {second[1]} if {test} else -(-{first[1]} // {second[1]})"
        return f"({text})" if ranges.fits(raw) else self.int64(f"({text})", raw, frame)

    def _remainder(self, ints: list[IntType], args: list[str], frame: Frame) -> str | None:
        a, b = ints
        if b.low < 0:
            return None
        if a.low >= 0:
            return f"({args[0]} % {args[1]})"
        first, second = self.again(args[0], frame), self.again(args[1], frame)
        if second[0] != second[1]:
            return None
        return f"({first[1]} % {second[1]} if {first[0]} >= 0 else -(-{first[1]} % {second[1]}))"

    # -- standard functions

    def native(self, node: NativeCall, args: list[str], frame: Frame) -> str | None:
        """A standard function over rendered arguments; None when it has no fast form for their types."""
        types = [arg.type for arg in node.args]
        name, ints = node.native.name, _ints(types)
        if node.native is not STANDARD.get(name) and node.native is not METHODS.get(name):
            return None
        if name in _SAME:
            return self._conversion(name, types[0], args[0])
        if name == "size":
            return f"len({args[0]})"
        if name in _TEXTS:
            return _TEXTS[name].format(*args)
        if name in _BITS:
            return _BITS[name].format(*args)
        if name in ("math.greatest", "math.least"):
            return self._extreme(name, types, args, frame)
        if name == "math.abs" and ints:
            return self.int64(f"abs({args[0]})", ranges.absolute(ints[0]), frame)
        if name == "math.abs":
            return f"abs({args[0]})" if types[0] == DOUBLE else None
        if name == "isqrt":
            return f"{self.source.bind(math.isqrt, 'isqrt')}({args[0]})"
        if name == "range" and ints and ints[0].high <= MAX_LIST:
            return f"list(range({args[0]}))"
        if name == "sort_by":
            return self._sorted(node.args[1], args[0])
        return self._over_ints(name, types, args, frame)

    def _conversion(self, name: str, type_: Type, arg: str) -> str | None:
        same = _SAME[name]
        if type_ == same or (same is IntType and isinstance(type_, IntType)):
            return arg
        plainly = {"double": "float", "string": "str"}.get(name)
        return f"{plainly}({arg})" if plainly and isinstance(type_, IntType) else None

    def _extreme(self, name: str, types: list[Type], args: list[str], frame: Frame) -> str | None:
        """Of ints only: which of two doubles is taken depends on NaN."""
        function, sign = ("max", ">=") if name == "math.greatest" else ("min", "<=")
        if _ints(types) is None:
            whole = len(types) == 1 and isinstance(types[0], ListType) and isinstance(types[0].item, IntType)
            return f"{function}({args[0]})" if whole else None
        if len(args) == 1:
            return args[0]
        if len(args) > 2:
            return f"{function}({', '.join(args)})"
        (first, again), (second, once_more) = (self.again(arg, frame) for arg in args)
        return f"({again} if {first} {sign} {second} else {once_more})"

    def _over_ints(self, name: str, types: list[Type], args: list[str], frame: Frame) -> str | None:
        """Functions of a list of ints: the sum, an extreme with a default, or the first position of one."""
        listed = types[0] if types else NOTHING
        if not isinstance(listed, ListType) or not isinstance(listed.item, IntType):
            return None
        if name == "sum":
            return self.int64(f"sum({args[0]})", ranges.total(listed.item, listed.most), frame)
        if name in ("minimum", "maximum"):
            return f"{name[:3]}({args[0]}, default={args[1]})"
        first, again = self.again(args[0], frame)
        return f"({again}.index({name[3:]}({again})) if {first} else -1)"

    def _sorted(self, keys: Typed, records: str) -> str:
        names = [part.value for part in keys.items if isinstance(part, Value)] if isinstance(keys, MakeList) else []
        getter: Any = operator.itemgetter(*names)
        return f"sorted({records}, key={self.source.bind(getter, 'key')})"
