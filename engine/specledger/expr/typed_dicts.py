"""Record types from TypedDicts, so that the shape of a document is declared once.

What may be null is `dyn` unless it is marked, and so is `Any`: expressions ask for its type when they run.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, get_args, get_origin, is_typeddict

from specledger.core.typed_dicts import ASSUMED_PRESENT, fields_of, without_none
from specledger.expr.check.types import BOOL, DYN, INT, STRING, ListType, MapType, RecordType, Type

_SHOWN: Final = 6
"""Fields up to which a message shows a record without a name as a whole."""

_PLAIN: Final[Mapping[Any, Type]] = {str: STRING, int: INT, bool: BOOL, Any: DYN}


def record_type(
    class_: type[Mapping[str, Any]],
    name: str = "",
    known: Mapping[str, Type] = MappingProxyType({}),
    names: Mapping[type[Mapping[str, Any]], str] = MappingProxyType({}),
) -> RecordType:
    """The type of a TypedDict's values.

    Args:
        class_: The TypedDict.
        name: What messages call the record. A large one inside it has the name of its key.
        names: What messages call the records inside it.
        known: By key the types that only the caller knows, such as those that a world decides.

    Raises:
        TypeError: A field has a type that no expression has.
    """
    fields = fields_of(class_)
    types = {key: known[key] if key in known else _type(field.type, key, names) for key, field in fields.items()}
    return RecordType(name, types, frozenset(key for key, field in fields.items() if field.optional))


def _type(declared: Any, key: str, names: Mapping[type[Mapping[str, Any]], str]) -> Type:
    declared, nullable = without_none(declared)
    if nullable:
        return DYN
    if is_typeddict(declared):
        name = names.get(declared, key if len(fields_of(declared)) > _SHOWN else "")
        return record_type(declared, name, names=names)
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        bare = without_none(arguments[0])[0] if ASSUMED_PRESENT in arguments else arguments[0]
        return _type(bare, key, names)
    if origin is list:
        return ListType(_type(arguments[0], "", names))
    if origin is dict:
        return MapType(_type(arguments[1], "", names))
    if declared not in _PLAIN:
        raise TypeError(f"no expression has the type {declared}")
    return _PLAIN[declared]
