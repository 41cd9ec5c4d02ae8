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
    Id,
    Identifier,
    Model,
    Name,
    Reference,
    RefTo,
    Spec,
    by_key,
)
from specledger.spec.picture import Picture, Unit
from specledger.spec.types import TypeSpec


class SetEffect(Model):
    """`{set: position, to: expr}`: replace a field.

    Attributes:
        set: The field that is replaced.
        to: Its new value.
        when: Where the effect happens; everywhere, if left out.
    """

    set: FieldPath
    to: Expression
    when: Expression | None = None


class AppendEffect(Model):
    """`{append: self.inventory, value: expr}`: add one element to the end of a list.

    Attributes:
        append: The list that gets one more element.
        value: The element that is added at the end.
        when: Where the effect happens; everywhere, if left out.
    """

    append: FieldPath
    value: Expression
    when: Expression | None = None


class RemoveEffect(Model):
    """`{remove: objects, as: o, where: expr}`: drop the elements for which the condition holds.

    Attributes:
        remove: The list that loses elements.
        as: The name of an element in `where`.
        where: Which elements are removed.
        when: Where the effect happens; everywhere, if left out.
    """

    remove: FieldPath
    element: Identifier = Field(alias="as")
    where: Expression
    when: Expression | None = None


class EachEffect(Model):
    """`{each: agents, as: a, where: expr, update: {x: expr}}`: change fields of the elements that satisfy `where`.

    Attributes:
        each: The list whose elements change.
        as: The name of an element in `where` and `update`.
        where: Which elements change; all, if left out.
        update: The fields that change, with their new values.
        when: Where the effect happens; everywhere, if left out.
    """

    each: FieldPath
    element: Identifier = Field(alias="as")
    where: Expression = "true"
    update: Mapping[Identifier, Expression]
    when: Expression | None = None


class PutEffect(Model):
    """`{put: visits, key: expr, value: expr}`: set one entry of a map.

    Attributes:
        put: The map of which one entry is set.
        key: The key of the entry.
        value: The value of the entry.
        when: Where the effect happens; everywhere, if left out.
    """

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
    """A pure function of its arguments; it may also read the state fields in whose scope it is called.

    Attributes:
        args: The names of its arguments, in order.
        is: What it gives; it reads its arguments, and the fields where it is called.
    """

    args: list[Identifier]
    body: Expression = Field(alias="is")


Elements = Annotated[list[int | float | str | bool], Field(min_length=1, max_length=4096)]
"""A list that is written as one: numbers, texts or truth values."""


class Draw(Model):
    """One value drawn from a list by a named stream of the run's seed.

    Attributes:
        from: The list of which one element is drawn, or an expression that gives it; decimals are fixed point.
        weights: How likely each element is, as integers in the same order; all alike, if left out.
        stream: The stream of random values, named as the value if left out; streams of different names are independent.
    """

    source: Expression | Elements = Field(alias="from")
    weights: Expression | Annotated[list[int], Field(min_length=1, max_length=4096)] | None = None
    stream: Name | None = None


class WorldDraw(Draw):
    """One value drawn for each episode.

    Attributes:
        once: With `episode` the value is a field of the state, read everywhere; without it, `start` alone reads it.
    """

    once: Literal["episode"] | None = None


Line = Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=r"^[^\n\r]*$")]
"""What something means, in one line."""


