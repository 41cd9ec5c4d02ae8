"""CEL's operators on values: the reference for every result and every error.

Operators look only at values (ints have 64 bits, an int is never a bool, nothing is promoted), so they serve static and
dynamic types alike. Source: CEL language definition, "Numeric Values", "Equality", "Ordering"; conformance suite
tests/simple.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from specledger.core.weight import MAX_WEIGHT
from specledger.expr.errors import (
    E_EVAL_ARGUMENT,
    E_EVAL_DIVISION_BY_ZERO,
    E_EVAL_INDEX,
    E_EVAL_LIMIT,
    E_EVAL_NO_SUCH_KEY,
    E_EVAL_OVERFLOW,
    E_EVAL_TYPE,
    EvaluationError,
    MissingFieldError,
)
from specledger.expr.limits import INT_MAX, INT_MIN, MAX_LIST, MAX_STRING

_NAMES = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map", type(None): "null"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}\Z")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)\Z")
_BOOLS = dict.fromkeys(("1", "t", "true", "TRUE", "True"), True)
_BOOLS |= dict.fromkeys(("0", "f", "false", "FALSE", "False"), False)


def kind(value: Any) -> str:
    """The CEL name of a value's type."""
    return _NAMES.get(type(value), "something that is no JSON data")


def wrong_type(name: str, *values: Any) -> NoReturn:
    """Ends the evaluation: an operation has no overload for the types of these (dynamic) values."""
    raise EvaluationError(E_EVAL_TYPE, f"`{name}` cannot take {' and '.join(map(kind, values))}")


def int64(value: int) -> int:
    """The integer itself, if 64 bits hold it; else the overflow error."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError(E_EVAL_OVERFLOW, "the result does not fit 64 bits")


def joined(first: list[Any], second: list[Any]) -> list[Any]:
    """Two lists as one, within the bound of lists."""
    if len(first) + len(second) > MAX_LIST:
        raise EvaluationError(E_EVAL_LIMIT, f"a list has more than {MAX_LIST} items")
    return first + second


def concatenated(first: str, second: str) -> str:
    """Two strings as one, within the bound of strings."""
    if len(first) + len(second) > MAX_STRING:
        raise EvaluationError(E_EVAL_LIMIT, f"a string has more than {MAX_STRING} characters")
    return first + second


def add(a: Any, b: Any) -> Any:
    """`a + b` of ints, doubles, strings or lists."""
    if type(a) is type(b):
        if type(a) is int:
            return int64(a + b)
        if type(a) is float:
            return a + b
        if type(a) is str:
            return concatenated(a, b)
        if type(a) is list:
            return joined(a, b)
    return wrong_type("+", a, b)


def _numeric(name: str, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`-` or `*` of ints or doubles."""

    def operation(a: Any, b: Any) -> Any:
        if type(a) is type(b):
            if type(a) is int:
                return int64(operate(a, b))
            if type(a) is float:
                return operate(a, b)
        return wrong_type(name, a, b)

    return operation


