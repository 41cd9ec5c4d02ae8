"""What values can weigh by their types alone, so that only those are weighed in a run that may exceed the limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from specledger.core.weight import LIST, MAX_WEIGHT, MEMBER, OBJECT
from specledger.expr import Checked, Environment, ListType, RecordType
from specledger.expr.check.types import DYN, JSON, STRING, MapType, Type
from specledger.expr.limits import MAX_LIST, MAX_STRING
from specledger.lang.scope import Let

_LIGHT: Final = 2 * MAX_WEIGHT
"""What any one value, or the values of one table together, may weigh to be written first: what is in a receipt is
weighed by the length of its form afterwards, and 36 MB are the longest form of it."""
_ANYTHING: Final = 2 * _LIGHT
"""What a value of any type weighs at most, for what is decided here."""


def may_exceed_limit(hashed: Iterable[Type], compiled: Iterable[Any]) -> bool:
    """Whether any one value that specs compute can weigh more than may be written before it is weighed.

    If so, values are weighed first, since writing could take gigabytes. That takes 10-25 % of a step, and most specs
    have no list of lists and no list of texts.

    Args:
        hashed: Types of what is hashed and in no receipt, whose form nobody looks at.
        compiled: Types, and checked specs of any sort, whose checked expressions are all looked at.
    """
    if any(most_weight(type_) > MAX_WEIGHT for type_ in hashed):
        return True
    todo, seen = list(compiled), set[int]()
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, str | Environment):
            continue
        seen.add(id(item))
        type_ = item.type if isinstance(item, Checked) else item
        if isinstance(type_, Type):
            if most_weight(type_) > _LIGHT:
                return True
        elif isinstance(item, Let):
            if sum(most_weight(type_) for type_ in item.types.values()) > _LIGHT:
                return True
            todo += item.items
        elif isinstance(item, Mapping):
            todo += item.values()
        elif isinstance(item, list | tuple | set | frozenset):
            todo += item
        elif isinstance(item, Struct):
            todo += [getattr(item, name) for name in item.__struct_fields__]
    return False


@lru_cache(maxsize=1024)
def most_weight(type_: Type) -> int:
    """What a value of a type weighs at most."""
    if isinstance(type_, ListType):
        return LIST + type_.most * (MEMBER + most_weight(type_.item))
    if isinstance(type_, RecordType):
        return OBJECT + sum(MEMBER + len(name) + most_weight(inner) for name, inner in type_.fields.items())
    if isinstance(type_, MapType):
        return OBJECT + MAX_LIST * (MEMBER + MAX_STRING + most_weight(type_.value))
    return MAX_STRING if type_ == STRING else _ANYTHING * (type_ in (DYN, JSON))
