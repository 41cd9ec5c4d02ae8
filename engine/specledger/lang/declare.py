"""Declarations: how the types and constants that a spec writes become static types and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    INT,
    JSON,
    NOTHING,
    STRING,
    FixedType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
    one_of,
)
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.spec.base import FixedConstant
from specledger.spec.types import Schema, TypeSpec

CELL: Final = RecordType("cell", {"x": INT, "y": INT})
"""A place on a grid: column and row."""

FIELD_SIDE: Final = 256
"""Rows of a field, and values of a row, at most; the bound lets work on fields be proved small before it runs."""

FIELD: Final = ListType(ListType(INT, FIELD_SIDE), FIELD_SIDE)
"""A matrix of integers: rows of values."""

_BUILT_IN: Final[Mapping[str, Type]] = {
    "int": INT,
    "bool": BOOL,
    "string": STRING,
    "double": DOUBLE,
    "qfixed": FIXED,
    "cell": CELL,
    "field": FIELD,
}


class DeclarationError(ValueError):
    """A type or constant that means nothing; `path` leads to it from where reading began.

    `unknown` is the name of a type that there is not.
    """

    def __init__(self, message: str, path: tuple[str, ...] = (), unknown: str = "") -> None:
        self.path, self.unknown = path, unknown
        super().__init__(message)


MAX_PARTS: Final = 4096
"""Parts of one type when every name in it is replaced by what it stands for."""

MAX_DEPTH: Final = 32
"""Names that may stand inside each other in a type."""


def bound_type(spec: TypeSpec, named: Mapping[str, TypeSpec] | None = None) -> None:
    """Refuse a type that would be too large or too deep to read.

    Raises:
        DeclarationError: It has more than `MAX_PARTS` parts, or names more than `MAX_DEPTH` deep.
    """
    if _parts(spec, named or {}, {}, ()) > MAX_PARTS:
        raise DeclarationError(f"a type has at most {MAX_PARTS} parts, all names in it written out")


def _parts(spec: TypeSpec, named: Mapping[str, TypeSpec], known: dict[str, int], open_names: tuple[str, ...]) -> int:
    if isinstance(spec, str):
        if spec not in named or spec in open_names:
            return 1
        if len(open_names) >= MAX_DEPTH:
            raise DeclarationError(f"types name each other more than {MAX_DEPTH} deep")
        if spec not in known:
            known[spec] = _parts(named[spec], named, known, (*open_names, spec))
        return known[spec]
    inner = (spec.items, spec.additional, *(spec.properties or {}).values())
    return 1 + sum(_parts(part, named, known, open_names) for part in inner if part is not None)


def read_type(
    spec: TypeSpec,
    named: Mapping[str, TypeSpec] | None = None,
    open_names: tuple[str, ...] = (),
    *,
    choices: bool = False,
    carried: bool = False,
) -> Type:
    """The static type that a spec writes.

    Args:
        spec: A built-in name, a name of `named`, or a schema.
        named: The types that the spec itself declares.
        open_names: Names being read, for refusing a type that contains itself.
        choices: Whether the type is an argument of an action, whose values are compared with its `enum` one by one.
        carried: Whether it may be `json`, which nothing reads.

    Raises:
        DeclarationError: Unknown name, a type that contains itself, or keywords that do not go together.
    """
    if isinstance(spec, str):
        if spec in _BUILT_IN:
            return _BUILT_IN[spec]
        if spec in open_names:
            raise DeclarationError(f"type {spec!r} contains itself: {' -> '.join((*open_names, spec))}")
        if named and spec in named:
            return read_type(named[spec], named, (*open_names, spec), choices=choices, carried=carried)
        if spec == str(JSON):
            if carried:
                return JSON
            raise DeclarationError("`json` is the type of an argument of an action or of a field of a result alone")
        raise DeclarationError(f"unknown type {spec!r}", unknown=spec)
    if spec.enum is not None:
        return _enumeration(spec, choices)
    if spec.type == "array" or spec.items is not None:
        item = _inner(spec.items, ("items",), named, open_names) if spec.items is not None else INT
        return ListType(item, spec.max_items) if spec.max_items is not None else ListType(item)
    if spec.type == "object" or spec.properties is not None or spec.additional is not None:
        return _object(spec, named, open_names)
    if spec.type == "integer":
        low = spec.minimum if spec.minimum is not None else INT_MIN
        high = spec.maximum if spec.maximum is not None else INT_MAX
        return IntType(low, high)
    scalars: Mapping[str | None, Type] = {"boolean": BOOL, "string": STRING, "number": DOUBLE}
    if spec.type not in scalars:
        raise DeclarationError("a schema needs `type`, `enum`, `items`, `properties` or `additionalProperties`")
    return scalars[spec.type]


def _inner(
    spec: TypeSpec, keys: tuple[str, ...], named: Mapping[str, TypeSpec] | None, open_names: tuple[str, ...]
) -> Type:
    try:
        return read_type(spec, named, open_names)
    except DeclarationError as error:
        raise DeclarationError(str(error), keys + error.path, error.unknown) from None


def _enumeration(spec: Schema, choices: bool) -> Type:
    """The range or the kind of an enumeration's values; what that would not hold to them is refused."""
    values = spec.enum or []
    numbers = sorted(value for value in values if isinstance(value, int))
    row = [numbers[0] + index for index in range(len(values))] if numbers else None
    if not choices and numbers != row:
        better = "minimum, maximum" if len(numbers) == len(values) else "type: string"
        raise DeclarationError(f"outside the arguments of actions an `enum` is integers in a row; use {better}")
    if all(isinstance(value, int) for value in values):
        numbers = [value for value in values if isinstance(value, int)]
        return IntType(min(numbers), max(numbers))
    return one_of(map(str, values))


