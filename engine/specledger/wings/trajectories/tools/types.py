"""From JSON Schema to types of specs: what types cannot say is of the type json, which no rule reads, with a remark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_DEEPEST: Final = 8
_PLAIN: Final = {"string": "string", "integer": "int", "number": "qfixed", "boolean": "bool"}
_MOST_CHOICES: Final = 200

ANYTHING: Final = "json"
"""The type of what no rule reads."""
TypeText = Any
"""A type as documents write it: a name, or a mapping of JSON Schema's keywords."""


class Types:
    """Reads the schemas of one tool; `remarks` says what types cannot say."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self.remarks: list[str] = []

    def members(self) -> dict[str, tuple[TypeText, bool, str]]:
        """The type of each property of the schema, whether it must be there, and a remark."""
        schema = self._resolved(self._root, 0)
        properties = schema.get("properties")
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        members = {}
        for name, inner in (properties if isinstance(properties, dict) else {}).items():
            self.remarks.clear()
            type_ = self.type_of(inner, 0)
            remark = "; ".join(dict.fromkeys(self.remarks))
            members[name] = (ANYTHING if remark else type_, name in needed, remark)
        return members

    def type_of(self, schema: Any, depth: int) -> TypeText:
        """The type of a schema."""
        if depth > _DEEPEST or not isinstance(schema, dict):
            return self._unsaid("of any type")
        schema = self._resolved(schema, depth)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and 0 < len(choices) <= _MOST_CHOICES:
            if all(type(choice) is str for choice in choices):
                return {"type": "string", "enum": list(dict.fromkeys(choices))}
            if all(type(choice) is int for choice in choices):
                return {"enum": list(dict.fromkeys(choices))}
        kind = self._kind(schema)
        if kind == "array":
            return {"type": "array", "items": self.type_of(schema.get("items"), depth + 1)}
        if kind == "object":
            return self._object(schema, depth)
        if kind == "integer" and (bounds := _bounds(schema)):
            return {"type": "integer", **bounds}
        return _PLAIN[kind] if kind in _PLAIN else self._unsaid("of several types")

    def _object(self, schema: Mapping[str, Any], depth: int) -> TypeText:
        properties, more = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(properties, dict) and properties:
            if not all(IDENTIFIER.fullmatch(name) for name in properties):
                return self._unsaid("an object whose names are no identifiers")
            required = schema.get("required")
            needed = [name for name in properties if isinstance(required, list) and name in required]
            types = {name: self.type_of(inner, depth + 1) for name, inner in properties.items()}
            return {"type": "object", "properties": types, "required": needed}
        if isinstance(more, dict) and more:
            return {"type": "object", "additionalProperties": self.type_of(more, depth + 1)}
        return self._unsaid("any object")

    def _kind(self, schema: Mapping[str, Any]) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            kinds = [name for name in kind if name != "null"]
            kind = kinds[0] if len(kinds) == 1 else None
        if kind is None and isinstance(schema.get("properties"), dict):
            return "object"
        return kind if isinstance(kind, str) else ""

    def _resolved(self, schema: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        """A schema without references and without the alternative null."""
        for _ in range(_DEEPEST):
            reference = schema.get("$ref")
            parts = [schema.get(key) for key in ("anyOf", "oneOf", "allOf")]
            alternatives = next((part for part in parts if isinstance(part, list)), None)
            if isinstance(reference, str):
                schema = self._referenced(reference)
            elif alternatives is not None:
                left = [inner for inner in alternatives if isinstance(inner, dict) and inner.get("type") != "null"]
                if len(left) != 1:
                    return {}
                schema = left[0]
            else:
                return schema
        return {}

    def _referenced(self, reference: str) -> Mapping[str, Any]:
        value: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            value = value.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
        return value if isinstance(value, dict) and reference.startswith("#") else {}

    def _unsaid(self, why: str) -> str:
        self.remarks.append(why)
        return ANYTHING


def _bounds(schema: Mapping[str, Any]) -> dict[str, int]:
    return {key: schema[key] for key in ("minimum", "maximum") if type(schema.get(key)) is int}
