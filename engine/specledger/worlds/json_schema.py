"""Types of a world as JSON Schemas, for agents and services that do not know the types of a spec."""

from __future__ import annotations

from typing import Any, Final

from specledger.expr import BOOL, STRING, IntType, ListType, MapType, RecordType, Type

_SCALARS: Final[dict[Type, str]] = {BOOL: "boolean", STRING: "string"}


def json_schema(type_: Type, allowed: tuple[Any, ...] | None = None) -> dict[str, Any]:
    """The JSON Schema of a type, or of those of its values that are `allowed`; of a type that has none, any value."""
    if allowed:
        return {**json_schema(type_), "enum": list(allowed)}
    if isinstance(type_, IntType):
        return {"type": "integer"}
    if isinstance(type_, ListType):
        return {"type": "array", "items": json_schema(type_.item)}
    if isinstance(type_, MapType):
        return {"type": "object", "additionalProperties": json_schema(type_.value)}
    if isinstance(type_, RecordType):
        fields = {name: json_schema(field) for name, field in type_.fields.items()}
        required = sorted(set(fields) - type_.optional)
        return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
    return {"type": _SCALARS[type_]} if type_ in _SCALARS else {}
