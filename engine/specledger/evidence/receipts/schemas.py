"""JSON Schemas of receipts, derived from their classes: for programs that read evidence without this package.

A schema describes one line of `receipts.jsonl` and refuses what its class does not declare.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args, get_origin, is_typeddict

from specledger.core.docstrings import attributes_of, summary_of
from specledger.core.typed_dicts import fields_of, without_none, words_of
from specledger.evidence.receipts import ReceiptTypes

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final[Mapping[Any, str]] = {str: "string", int: "integer", bool: "boolean"}
_HEX: Final[Mapping[str, Any]] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_LINE: Final[Mapping[str, Any]] = {
    "body": {"description": "What the receipt holds, by its type.", "type": "object"},
    "prev": {"description": "The digest of the line before; 64 zeros in the first.", **_HEX},
    "run": {"description": "What identifies the run.", "type": "string", "pattern": "^[0-9a-f]{32}$"},
    "seq": {"description": "The number of the line, from 0.", "type": "integer", "minimum": 0},
}
_TYPE: Final = "The type of the receipt."


def schema_of(kind: str, types: ReceiptTypes) -> dict[str, Any]:
    """The schema of a line of evidence of a kind, of draft 2020-12."""
    definitions: dict[str, Any] = {}
    bodies = {type_: _reference(class_, definitions) for type_, class_ in types.items()}
    return {
        "$schema": _DIALECT,
        "$id": f"https://specledger.local/schema/receipts/{kind}.json",
        "title": f"receipt of a {kind}",
        "description": "A line of receipts.jsonl.",
        "type": "object",
        "required": [*_LINE, "type"],
        "additionalProperties": False,
        "properties": {**_LINE, "type": {"description": _TYPE, "enum": [*bodies]}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": type_}}},
                "then": {"properties": {"body": reference}},
            }
            for type_, reference in bodies.items()
        ],
        "$defs": definitions,
    }


def _reference(class_: type[Mapping[str, Any]], definitions: dict[str, Any]) -> dict[str, str]:
    """A reference to the definition of a TypedDict, which is made when it is first needed."""
    name = class_.__name__
    if name not in definitions:
        definitions[name] = {}
        fields, about = fields_of(class_), attributes_of(class_.__doc__)
        definitions[name] = {
            "description": " ".join(summary_of(class_.__doc__).split()),
            "type": "object",
            "required": [key for key, field in fields.items() if not field.optional],
            "additionalProperties": False,
            "properties": {
                key: {"description": about[key], **_schema(field.type, definitions)} for key, field in fields.items()
            },
        }
    return {"$ref": f"#/$defs/{name}"}


def _schema(declared: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    bare, nullable = without_none(declared)
    if nullable:
        return {"anyOf": [_schema(bare, definitions), {"type": "null"}]}
    if words := words_of(bare):
        return {"enum": [*words]}
    if get_origin(bare) is Annotated:
        return _schema(get_args(bare)[0], definitions)
    if is_typeddict(bare):
        return _reference(bare, definitions)
    if get_origin(bare) is list:
        return {"type": "array", "items": _schema(get_args(bare)[0], definitions)}
    if get_origin(bare) is dict:
        return {"type": "object", "additionalProperties": _schema(get_args(bare)[1], definitions)}
    return {} if bare is Any else {"type": _PLAIN[bare]}
