"""JSON Schemas as static types: how expressions read a document that was found valid.

Decides the type of every place. A closed object is a record, an integer keeps its range, a list its size; whatever is
left open, and every `number`, is `dyn`, whose operations are checked when they run: 1 and 1.0 are one number in JSON.
Refuses to validate: a value reaches an expression only after its schema accepted it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from specledger.expr import BOOL, DYN, INT, STRING, IntType, ListType, RecordType, Type
from specledger.load.shipped import find_schemas


@cache
def document_type(name: str) -> RecordType:
    """The type of the documents of a shipped schema.

    Args:
        name: The schema's file name without `.json`.

    Raises:
        LookupError: There is no such schema, or it is none of a closed object.
    """
    type_ = _type(_schema(name), name)
    if not isinstance(type_, RecordType):
        raise LookupError(f"the schema {name!r} describes no closed object")
    return type_


@cache
def _schema(name: str) -> Mapping[str, Any]:
    folder = find_schemas()
    path = None if folder is None else folder / "axion" / f"{name}.json"
    if path is None or not path.is_file():
        raise LookupError(f"there is no schema {name!r}")
    schema: Mapping[str, Any] = json.loads(path.read_bytes())
    return schema


def _type(schema: Any, document: str) -> Type:
    """The type of one place of the schema document that a file holds."""
    if not isinstance(schema, Mapping):
        return DYN
    if "$ref" in schema:
        stem, _, pointer = schema["$ref"].partition("#")
        target = stem.removesuffix(".json") or document
        place: Any = _schema(target)
        for part in pointer.split("/")[1:]:
            place = place[part]
        return _type(place, target)
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
