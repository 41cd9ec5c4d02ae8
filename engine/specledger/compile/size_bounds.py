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

_LIGHT: Final = MAX_WEIGHT // 4
"""What any one value may weigh to be written first: whatever is made of many is weighed by the length of its form."""


def may_exceed_limit(compiled: Iterable[Any]) -> bool:
    """Whether any one value that specs compute can weigh more than may be written before it is weighed.

    If so, values are weighed first, since writing could take gigabytes. That takes 10-25 % of a step, and most specs
    have no list of lists and no list of texts.

    Args:
        compiled: Types, and checked specs of any sort, whose checked expressions are all looked at.
    """
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
    return MAX_STRING if type_ == STRING else MAX_WEIGHT * (type_ in (DYN, JSON))