def _object(spec: Schema, named: Mapping[str, TypeSpec] | None, open_names: tuple[str, ...]) -> Type:
    if spec.additional is not None:
        if spec.properties:
            raise DeclarationError("an object has `properties` or `additionalProperties`, not both")
        return MapType(_inner(spec.additional, ("additionalProperties",), named, open_names))
    properties = spec.properties or {}
    fields = {name: _inner(inner, ("properties", name), named, open_names) for name, inner in properties.items()}
    required = frozenset(properties) if spec.required is None else frozenset(spec.required)
    if not required <= frozenset(properties):
        raise DeclarationError(f"required but not a property: {', '.join(sorted(required - frozenset(properties)))}")
    return RecordType("", fields, optional=frozenset(properties) - required)


def sealable(type_: Type) -> bool:
    """Whether every value of a type can stand in a receipt: no doubles anywhere, and nothing of unknown type."""
    if isinstance(type_, ListType):
        return sealable(type_.item)
    if isinstance(type_, MapType):
        return sealable(type_.value) and type_.key == STRING
    if isinstance(type_, RecordType):
        return all(sealable(field) for field in type_.fields.values())
    return type_ not in (DOUBLE, DYN)


def allowed_values(spec: TypeSpec, named: Mapping[str, TypeSpec] | None = None) -> tuple[Any, ...] | None:
    """The finitely many values of a type, in the order written, or None if the type has no `enum`."""
    if isinstance(spec, str):
        return allowed_values(named[spec], named) if named and spec in named else None
    return tuple(spec.enum) if spec.enum is not None else None


def read_constant(value: Any) -> tuple[Type, Any]:
    """The static type and the plain value of a constant.

    Raises:
        DeclarationError: If a list mixes types, or the value is a mapping other than `{qfixed: …}`.
    """
    if isinstance(value, FixedConstant):
        return FixedType(value.qfixed, value.qfixed), value.qfixed
    if isinstance(value, bool):
        return BOOL, value
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            raise DeclarationError("an integer constant has at most 64 bits")
        return IntType(value, value), value
    if isinstance(value, float):
        return DOUBLE, value
    if isinstance(value, str):
        return STRING, value
    if isinstance(value, list):
        return _list_constant(value)
    raise DeclarationError("expected a number, a boolean, a string, a list of these, or {qfixed: 1.5}")


def _list_constant(values: list[Any]) -> tuple[Type, Any]:
    read = [read_constant(value) for value in values]
    item: Type = NOTHING
    for type_, _ in read:
        item = _widened(item, type_)
    return ListType(item, len(values)), [value for _, value in read]


def _widened(first: Type, second: Type) -> Type:
    """The least type that holds the values of both."""
    if first in (NOTHING, second):
        return second
    if second == NOTHING:
        return first
    if isinstance(first, IntType) and type(first) is type(second):
        return type(first)(min(first.low, second.low), max(first.high, second.high))
    if isinstance(first, ListType) and isinstance(second, ListType):
        return ListType(_widened(first.item, second.item), max(first.most, second.most))
    raise DeclarationError(f"a list constant mixes {first} and {second}")
