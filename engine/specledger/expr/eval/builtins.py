"""The standard functions: those of CEL, of its math extension, and a few of the profile.

Source of the first two: the CEL language definition, and its `math` extension. docs/expressions.md lists all of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specledger.expr.check import ranges
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    FIXED_ONE,
    INT,
    STRING,
    FixedType,
    IntType,
    ListType,
    MapType,
    Native,
    RecordType,
    Signature,
    Type,
    TypeVariable,
)
from specledger.expr.errors import E_EVAL_ARGUMENT, E_EVAL_LIMIT, E_EVAL_NO_SUCH_KEY, EvaluationError
from specledger.expr.eval.values import int64, to_bool, to_double, to_int, to_string, wrong_type
from specledger.expr.limits import MAX_LIST

_T = TypeVariable("T")
_K = TypeVariable("K")
_INTS = ListType(INT)
_DOUBLES = ListType(DOUBLE)
_FIXED = ListType(FIXED)
_WORD = 2**64


def _int_of(type_: Type) -> IntType:
    return type_ if isinstance(type_, IntType) else INT


def _most(type_: Type) -> int:
    return type_.most if isinstance(type_, ListType) else MAX_LIST


def _item(type_: Type) -> Type:
    return type_.item if isinstance(type_, ListType) else DYN


def _size(value: Any) -> int:
    return len(value) if type(value) in (str, list, dict) else wrong_type("size", value)


def _size_type(args: tuple[Type, ...]) -> Type:
    if isinstance(args[0], ListType):
        return IntType(0, args[0].most)
    if isinstance(args[0], RecordType):
        return IntType(len(args[0].fields) - len(args[0].optional), len(args[0].fields))
    return IntType(0, ranges.SIZE_MAX)


def _extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def extreme(*args: Any) -> Any:
        values: Sequence[Any] = args[0] if len(args) == 1 and type(args[0]) is list else args
        if not values:
            raise EvaluationError(E_EVAL_ARGUMENT, f"`{name}` of an empty list")
        best = values[0]
        for value in values:
            if type(value) not in (int, float):
                return wrong_type(name, value)
            if better(value, best):
                best = value
        return best

    return extreme


def _extreme_type(choose: Callable[[tuple[IntType, ...]], IntType]) -> Callable[[tuple[Type, ...]], Type]:
    def infer(args: tuple[Type, ...]) -> Type:
        parts = (_item(args[0]),) if isinstance(args[0], ListType) else args
        ints = tuple(part for part in parts if isinstance(part, IntType))
        return choose(ints) if len(ints) == len(parts) else DOUBLE if DOUBLE in parts else INT

    return infer


def _absolute(value: Any) -> Any:
    if type(value) is int:
        return int64(abs(value))
    return abs(value) if type(value) is float else wrong_type("math.abs", value)


def _rounding(function: Callable[[float], int]) -> Callable[[float], float]:
    def rounded(value: float) -> float:
        return math.copysign(float(function(value)), value) if math.isfinite(value) else value

    return rounded


def _half_away(value: float) -> int:
    """To the nearest integer, halves away from zero, as C's `round`."""
    whole = math.trunc(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole


def _sign(value: Any) -> Any:
    if type(value) is int:
        return (value > 0) - (value < 0)
    if type(value) is not float:
        return wrong_type("math.sign", value)
    return value if math.isnan(value) else float((value > 0) - (value < 0))


def _signed(word: int) -> int:
    return word - _WORD if word >= _WORD // 2 else word


def _shift(name: str, left: bool) -> Callable[[int, int], int]:
    def shifted(value: int, count: int) -> int:
        if count < 0:
            raise EvaluationError(E_EVAL_ARGUMENT, f"`{name}` by a negative number")
        word = value % _WORD
        return _signed((word << count) % _WORD if left else word >> count) if count < 64 else 0

    return shifted


def _sum(values: list[int]) -> int:
    """Of ints only: an empty list does not tell its type, and a sum of doubles depends on its order."""
    return int64(sum(values))


def _sum_type(args: tuple[Type, ...]) -> Type:
    return ranges.clipped(ranges.total(_item(args[0]), _most(args[0])))


def _square_root(value: int) -> int:
    if value < 0:
        raise EvaluationError(E_EVAL_ARGUMENT, "`isqrt` of a negative number")
    return math.isqrt(value)


def _square_root_type(args: tuple[Type, ...]) -> Type:
    high = _int_of(args[0]).high
    return IntType(math.isqrt(max(0, _int_of(args[0]).low)), math.isqrt(high) if high >= 0 else 0)


def _position(better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], int]:
    def position(values: list[Any]) -> int:
        best = 0
        for index, value in enumerate(values):
            if better(value, values[best]):
                best = index
        return best if values else -1

    return position


