"""The fields of a TypedDict, read from its declaration, for what is derived from it."""

from collections.abc import Mapping
from enum import StrEnum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

ASSUMED_PRESENT: Final = "assumed present"
"""Marks, as in `Annotated[bool | None, ASSUMED_PRESENT]`, what expressions may read as if it were never None."""


class Field(NamedTuple):
    """A key of a TypedDict: its type without the qualifier, and whether it may be absent."""

    type: Any
    optional: bool


def fields_of(class_: type[Mapping[str, Any]]) -> dict[str, Field]:
    """The keys of a TypedDict in the order of its declaration.

    Raises:
        TypeError: It is none.
    """
    if not is_typeddict(class_):
        raise TypeError(f"{class_.__name__} is no TypedDict")
    hints = get_type_hints(class_, include_extras=True)
    total = bool(vars(class_)["__total__"])  # `__optional_keys__` is wrong where annotations are strings
    return {name: _field(type_, total) for name, type_ in hints.items()}


def _field(type_: Any, total: bool) -> Field:
    origin = get_origin(type_)
    if origin in (NotRequired, Required):
        return Field(get_args(type_)[0], origin is NotRequired)
    return Field(type_, not total)


def words_of(type_: Any) -> tuple[str, ...] | None:
    """The words that a field of the type `Annotated[str, <StrEnum>]` may hold; None for another type."""
    if get_origin(type_) is not Annotated:
        return None
    enumerations = [
        type_argument
        for type_argument in get_args(type_)[1:]
        if isinstance(type_argument, type) and issubclass(type_argument, StrEnum)
    ]
    return tuple(member.value for member in enumerations[0]) if enumerations else None


def without_none(type_: Any) -> tuple[Any, bool]:
    """A type without None, and whether None was one of its alternatives.

    Raises:
        TypeError: It has several other alternatives.
    """
    if get_origin(type_) not in (Union, UnionType):
        return type_, False
    others = [type_argument for type_argument in get_args(type_) if type_argument is not NoneType]
    if len(others) != 1 or len(others) == len(get_args(type_)):
        raise TypeError(f"{type_} has several alternatives")
    return others[0], True
