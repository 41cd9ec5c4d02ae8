"""Functions over the series of an episode. Means and trends are in millionths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from specledger.core.statistics import ONE, divide, slope
from specledger.expr import BOOL, INT, EvaluationError, IntType, ListType, Native, Signature, Type, TypeVariable
from specledger.expr.errors import E_EVAL_ARGUMENT, E_EVAL_LIMIT
from specledger.expr.eval.values import int64
from specledger.expr.limits import MAX_LIST

_T: Final = TypeVariable("T")
_INTS: Final = ListType(INT)
_COUNT: Final = IntType(0, MAX_LIST)
_MOST_QUESTIONS: Final = 10_000
_INDEX: Final = IntType(-1, MAX_LIST)


def rolling(values: list[int], window: int) -> list[int]:
    """At each place the mean of the last `window` values, of fewer at the beginning; millionths."""
    if window < 1:
        raise EvaluationError(E_EVAL_ARGUMENT, "`rolling` over a window of less than one value")
    sums = [0, *accumulate(values)]
    ends = range(1, len(sums))
    return [int64(divide((sums[end] - sums[max(0, end - window)]) * ONE, min(end, window))) for end in ends]


def prefix_sums(values: list[int]) -> list[int]:
    """At each place the sum up to it, itself included."""
    return [int64(total) for total in accumulate(values)]


def differences(values: list[int]) -> list[int]:
    """What each value is more than the one before it; one fewer than the values."""
    return [int64(after - before) for before, after in pairwise(values)]


def trend(values: list[int]) -> int:
    """The least-squares slope over the places 0, 1, …; millionths, 0 of fewer than two values."""
    n = len(values)
    x = n * (n - 1) // 2
    xx = (n - 1) * n * (2 * n - 1) // 6
    return int64(slope([n, x, sum(values), xx, sum(index * value for index, value in enumerate(values))]) or 0)


def first(holds: list[bool]) -> int:
    """The first place at which it holds, -1 if there is none."""
    return holds.index(True) if True in holds else -1


def last(values: list[Any], default: Any) -> Any:
    """The last value, or the default of none."""
    return values[-1] if values else default


def count(holds: list[bool]) -> int:
    """At how many places it holds."""
    return holds.count(True)


def distinct(values: list[Any]) -> int:
    """How many different values there are."""
    return len({_frozen(value) for value in values})


def _frozen(value: Any) -> Any:
    """The value as one that can be a key; a truth is no number, and a number may be one that no receipt holds."""
    if isinstance(value, Mapping):
        return dict, tuple((name, _frozen(value[name])) for name in sorted(value))
    return (list, tuple(map(_frozen, value))) if isinstance(value, list) else (type(value), value)


def slice_of(values: list[Any], start: int, end: int) -> list[Any]:
    """The values from place `start` to before place `end`, as far as there are any."""
    return values[max(0, start) : max(0, end)]


def flatten(lists: list[list[Any]]) -> list[Any]:
    """The items of all lists in one."""
    if sum(map(len, lists)) > MAX_LIST:
        raise EvaluationError(E_EVAL_LIMIT, f"a list has more than {MAX_LIST} items")
    return list(chain.from_iterable(lists))


def power(share: int, detects: int, questions: int) -> int:
    """The chance that some of `questions` notices: 1 - (1 - share x detects)^questions; all three in millionths but n.

    `share` says how often a question meets what it looks for, `detects` how often a question that meets it notices.
    """
    if not (0 <= share <= ONE and 0 <= detects <= ONE and 0 <= questions <= _MOST_QUESTIONS):
        message = f"`power` of shares beyond 0 to {ONE}, or of more than {_MOST_QUESTIONS} questions"
        raise EvaluationError(E_EVAL_ARGUMENT, message)
    missed: int = (ONE * ONE - share * detects) ** questions
    return ONE - int(divide(missed * ONE, (ONE * ONE) ** questions))


def _native(name: str, call: Callable[..., Any], *params: Type, result: Type) -> Native:
    return Native(name, (Signature(params, result),), call, cost=2)


SERIES: Final[Mapping[str, Native]] = {
    native.name: native
    for native in (
        _native("rolling", rolling, _INTS, INT, result=_INTS),
        _native("prefix_sums", prefix_sums, _INTS, result=_INTS),
        _native("differences", differences, _INTS, result=_INTS),
        _native("trend", trend, _INTS, result=INT),
        _native("first", first, ListType(BOOL), result=_INDEX),
        _native("last", last, ListType(_T), _T, result=_T),
        _native("count", count, ListType(BOOL), result=_COUNT),
        _native("distinct", distinct, ListType(_T), result=_COUNT),
        _native("power", power, INT, INT, INT, result=IntType(0, ONE)),
        _native("slice", slice_of, ListType(_T), INT, INT, result=ListType(_T)),
        _native("flatten", flatten, ListType(ListType(_T)), result=ListType(_T)),
    )
}
"""Name -> native function, for the measures and figures of suites."""
