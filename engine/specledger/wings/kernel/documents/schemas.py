"""The shipped schemas of documents with reasons and of the audit log, and schemas as static types of expressions.

As a type, a closed object is a record, an integer keeps its range, a list its size. Open objects and every `number` are
`dyn`, whose operations are checked when they run: 1 and 1.0 are one number in JSON.

Source: toy-pseudo-axion, JSON Schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from specledger.expr import BOOL, DYN, INT, STRING, IntType, ListType, RecordType, Type
from specledger.gates.documents import Validator, shipped_schemas


def axion() -> Validator:
    """The shipped schemas of the pseudo-axion kernel.

    Raises:
        LookupError: They were not shipped.
    """
    return shipped_schemas("axion")


@cache
def document_type(name: str) -> RecordType:
    """The type of the documents of a shipped schema.

    Raises:
        LookupError: There is no such schema, or it is none of a closed object.
    """
    type_ = _type(axion().schema(name), name)
    if not isinstance(type_, RecordType):
        raise LookupError(f"the schema {name!r} describes no closed object")
    return type_


def words_at(name: str, *keys: str) -> tuple[str, ...]:
    """The texts that a shipped schema lists at a place of its documents, through lists; empty where it lists none."""
    schema, document = axion().schema(name), name
    for key in keys:
        schema, document = _followed(schema["properties"][key], document)
        while schema.get("type") == "array":
            schema, document = _followed(schema["items"], document)
    return tuple(schema.get("enum", ()))


def _followed(schema: Any, document: str) -> tuple[Any, str]:
    """What a reference leads to, or the schema itself, and the file that holds it."""
    while "$ref" in schema:
        stem, _, pointer = schema["$ref"].partition("#")
        document = stem.removesuffix(".json") or document
        schema = axion().schema(document)
        for part in pointer.split("/")[1:]:
            schema = schema[part]
    return schema, document


def _type(schema: Any, document: str) -> Type:
    """The type of one place of the schema document that a file holds."""
    if not isinstance(schema, Mapping):
        return DYN
    if "$ref" in schema:
        return _type(*_followed(schema, document))
    if all(isinstance(value, str) for value in schema.get("enum", (0,))):
        return STRING
    kind = schema.get("type")
    if kind == "integer":
        return IntType(schema.get("minimum", INT.low), schema.get("maximum", INT.high))
    if kind == "array":
        item = _type(schema.get("items"), document)
        return ListType(item, schema["maxItems"]) if "maxItems" in schema else ListType(item)
    if kind == "object" and schema.get("additionalProperties") is False:
        fields = {name: _type(value, document) for name, value in schema.get("properties", {}).items()}
        return RecordType("", fields, optional=frozenset(fields) - frozenset(schema.get("required", ())))
    return {"string": STRING, "boolean": BOOL}.get(str(kind), DYN)