def divide(a: Any, b: Any) -> Any:
    """`a / b`; integers truncate towards zero, doubles follow IEEE 754."""
    if type(a) is int and type(b) is int:
        if b == 0:
            raise EvaluationError(E_EVAL_DIVISION_BY_ZERO, "an integer is divided by zero")
        return int64(a // b if (a >= 0) == (b > 0) else -(-a // b))
    if type(a) is float and type(b) is float:
        return divide_doubles(a, b)
    return wrong_type("/", a, b)


def divide_doubles(a: float, b: float) -> float:
    """`a / b` as IEEE 754 has it: infinities and NaN instead of errors."""
    if b:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(a: Any, b: Any) -> Any:
    """`a % b` of integers; the sign is that of `a`."""
    if type(a) is int and type(b) is int:
        if b == 0:
            raise EvaluationError(E_EVAL_DIVISION_BY_ZERO, "the remainder of a division by zero")
        if a == INT_MIN and b == -1:
            raise EvaluationError(E_EVAL_OVERFLOW, "the division does not fit 64 bits")
        return a % abs(b) if a >= 0 else -(-a % abs(b))
    return wrong_type("%", a, b)


def negate(a: Any) -> Any:
    """`-a`."""
    if type(a) is int:
        return int64(-a)
    if type(a) is float:
        return -a
    return wrong_type("-", a)


def invert(a: Any) -> Any:
    """`!a`."""
    return not a if type(a) is bool else wrong_type("!", a)


def equal(a: Any, b: Any) -> bool:
    """`a == b`: values of different types are unequal, numbers are compared as numbers, NaN equals nothing."""
    if type(a) is not type(b):
        return type(a) in (int, float) and type(b) in (int, float) and numerically(operator.eq, a, b)
    if type(a) is list:
        return len(a) == len(b) and all(map(equal, a, b))
    if type(a) is dict:
        return a.keys() == b.keys() and all(equal(value, b[key]) for key, value in a.items())
    return bool(a == b)


def numerically(compare: Callable[[Any, Any], bool], a: float, b: float) -> bool:
    """Compares numbers; an int beside a double is rounded to a double, as the conformance suite has it."""
    return compare(a, b) if type(a) is type(b) else compare(float(a), float(b))


def _ordering(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(a: Any, b: Any) -> bool:
        if type(a) in (int, float) and type(b) in (int, float):
            return numerically(compare, a, b)
        if type(a) is type(b) and type(a) in (str, bool):
            return compare(a, b)
        return wrong_type(name, a, b)

    return ordered


def contained(a: Any, b: Any) -> bool:
    """`a in b`: an item of a list, a key of a map."""
    if type(b) is list:
        return any(equal(a, item) for item in b)
    if type(b) is dict:
        return _key(a, b) is not None
    return wrong_type("in", a, b)


def _key(key: Any, values: Mapping[Any, Any]) -> tuple[Any] | None:
    """The key of the map that equals `key`, in a tuple since it may be false."""
    wanted = int(key) if type(key) is float and key.is_integer() else key
    if type(wanted) not in (str, int, bool) or wanted not in values:
        return None
    member = next(own for own in values if own == wanted) if type(wanted) is not str else wanted
    return (member,) if type(member) is type(wanted) else None


def item(operand: Any, index: Any) -> Any:
    """`operand[index]`: an item of a list by position, a value of a map by key."""
    if type(operand) is list:
        position = int(index) if type(index) is float and index.is_integer() else index
        if type(position) is not int:
            return wrong_type("[]", operand, index)
        if not 0 <= position < len(operand):
            raise EvaluationError(E_EVAL_INDEX, f"index {position} is outside a list of {len(operand)} items")
        return operand[position]
    if type(operand) is dict:
        key = _key(index, operand)
        if key is None:
            raise EvaluationError(E_EVAL_NO_SUCH_KEY, "the map has no such key")
        return operand[key[0]]
    return wrong_type("[]", operand, index)


def select(operand: Any, key: str) -> Any:
    """`operand.key`."""
    if type(operand) is not dict:
        return wrong_type(f".{key}", operand)
    if key not in operand:
        raise MissingFieldError(key)
    return operand[key]


def present(operand: Any, key: str) -> bool:
    """`has(operand.key)`."""
    return key in operand if type(operand) is dict else wrong_type("has", operand)


def to_int(value: Any) -> int:
    """`int(value)`: doubles are truncated, strings are decimal."""
    if type(value) is int:
        return value
    if type(value) is float:
        if -(2.0**63) < value < 2.0**63:
            return int(value)
        raise EvaluationError(E_EVAL_OVERFLOW, "the double does not fit 64 bits")
    if type(value) is str:
        if _INTEGER.match(value):
            return int64(int(value))
        raise EvaluationError(E_EVAL_ARGUMENT, "the string is no integer")
    return wrong_type("int", value)


def to_double(value: Any) -> float:
    """`double(value)`: ints are rounded to the nearest double, strings are decimal."""
    if type(value) in (int, float):
        return float(value)
    if type(value) is str:
        if len(value) <= MAX_STRING and _DECIMAL.match(value.lower()):
            return float(value)
        raise EvaluationError(E_EVAL_ARGUMENT, "the string is no number")
    return wrong_type("double", value)


def to_string(value: Any) -> str:
    """`string(value)` of a string, an int or a bool."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) is int else wrong_type("string", value)


def to_bool(value: Any) -> bool:
    """`bool(value)` of a bool or of one of the spellings of a bool."""
    if type(value) is bool:
        return value
    if type(value) is not str:
        return wrong_type("bool", value)
    if value not in _BOOLS:
        raise EvaluationError(E_EVAL_ARGUMENT, "the string is no bool")
    return _BOOLS[value]


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": add,
    "-": _numeric("-", operator.sub),
    "*": _numeric("*", operator.mul),
    "/": divide,
    "%": remainder,
    "neg": negate,
    "!": invert,
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": _ordering("<", operator.lt),
    "<=": _ordering("<=", operator.le),
    ">": _ordering(">", operator.gt),
    ">=": _ordering(">=", operator.ge),
    "in": contained,
}
"""Strict operators by the name they have in the checked tree."""


class Reached:
    """Items in the order in which they are found, each once, with the least number of steps that leads to it."""

    def __init__(self, origins: Iterable[Any], limit: int) -> None:
        """Begins with the origins, at distance 0; iterating gives the items that are less than `limit` steps away."""
        self._limit = limit
        self._found: list[dict[str, Any]] = []
        self._seen: set[Hashable] = set()
        self._distance = 0
        self._left = MAX_WEIGHT
        self.extend(origins)

    def __iter__(self) -> Iterator[Any]:
        for entry in self._found:  # grows meanwhile
            if entry["distance"] == self._limit:
                return
            self._distance = entry["distance"] + 1
            yield entry["item"]

    def extend(self, items: Iterable[Any]) -> None:
        """Takes in what the item that was given last leads to.

        Raises:
            EvaluationError: There are more items than a list may have, or what was compared is too large.
        """
        for item in items:
            self._left = remaining(item, self._left)
            if self._left < 0:
                raise EvaluationError(E_EVAL_LIMIT, f"a closure compares more than {MAX_WEIGHT} members of items")
            identity = _identity(item)
            if identity not in self._seen:
                if len(self._found) == MAX_LIST:
                    raise EvaluationError(E_EVAL_LIMIT, f"a closure has more than {MAX_LIST} items")
                self._seen.add(identity)
                self._found.append({"item": item, "distance": self._distance})

    def values(self) -> list[dict[str, Any]]:
        """All that was found."""
        return self._found


def _identity(value: Any) -> Hashable:
    """What equal values have in common; values of one type without doubles."""
    if type(value) is list:
        return tuple(map(_identity, value))
    if type(value) is dict:
        return frozenset((key, _identity(member)) for key, member in value.items())
    return value  # type: ignore[no-any-return]


def remaining(value: Any, left: int) -> int:
    """What is left of a bound after the members and characters of a list or object; less than 0 once it is exceeded."""
    members: Iterable[Any] = ()
    if type(value) is dict:
        left -= len(value) + sum([len(key) for key in value if type(key) is str])
        members = value.values()
    elif type(value) is list or type(value) is tuple:
        left -= len(value)
        members = value
    for member in members if left >= 0 else ():
        kind = type(member)
        if kind is str:
            left -= len(member)
        elif kind is dict or kind is list or kind is tuple:
            left = remaining(member, left)
        if left < 0:
            break
    return left


def weight(value: Any, known: dict[int, tuple[int, Any]]) -> int:
    """Members and characters of a value without cycles that may share its parts, which `known` has by identity."""
    kind = type(value)
    if kind is str:
        return len(value)
    if kind is not dict and kind is not list and kind is not tuple:
        return 0
    cached = known.get(id(value))
    if cached is None:
        sum_ = len(value)
        if kind is dict:
            sum_ += sum([len(key) for key in value if type(key) is str])
        sum_ += sum([weight(member, known) for member in (value.values() if kind is dict else value)])
        cached = known[id(value)] = sum_, value
    return cached[0]
