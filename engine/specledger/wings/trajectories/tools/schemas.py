"""What a list of tools says of the arguments of each tool, as far as calls are compared with it: of a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from specledger.wings.trajectories.tools.lists import Tool

Schemas = Mapping[str, Mapping[str, Any] | None]
"""Tools by name, each with the JSON Schema of its arguments; None where nothing is known of them."""

_ALTERNATIVES: Final = ("$ref", "anyOf", "oneOf", "allOf", "if", "not")
_DEEPEST: Final = 16


def schemas_of(tools: Mapping[str, Tool]) -> Schemas:
    """What is compared of the schemas of listed tools, which is what evidence holds of them."""
    return {name: None if tool.arguments is UNSET else compared(tool.arguments) for name, tool in tools.items()}


def argument_names(schema: Mapping[str, Any] | None) -> list[str] | None:
    """The names of arguments; None where a tool may have others."""
    return list(schema["properties"]) if schema is not None and is_closed(schema) else None


def has_alternatives(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has alternatives or references, so that nothing is said of values."""
    return any(key in schema for key in _ALTERNATIVES)


def is_closed(schema: Mapping[str, Any]) -> bool:
    """Whether an object has no other members than those that its schema names."""
    more = schema.get("additionalProperties")
    named = isinstance(schema.get("properties"), Mapping) and "patternProperties" not in schema
    return named and (more is None or more is False) and not has_alternatives(schema)


def compared(schema: Any, depth: int = _DEEPEST) -> dict[str, Any]:
    """A schema without what no value is compared with: descriptions, bounds, formats, choices of other types."""
    if not isinstance(schema, Mapping) or has_alternatives(schema) or not depth:
        return {}
    kept: dict[str, Any] = {}
    if "type" in schema:
        kept["type"] = schema["type"]
    choices, required, properties = (schema.get(key) for key in ("enum", "required", "properties"))
    if isinstance(choices, list) and all(choice is None or isinstance(choice, str | int) for choice in choices):
        kept["enum"] = choices
    if isinstance(required, list):
        kept["required"] = [name for name in required if isinstance(name, str)]
    if isinstance(properties, Mapping):
        kept["properties"] = {name: compared(inner, depth - 1) for name, inner in properties.items()}
        if not is_closed(schema):
            kept["additionalProperties"] = True
    if "items" in schema:
        kept["items"] = compared(schema["items"], depth - 1)
    return kept