class Action(Model):
    """A guarded command: `effects` if `when` holds, else `otherwise`; then `chance`, which reads what is drawn.

    Its `result` comes from outside; where nothing from outside answers, `simulate` gives each field of it, and may read
    what is drawn. `doc` says in one line what it does, to agents from outside.

    Attributes:
        doc: What it does, in one line, for agents from outside.
        args: Its arguments with their types.
        result: What comes back from outside, field by field, with types.
        simulate: The value of each field of `result` where nothing from outside answers; it may read what is drawn.
        let: Values that are computed once; they read the state before the action and the arguments.
        when: Where the action has its effects; everywhere, if left out.
        effects: What it does to the state where `when` holds.
        otherwise: What it does to the state where `when` does not hold.
        draw: Values that are drawn for `chance` and `simulate`.
        chance: Effects that follow once values are drawn; no gate sees them.
        outcome: Figures of what happened, for the receipt and for memories.
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
    """What one character of a drawing puts into the state; `here` is its cell.

    Attributes:
        cell: The code of the cell in the matrix.
        effects: What the character does to the start state; `here` is its cell.
    """

    cell: Expression | None = None
    effects: list[Effect] = Field(default_factory=list)


class StepChance(Model):
    """What follows every action of a world, after `every_step` and the action's own `chance`.

    Attributes:
        draw: The values that are drawn.
        effects: What they do to the state; right sides read the drawn values.
    """

    draw: Annotated[Mapping[Identifier, Draw], Field(min_length=1)]
    effects: Annotated[list[Effect], Field(min_length=1)]


class Drawing(Model):
    """How the characters of a map become state: a matrix of codes, the map's size, and the effects of each glyph.

    Attributes:
        cells: The field that holds the matrix of codes.
        width: The field that holds the width of the map.
        height: The field that holds the height of the map.
        legend: Each character of a map, with what it puts into the state.
    """

    cells: Identifier | None = None
    width: FieldPath | None = None
    height: FieldPath | None = None
    legend: Mapping[Annotated[str, Field(min_length=1, max_length=1)], Glyph]


class Coupling(Model):
    """What a part does when its world performs an action; right sides read the world's state before it.

    Attributes:
        action: The action of the part.
        let: Values that are computed once.
        args: The arguments of the part's action.
    """

    action: Identifier
    let: Expressions = Field(default_factory=dict)
    args: Expressions = Field(default_factory=dict)


class Part(Model):
    """Another world whose state is one field of this one, and which acts whenever this one does.

    Attributes:
        world: The world whose state is a field of this one.
        start: Start values of its fields.
        follow: Which action the part performs, for actions of this world.
    """

    world: Annotated[Reference, RefTo("world")]
    start: Expressions = Field(default_factory=dict)
    follow: Mapping[Identifier, Coupling]


class Condition(Model):
    """Something a start state must satisfy for the world to make sense.

    Attributes:
        id: Its name in findings.
        require: What must hold of a start state.
        message: What a finding says in words.
    """

    id: Id
    require: Expression
    message: str | None = None


VariableName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.:]*(<[A-Za-z][A-Za-z0-9_]*>[A-Za-z0-9_.:]*)?$", max_length=80),
]
"""The name of a focus variable; `<id>` in it stands for a text, so that one entry names many variables."""


class Attempts(Model):
    """Edits of the primary state to try in order: one for every element of a list.

    Attributes:
        for: The list of which each element is tried.
        as: The name of an element.
        require: Which elements are tried; all, if left out.
        effects: The edit that is tried with an element.
    """

    each: Expression = Field(alias="for")
    element: Identifier = Field(alias="as")
    require: Expression = "true"
    effects: Annotated[list[Effect], Field(min_length=1)]


class Variable(Model):
    """A quantity that reasons may name: what it means, how it is read, and which edit gives it another value.

    Attributes:
        doc: What it means, in one line, for agents from outside.
        over: The texts that may replace the parameter of its name.
        read: Its value.
        normal: The normal form of a wanted value, as `read` would give it.
        require: Which values may be tried; all, if left out.
        effects: What brings the wanted `value` about.
        try: Edits of which the first that gives it the value is taken.
    """

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


class View(Model):
    """What one of several agents sees beside the world's `observe`, and the actions it may take; all, if left out.

    Attributes:
        observe: What this agent sees beside the world's `observe`.
        actions: The actions that it may take; all, if left out.
    """

    observe: Expressions = Field(default_factory=dict)
    actions: Annotated[list[Identifier], Field(min_length=1, max_length=64)] | None = None


class World(Spec):
    """A world/v1 document.

    Attributes:
        constants: Named values that expressions read.
        types: Named types, for `state`, `inputs` and `args`.
        state: The fields of the state with their types.
        inputs: What a governor must supply to every step, with types.
        functions: Pure functions that expressions call.
        derived: Values that follow from the fields.
        drawing: How the map of a scenario becomes state.
        draw: Values that are drawn for each episode.
        start: Start values of fields.
        well_formed: What a start state must satisfy.
        actions: What agents can do, by the name of the operation.
        every_step: Effects that are made after every action.
        chance: What is drawn after every action, and the effects of that; no gate sees them.
        parts: Worlds inside this one.
        opening: Figures of the start state of an episode, for its receipt.
        observe: What an agent sees, and all that it sees.
        agents: What each of several agents sees beside that, and may do.
        record: Figures for the receipt of a step.
        receipt: The receipt that this world keeps of its own step where it is a part.
        success: Whether the goal is reached; never, if left out.
        variables: What reasons may name.
        context: What goes with every look at the state.
        alternatives: Other values that a challenge may give to a variable.
        labels: What each action is called as a choice.
        picture: How an episode is drawn in reports.
        units: The integer that pages and traces show as 1, by the name of a field of the state, a figure, a variable or
            a function.
    """

    spec: Literal["world/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    types: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    state: Mapping[Identifier, TypeSpec]
    inputs: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    derived: Expressions = Field(default_factory=dict)
    drawing: Drawing | None = None
    draw: Mapping[Identifier, WorldDraw] = Field(default_factory=dict)
    start: Expressions = Field(default_factory=dict)
    well_formed: list[Condition] = Field(default_factory=list)
    actions: Annotated[Mapping[Identifier, Action], Field(min_length=1)]
    every_step: list[Effect] = Field(default_factory=list)
    chance: StepChance | None = None
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
    units: Annotated[Mapping[Identifier, Unit], Field(max_length=64)] = Field(default_factory=dict)
