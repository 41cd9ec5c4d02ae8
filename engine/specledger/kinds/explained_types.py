"""Types of values in words."""

from __future__ import annotations

from typing import Final

from specledger.lang.phrases import code, quoted
from specledger.lang.statement import listed
from specledger.spec.types import Schema, TypeSpec

_BUILT_IN: Final = {
    "int": "an integer",
    "bool": "true or false",
    "string": "a text",
    "double": "a number",
    "qfixed": "a number with at most six decimals",
    "cell": "a cell",
    "field": "a matrix of integers",
    "json": "any JSON value",
}
_JSON: Final = {"boolean": "true or false", "string": "a text", "number": "a number"}


def type_name(given: TypeSpec) -> str:
    """A type as a phrase: `an integer from 0 to 9`, `a list of at most 20 texts`."""
    if isinstance(given, str):
        return _BUILT_IN.get(given) or f"a value of the type {code(given)}"
    if given.enum is not None:
        return f"one of {listed(quoted(item) if isinstance(item, str) else integer(item) for item in given.enum)}"
    if given.type == "array":
        most = "" if given.max_items is None else f" of at most {given.max_items} entries"
        return f"a list{most}, each {type_name(given.items or 'json')}"
    if given.type == "object":
        return _record(given)
    if given.type == "integer":
        return _integer(given.minimum, given.maximum)
    return _JSON.get(str(given.type), "any JSON value")


def _record(given: Schema) -> str:
    if given.additional is not None:
        return f"a map from texts to values, each {type_name(given.additional)}"
    fields = [
        f"{code(name)}, {'' if given.required is None or name in given.required else 'if present, '}{type_name(inner)}"
        for name, inner in (given.properties or {}).items()
    ]
    return f"a record of {'; '.join(fields)}" if fields else "an empty record"


def _integer(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f"an integer from {integer(least)} to {integer(most)}"
    if least is None and most is None:
        return "an integer"
    return (
        f"an integer, at least {integer(least)}" if least is not None else f"an integer, at most {integer(most or 0)}"
    )


def integer(given: int) -> str:
    """An integer without a sign that could be read as an operator."""
    return f"minus {-given}" if given < 0 else str(given)
