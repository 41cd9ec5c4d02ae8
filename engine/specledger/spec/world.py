"""The `world` kind: state, pure functions, guarded commands, what happens every step, what may be observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, Tag, model_validator

from specledger.spec.base import (
    Constant,
    Expression,
    Expressions,
    FieldPath,
    Identifier,
    Model,
    Name,
    Reason,
    Reference,
    RefTo,
    Spec,
    by_key,
)
from specledger.spec.types import TypeSpec


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


class Draw(Model):
    """One value drawn uniformly from a list by a named stream of the run's seed."""

    source: Expression = Field(alias="from")
    stream: Name


Line = Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=r"^[^\n\r]*$")]
"""What something means, in one line."""


class Action(Model):
    """A guarded command: `effects` if `when` holds, else `otherwise`; then `chance`, which reads what is drawn.

    Its `result` comes from outside; where nothing from outside answers, `simulate` gives each field of it. `doc` says
    in one line what it does, to agents from outside.
    """

    doc: Line | None = None
    args: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    result: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    simulate: Expressions = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    when: Expression = "true"
    effects: list[Effect] = Field(default_factory=list)
    otherwise: list[Effect] = Field(default_factory=list)
    draw: Mapping[Identifier, Draw] = Field(default_factory=dict)
    chance: list[Effect] = Field(default_factory=list)
    outcome: Expressions = Field(default_factory=dict)


class Glyph(Model):
    """What one character of a drawing puts into the state; `here` is its cell."""

    cell: Expression | None = None
    effects: list[Effect] = Field(default_factory=list)


class Drawing(Model):
    """How the characters of a map become state: a matrix of codes, the map's size, and the effects of each glyph."""

    cells: Identifier | None = None
    width: FieldPath | None = None
    height: FieldPath | None = None
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


VariableName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.:]*(<[A-Za-z][A-Za-z0-9_]*>[A-Za-z0-9_.:]*)?$", max_length=80),
]
"""The name of a focus variable; `<id>` in it stands for a text, so that one entry names many variables."""


class Attempts(Model):
    """Edits of the primary state to try in order: one for every element of a list."""

    each: Expression = Field(alias="for")
    element: Identifier = Field(alias="as")
    require: Expression = "true"
    effects: Annotated[list[Effect], Field(min_length=1)]


class Variable(Model):
    """A quantity that reasons may name: what it means, how it is read, and which edit gives it another value."""

    doc: Line | None = None
    over: Expression | None = None
    read: Expression
    normal: Expression | None = None
    require: Expression = "true"
    effects: Annotated[list[Effect], Field(min_length=1)] | None = None
    attempts: Attempts | None = Field(default=None, alias="try")

    @model_validator(mode="after")
    def _one_way(self) -> Variable:
        if self.effects is not None and self.attempts is not None:
            raise ValueError("a variable has `effects` or `try`, not both")
        return self


Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-f]{6}$")]
"""Red, green and blue, each as two lower-case hexadecimal digits."""


class Shades(Model):
    """A colour on a light ground and the one that stands for it on a dark ground."""

    light: Colour
    dark: Colour


class Token(Model):
    """Something with a place: a field of the state that holds it, and the label of the record that says it anew."""

    start: FieldPath
    each: Identifier | None = None
    colour: Colour | Shades
    shape: Literal["disc", "diamond", "square"] = "disc"


class Chart(Model):
    """A label of the record over the steps; so many of its `unit` are shown as 1."""

    of: Identifier
    unit: Annotated[int, Field(ge=1)] = 1


class Picture(Model):
    """How an episode is drawn: its map by the codes of a field, what moves on it, and figures over the steps."""

    cells: Identifier
    colours: Annotated[Mapping[Identifier, Colour | Shades], Field(min_length=1, max_length=64)]
    tokens: Annotated[Mapping[Identifier, Token], Field(max_length=16)] = Field(default_factory=dict)
    charts: Annotated[Mapping[Identifier, Identifier | Chart], Field(max_length=8)] = Field(default_factory=dict)


class View(Model):
    """What one of several agents sees beside the world's `observe`, and the actions it may take; all, if left out."""

    observe: Expressions = Field(default_factory=dict)
    actions: Annotated[list[Identifier], Field(min_length=1, max_length=64)] | None = None


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
    draw: Mapping[Identifier, Draw] = Field(default_factory=dict)
    start: Expressions = Field(default_factory=dict)
    well_formed: list[Condition] = Field(default_factory=list)
    actions: Annotated[Mapping[Identifier, Action], Field(min_length=1)]
    every_step: list[Effect] = Field(default_factory=list)
    parts: Mapping[Identifier, Part] = Field(default_factory=dict)
    opening: Expressions = Field(default_factory=dict)
    observe: Expressions = Field(default_factory=dict)
    agents: Annotated[Mapping[Identifier, View], Field(min_length=2, max_length=16)] | None = None
    record: Expressions = Field(default_factory=dict)
    receipt: Expressions = Field(default_factory=dict)
    success: Expression | None = None
    variables: Mapping[VariableName, Variable] = Field(default_factory=dict)
    context: Expressions = Field(default_factory=dict)
    alternatives: Mapping[VariableName, Expression] = Field(default_factory=dict)
    labels: Expressions = Field(default_factory=dict)
    picture: Picture | None = None
