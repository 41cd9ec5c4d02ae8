"""The `world` kind: state, pure functions, guarded commands, what happens every step, what may be observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, Tag

from engine.spec.base import (
    Constant,
    Expression,
    Expressions,
    FieldPath,
    Identifier,
    Model,
    Reason,
    Reference,
    RefTo,
    Spec,
    by_key,
)
from engine.spec.types import TypeSpec


class SetEffect(Model):
    """`{set: position, to: expr}`: replace a field."""

    set: FieldPath
    to: Expression
    when: Expression | None = None


class AppendEffect(Model):
    """`{append: self.inventory, value: expr}`: add one element to the end of a list."""

    append: FieldPath
    value: Expression
    when: Expression | None = None


class RemoveEffect(Model):
    """`{remove: objects, as: o, where: expr}`: drop the elements for which the condition holds."""

    remove: FieldPath
    element: Identifier = Field(alias="as")
    where: Expression
    when: Expression | None = None


class EachEffect(Model):
    """`{each: agents, as: a, where: expr, update: {x: expr}}`: change fields of the elements that satisfy `where`."""

    each: FieldPath
    element: Identifier = Field(alias="as")
    where: Expression = "true"
    update: Mapping[Identifier, Expression]
    when: Expression | None = None


class PutEffect(Model):
    """`{put: visits, key: expr, value: expr}`: set one entry of a map."""

    put: FieldPath
    key: Expression
    value: Expression
    when: Expression | None = None


Effect = Annotated[
    Annotated[SetEffect, Tag("set")]
    | Annotated[AppendEffect, Tag("append")]
    | Annotated[RemoveEffect, Tag("remove")]
    | Annotated[EachEffect, Tag("each")]
    | Annotated[PutEffect, Tag("put")],
    by_key("set", "append", "remove", "put", "each"),
]
"""Effects of one list are simultaneous: every right side reads the state before them."""


class Function(Model):
    """A pure function of its arguments; it may also read the state fields in whose scope it is called."""

    args: list[Identifier]
    body: Expression = Field(alias="is")


class Action(Model):
    """A guarded command: if `when` holds, `effects`; if not, `otherwise`."""

    args: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    when: Expression = "true"
    effects: list[Effect] = Field(default_factory=list)
    otherwise: list[Effect] = Field(default_factory=list)
    outcome: Expressions = Field(default_factory=dict)


class Glyph(Model):
    """What one character of a drawing puts into the state; `here` is its cell."""

    cell: Expression
    effects: list[Effect] = Field(default_factory=list)


class Drawing(Model):
    """How the characters of a map become state: a matrix of codes and the effects of each glyph."""

    cells: Identifier
    legend: Mapping[Annotated[str, Field(min_length=1, max_length=1)], Glyph]


class Coupling(Model):
    """What a part does when its world performs an action; right sides read the world's state before it."""

    action: Identifier
    let: Expressions = Field(default_factory=dict)
    args: Expressions = Field(default_factory=dict)


class Part(Model):
    """Another world whose state is one field of this one, and which acts whenever this one does."""

    world: Annotated[Reference, RefTo("world")]
    start: Expressions = Field(default_factory=dict)
    follow: Mapping[Identifier, Coupling]


class Condition(Model):
    """Something a start state must satisfy for the world to make sense."""

    id: Reason
    require: Expression
    message: str | None = None


class World(Spec):
    """A world/v1 document."""

    spec: Literal["world/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    types: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    state: Mapping[Identifier, TypeSpec]
    inputs: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    derived: Expressions = Field(default_factory=dict)
    drawing: Drawing | None = None
    start: Expressions = Field(default_factory=dict)
    well_formed: list[Condition] = Field(default_factory=list)
    actions: Annotated[Mapping[Identifier, Action], Field(min_length=1)]
    every_step: list[Effect] = Field(default_factory=list)
    parts: Mapping[Identifier, Part] = Field(default_factory=dict)
    observe: Expressions = Field(default_factory=dict)
    record: Expressions = Field(default_factory=dict)
    receipt: Expressions = Field(default_factory=dict)
    success: Expression | None = None
