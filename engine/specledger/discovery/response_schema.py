"""The form of an answer: a JSON Schema of a list of laws, for models that can be held to one.

Decides nothing that a parser relies on: the form is derived from what the `law` kind says, in the few keywords that
services understand, and an answer is read whether it has this form or not. Refuses to know any service.
Source: law proposer, sections 4 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from specledger.discovery.parser import REQUIRED, WITHHELD
from specledger.laws.claim import OPERATORS
from specledger.spec.law import Law

_KEPT: Final = ("type", "enum", "anyOf", "items", "properties", "required", "minimum", "maximum")
_NODE: Final = {"$ref": "#/$defs/node"}


def answer_form(templates: Iterable[str]) -> dict[str, Any]:
    """The form of an answer that is a list of laws.

    Args:
        templates: The templates that a law may have.
    """
    shape = Law.model_json_schema(by_alias=True)
    fields = {name: _plain(each, shape["$defs"]) for name, each in shape["properties"].items() if name not in WITHHELD}
    fields["template"] = {"type": "string", "enum": list(templates)}
    fields["claim_ast"] = _NODE
    law = {"type": "object", "properties": fields, "required": list(REQUIRED)}
    return {"type": "array", "items": law, "$defs": {"node": _node(), "time": _time()}}


def _node() -> dict[str, Any]:
    """A node of a claim: any of its forms, by the keys that it may have."""
    keys: dict[str, Any] = {
        "const": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "string"}]},
        "obs": {"type": "string"},
        "t": {"$ref": "#/$defs/time"},
        "op": {"type": "string", "enum": [*OPERATORS, "not"]},
        **dict.fromkeys(("lhs", "rhs", "arg"), _NODE),
    }
    return {"type": "object", "properties": keys}


def _time() -> dict[str, Any]:
    keys = {"var": {"type": "string", "enum": ["t"]}, "t_plus_1": {"type": "boolean"}, "const": {"type": "integer"}}
    return {"type": "object", "properties": keys}


def _plain(value: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema without references, in the keywords that are kept; a constant is a choice of one."""
    if "$ref" in value:
        return _plain(definitions[value["$ref"].rpartition("/")[2]], definitions)
    kept = {key: value[key] for key in _KEPT if key in value}
    if "const" in value:
        kept["enum"] = [value["const"]]
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    if "anyOf" in kept:
        kept["anyOf"] = [_plain(each, definitions) for each in kept["anyOf"]]
    if "properties" in kept:
        kept["properties"] = {name: _plain(each, definitions) for name, each in kept["properties"].items()}
    return kept