def _with_default(name: str, better: Callable[[Any, Any], bool]) -> Callable[[list[Any], Any], Any]:
    extreme = _extreme(name, better)

    def chosen(values: list[Any], default: Any) -> Any:
        return extreme(values) if values else default

    return chosen


def _default_type(args: tuple[Type, ...]) -> Type:
    item, default = _item(args[0]), args[1]
    if isinstance(item, IntType) and isinstance(default, IntType):
        return type(default)(min(item.low, default.low), max(item.high, default.high))
    return default


def _range(count: int) -> list[int]:
    if count > MAX_LIST:
        raise EvaluationError(E_EVAL_LIMIT, f"a list has more than {MAX_LIST} items")
    return list(range(count))


def _range_type(args: tuple[Type, ...]) -> Type:
    most = min(max(0, _int_of(args[0]).high), MAX_LIST)
    return ListType(IntType(0, max(0, most - 1)), most)


def _sorted_by(records: list[dict[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    for record in records:
        if any(key not in record for key in keys):
            raise EvaluationError(E_EVAL_NO_SUCH_KEY, "`sort_by` met a record without one of the fields")
    return sorted(records, key=lambda record: [record[key] for key in keys])


def _fixed_type(args: tuple[Type, ...]) -> Type:
    raw = ranges.clipped(ranges.arithmetic("*", _int_of(args[0]), IntType(FIXED_ONE, FIXED_ONE)))
    return FixedType(raw.low, raw.high)


def _millionths_type(args: tuple[Type, ...]) -> Type:
    return IntType(_int_of(args[0]).low, _int_of(args[0]).high)


def _absolute_type(args: tuple[Type, ...]) -> Type:
    return DOUBLE if args[0] == DOUBLE else ranges.clipped(ranges.absolute(_int_of(args[0])))


def _one(*pairs: tuple[Type, Type]) -> tuple[Signature, ...]:
    return tuple(Signature((param,), result) for param, result in pairs)


_SIZES = _one((STRING, INT), (ListType(_T), INT), (MapType(DYN, _K), INT))
_NUMBERS = _one((INT, INT), (FIXED, FIXED), (DOUBLE, DOUBLE))
_DOUBLE_TO_DOUBLE = _one((DOUBLE, DOUBLE))
_EXTREMES = (
    *_one((_INTS, INT), (_FIXED, FIXED), (_DOUBLES, DOUBLE)),
    Signature((INT,), INT, variadic=True),
    Signature((FIXED,), FIXED, variadic=True),
    Signature((DOUBLE,), DOUBLE, variadic=True),
)
_BITS = (Signature((INT, INT), INT),)
_POSITIONS = _one((_INTS, IntType(-1, MAX_LIST)), (_FIXED, IntType(-1, MAX_LIST)), (_DOUBLES, IntType(-1, MAX_LIST)))
_SORTS = (Signature((ListType(_T), ListType(STRING)), ListType(_T)),)
_DEFAULTS = (Signature((_INTS, INT), INT), Signature((_FIXED, FIXED), FIXED), Signature((_DOUBLES, DOUBLE), DOUBLE))


def _position_type(args: tuple[Type, ...]) -> Type:
    return IntType(-1, _most(args[0]) - 1)


_OF_CEL = (
    Native("size", _SIZES, _size, total=True, infer=_size_type),
    Native("int", _one((INT, INT), (DOUBLE, INT), (STRING, INT)), to_int, infer=lambda args: _int_of(args[0])),
    Native("double", _one((INT, DOUBLE), (DOUBLE, DOUBLE), (STRING, DOUBLE)), to_double),
    Native("string", _one((STRING, STRING), (INT, STRING), (BOOL, STRING)), to_string, total=True),
    Native("bool", _one((BOOL, BOOL), (STRING, BOOL)), to_bool),
    Native("math.abs", _NUMBERS, _absolute, infer=_absolute_type),
    Native("math.greatest", _EXTREMES, _extreme("math.greatest", operator.gt), infer=_extreme_type(ranges.greatest)),
    Native("math.least", _EXTREMES, _extreme("math.least", operator.lt), infer=_extreme_type(ranges.least)),
    Native("math.ceil", _DOUBLE_TO_DOUBLE, _rounding(math.ceil), total=True),
    Native("math.floor", _DOUBLE_TO_DOUBLE, _rounding(math.floor), total=True),
    Native("math.round", _DOUBLE_TO_DOUBLE, _rounding(_half_away), total=True),
    Native("math.trunc", _DOUBLE_TO_DOUBLE, _rounding(math.trunc), total=True),
    Native("math.sign", _one((INT, IntType(-1, 1)), (FIXED, IntType(-1, 1)), (DOUBLE, DOUBLE)), _sign, total=True),
    Native("math.isNaN", _one((DOUBLE, BOOL)), math.isnan, total=True),
    Native("math.isInf", _one((DOUBLE, BOOL)), math.isinf, total=True),
    Native("math.isFinite", _one((DOUBLE, BOOL)), math.isfinite, total=True),
    Native("math.bitAnd", _BITS, lambda a, b: a & b, total=True),
    Native("math.bitOr", _BITS, lambda a, b: a | b, total=True),
    Native("math.bitXor", _BITS, lambda a, b: a ^ b, total=True),
    Native("math.bitNot", _one((INT, INT)), lambda a: ~a, total=True),
    Native("math.bitShiftLeft", _BITS, _shift("math.bitShiftLeft", left=True)),
    Native("math.bitShiftRight", _BITS, _shift("math.bitShiftRight", left=False)),
)

_OF_THE_PROFILE = (
    Native("qfixed", _one((INT, FIXED)), lambda n: int64(n * FIXED_ONE), infer=_fixed_type),
    Native("millionths", _one((FIXED, INT)), lambda q: q, total=True, infer=_millionths_type),
    Native("sum", _one((_INTS, INT), (_FIXED, FIXED)), _sum, infer=_sum_type),
    Native("isqrt", _one((INT, INT)), _square_root, infer=_square_root_type),
    Native("argmin", _POSITIONS, _position(operator.lt), total=True, infer=_position_type),
    Native("argmax", _POSITIONS, _position(operator.gt), total=True, infer=_position_type),
    Native("minimum", _DEFAULTS, _with_default("minimum", operator.lt), total=True, infer=_default_type),
    Native("maximum", _DEFAULTS, _with_default("maximum", operator.gt), total=True, infer=_default_type),
    Native("range", _one((INT, _INTS)), _range, infer=_range_type),
    Native("sort_by", _SORTS, _sorted_by, cost=8, infer=lambda args: args[0]),
)

STANDARD: Mapping[str, Native] = {native.name: native for native in (*_OF_CEL, *_OF_THE_PROFILE)}
"""Functions that every environment has."""

PROFILE_FUNCTIONS = frozenset(native.name for native in _OF_THE_PROFILE)
"""Those that CEL lacks; the second evaluator is given our code for them."""

_TEXTS = (Signature((STRING, STRING), BOOL),)
METHODS: Mapping[str, Native] = {
    "size": STANDARD["size"],
    "contains": Native("contains", _TEXTS, lambda text, part: part in text, total=True),
    "startsWith": Native("startsWith", _TEXTS, lambda text, part: text.startswith(part), total=True),
    "endsWith": Native("endsWith", _TEXTS, lambda text, part: text.endswith(part), total=True),
}
"""Functions that are called on their first argument: `text.contains(part)`."""
