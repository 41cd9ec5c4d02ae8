"""How a spec states the type of a value: a name, or a small closed subset of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from specledger.spec.base import Identifier, Model

BUILT_IN: Final = ("int", "bool", "string", "double", "qfixed", "cell", "field")
"""Type names that every spec knows: `cell` is {x, y}, `field` an integer matrix, `qfixed` an integer of millionths."""

TypeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=80)]


Size = Annotated[int, Field(ge=0)]


class Schema(Model):
    """A type in JSON Schema's keywords. Objects are closed; all properties are required unless `required` is given.

    Attributes:
        type: The JSON type of the value.
        minimum: The least integer.
        maximum: The greatest integer.
        enum: The values that are allowed.
        items: The type of each element of a list.
        maxItems: How many elements a list has at most.
        properties: The fields of an object with their types.
        required: The fields that are always present; all, if left out.
        additionalProperties: The type of the values of a map from any text.
    """

    type: Literal["integer", "boolean", "string", "number", "array", "object"] | None = None
    minimum: int | None = None
    maximum: int | None = None
    enum: Annotated[list[str] | list[int], Field(min_length=1)] | None = None
    items: TypeSpec | None = None
    max_items: Size | None = Field(default=None, alias="maxItems")
    properties: Mapping[Identifier, TypeSpec] | None = None
    required: list[Identifier] | None = None
    additional: TypeSpec | None = Field(default=None, alias="additionalProperties")


TypeSpec = TypeName | Schema
"""A built-in name, a name of the world's own `types`, or a schema."""
