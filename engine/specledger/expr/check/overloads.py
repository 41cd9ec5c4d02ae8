"""Overload resolution of native functions.

The first overload that certainly fits is chosen, otherwise those that may fit depending on dynamic values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

from msgspec import Struct

from specledger.expr.check.relations import join, mismatch
from specledger.expr.check.types import (
    DOUBLE,
    DYN,
    MISTAKEN,
    NOTHING,
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


class Fit(IntEnum):
    """How well an argument fits a parameter; a call fits as well as its worst argument."""

    NO = 0
    MAYBE = 1
    YES = 2


class Choice(Struct, frozen=True):
    """The result's type and, when dynamic values must be looked at first, the parameter rows they may fit."""

    result: Type
    accepts: tuple[tuple[Type, ...], ...] = ()


def choose(native: Native, args: Sequence[Type]) -> Choice | None:
    """The overload for these argument types; None when there is none."""
    rows: list[tuple[Type, ...]] = []
    results: list[Type] = []
    for signature, params in _of_length(native, len(args)):
        bound: dict[str, Type] = {}
        fit = min((_fit(arg, param, bound) for arg, param in zip(args, params, strict=True)), default=Fit.YES)
        result = _substitute(signature.result, bound)
        if fit is Fit.YES and not rows:
            return Choice(native.infer(tuple(args)) if native.infer else result)
        if fit is not Fit.NO:
            rows.append(tuple(_substitute(param, bound) for param in params))
            results.append(result)
    if not rows:
        return None
    return Choice(results[0] if all(result == results[0] for result in results) else DYN, tuple(rows))


def takes(native: Native, count: int) -> bool:
    """Whether any overload has that many arguments."""
    return any(True for _ in _of_length(native, count))


def wrong_argument(native: Native, args: Sequence[Type]) -> tuple[int, Type] | None:
    """The first argument that fits nowhere and what it should be, when only one overload could be meant."""
    rows = [params for _, params in _of_length(native, len(args))]
    if len(rows) != 1:
        return None
    bound: dict[str, Type] = {}
    for index, (arg, param) in enumerate(zip(args, rows[0], strict=True)):
        if _fit(arg, param, bound) is Fit.NO:
            return index, _substitute(param, bound)
    return None


def promoted(args: Sequence[Type]) -> list[Type] | None:
    """The arguments with every int as a double; None when ints and doubles are not mixed."""
    changed = [_promote(arg) for arg in args]
    return changed if changed != list(args) and any(DOUBLE in (arg, _innermost(arg)) for arg in args) else None


def _promote(type_: Type) -> Type:
    if isinstance(type_, ListType):
        return ListType(_promote(type_.item), type_.most)
    return DOUBLE if type(type_) is IntType else type_


def _innermost(type_: Type) -> Type:
    while isinstance(type_, ListType):
        type_ = type_.item
    return type_


def _of_length(native: Native, count: int) -> Iterator[tuple[Signature, tuple[Type, ...]]]:
    for signature in native.overloads:
        params = signature.params
        if signature.variadic and count >= len(params):
            params = params[:-1] + params[-1:] * (count - len(params) + 1)
        if len(params) == count:
            yield signature, params


def _fit(actual: Type, param: Type, bound: dict[str, Type]) -> Fit:
    if isinstance(param, TypeVariable):
        joined = join(bound.get(param.name, NOTHING), actual)
        if joined is None:
            return Fit.NO
        bound[param.name] = joined
        return Fit.YES
    if actual in (NOTHING, MISTAKEN) or param == DYN:
        return Fit.YES
    if actual == DYN:
        return Fit.NO if isinstance(param, FixedType) else Fit.MAYBE
    if isinstance(actual, ListType) and isinstance(param, ListType):
        return _fit(actual.item, param.item, bound)
    if isinstance(param, MapType):
        return _fit_map(actual, param, bound)
    if isinstance(actual, RecordType) and isinstance(param, RecordType):
        return _fit_record(actual, param, bound)
    return Fit.YES if mismatch(actual, param) is None else Fit.NO


def _fit_map(actual: Type, param: MapType, bound: dict[str, Type]) -> Fit:
    if isinstance(actual, MapType):
        return min(_fit(actual.key, param.key, bound), _fit(actual.value, param.value, bound))
    if not isinstance(actual, RecordType):
        return Fit.NO
    fits = [_fit(value, param.value, bound) for value in actual.fields.values()]
    return min([_fit(STRING, param.key, bound), *fits])


def _fit_record(actual: RecordType, param: RecordType, bound: dict[str, Type]) -> Fit:
    """Records fit structurally: what the parameter needs must be there, more may be there."""
    worst = Fit.YES
    for key, wanted in param.fields.items():
        if key in actual.fields and (key not in actual.optional or key in param.optional):
            worst = min(worst, _fit(actual.fields[key], wanted, bound))
        elif key in actual.fields or key not in param.optional:
            return Fit.NO
    return worst


def _substitute(type_: Type, bound: dict[str, Type]) -> Type:
    if isinstance(type_, TypeVariable):
        type_argument = bound.get(type_.name, NOTHING)
        return DYN if type_argument == NOTHING else type_argument
    if isinstance(type_, ListType):
        return ListType(_substitute(type_.item, bound), type_.most)
    if isinstance(type_, MapType):
        return MapType(_substitute(type_.value, bound), _substitute(type_.key, bound))
    return type_


def shown(args: Sequence[Type]) -> str:
    """Argument types for a message."""
    return "(" + ", ".join(str(arg) for arg in args) + ")"
