"""The functions that a model is offered: one for each operation of the world, with its reasons as one more argument.

The JSON Schema of a reason names the variables that there are at that moment and the labels of the world's actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from specledger.lang.choices import Choices
from specledger.oracles.model import Tool

REASONS: Final = "reasons"
"""The argument of every function that takes the reasons."""

CLAIMS: Final = "claims"
"""The argument of every function that takes the claims of a governor without a kernel."""

ACCEPT: Final = "accept"
"""The argument that says whether an offer is taken, where one is made."""

ARGUMENTS: Final = frozenset({REASONS, CLAIMS, ACCEPT})
"""The arguments beside those of an operation."""

DIRECTIONS: Final = ("increases", "decreases", "removed")
"""The directions of a reason that gives no value."""

MOST_REASONS: Final = 64
"""Reasons of one answer that are read."""

_JSON_TYPES: Final = {"int": "integer", "bool": "boolean", "string": "string"}


def tools_of(
    hello: Mapping[str, Any],
    schemas: Mapping[str, Mapping[str, Any]],
    choices: Mapping[str, Choices],
    variables: Sequence[str],
) -> tuple[Tool, ...]:
    """The functions of a question.

    Args:
        hello: What the run says of itself.
        schemas: For each operation the JSON Schemas of its arguments.
        choices: For each operation the labels of its actions.
        variables: The names that a reason may give.
    """
    said = _claims(hello[CLAIMS]) if hello[CLAIMS] else {}
    if hello["document"]:
        said = {REASONS: _reasons(hello.get("counterfactuals", 0), variables, choices)}
    return tuple(
        Tool(
            operation["op"],
            operation.get("doc") or f"{operation['op']}: one action.",
            _parameters(schemas[operation["op"]], said),
        )
        for operation in hello["operations"]
    )


def with_offer(tool: Tool) -> Tool:
    """A function that also says whether an offer is taken."""
    schema = tool.parameters
    properties = {**schema["properties"], ACCEPT: {"type": "boolean", "description": "Whether you take the offer."}}
    return replace(tool, parameters={**schema, "properties": properties, "required": sorted(properties)})


def _parameters(schemas: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments: those of the operation, and the reasons or the claims."""
    properties = {**{name: dict(schema) for name, schema in schemas.items()}, **said}
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _claims(claims: Mapping[str, str]) -> dict[str, Any]:
    named = {name: {"type": _JSON_TYPES.get(kind, "string")} for name, kind in claims.items()}
    return {CLAIMS: {"type": "object", "properties": named, "required": sorted(named)}}


def _reasons(needed: int, variables: Sequence[str], choices: Mapping[str, Choices]) -> dict[str, Any]:
    """The JSON Schema of reasons: as many as the kernel demands at least, each about one variable."""
    item = {
        "type": "object",
        "properties": {
            "variable": {"type": "string", **({"enum": list(variables)} if variables else {})},
            "becomes": {"description": "the other value of the variable"},
            "direction": {"type": "string", "enum": list(DIRECTIONS), "description": "in place of `becomes`"},
            "choice": _choice(choices),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["variable", "choice"],
    }
    return {
        "type": "array",
        "description": "What you would choose if one variable were different.",
        "items": item,
        **({"minItems": needed} if needed else {}),
        "maxItems": max(MOST_REASONS, needed),
    }


def _choice(choices: Mapping[str, Choices]) -> dict[str, Any]:
    """The JSON Schema of a choice: the labels that can be listed, and the form of others."""
    listed = [label for member in choices.values() if member.listed for label in member.labels]
    forms = [label for member in choices.values() if not member.listed for label in member.labels]
    if not forms:
        return {"type": "string", "enum": listed}
    form = {"type": "string", "description": f"of the form {', '.join(forms)}"}
    return {"anyOf": [{"type": "string", "enum": listed}, form]} if listed else form
