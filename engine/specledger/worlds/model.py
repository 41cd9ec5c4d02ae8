"""A checked world: its types, its names, and its commands as checked expressions, ready to be written as Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.expr import Checked, Environment, RecordType, Type
from specledger.lang.draws import Draws
from specledger.lang.effects import PlannedEffect
from specledger.lang.scope import Fields, Let
from specledger.spec.world import Drawing


class PlannedAction(Struct, frozen=True):
    """A guarded command.

    Attributes:
        args: The types of its arguments.
        allowed: For arguments with an `enum`, the values.
        let, when, effects, otherwise, outcome, chance: As in the spec, checked.
        draws: What is drawn after the action, for `chance` and `simulate`.
        result: The type of what comes back from outside.
        simulate: Its fields where nothing from outside answers.
        doc: What it does, in one line; empty if the world does not say.
    """

    args: RecordType
    allowed: Mapping[str, tuple[Any, ...]]
    let: Let
    when: Checked
    effects: tuple[PlannedEffect, ...]
    otherwise: tuple[PlannedEffect, ...]
    outcome: Let
    draws: Draws
    chance: tuple[PlannedEffect, ...]
    result: RecordType = RecordType("result", {})
    simulate: Let = Let()
    doc: str = ""

    @property
    def draws_result(self) -> bool:
        """Whether its result is simulated by what is drawn, so that it is known after the action alone."""
        return any(draw.name in self.simulate.variables for draw in self.draws)


class PlannedCoupling(Struct, frozen=True):
    """What a part does when its world acts: its own action, with these arguments."""

    action: str
    let: Let
    args: Let


class PlannedPart(Struct, frozen=True):
    """A world inside a world, with its start state and its couplings by the outer action."""

    world: World
    start: Let
    follow: Mapping[str, PlannedCoupling]


class PlannedCondition(Struct, frozen=True):
    """A condition on a start state, with the words for a state that fails it."""

    id: str
    require: Checked
    message: str


class PlannedGlyph(Struct, frozen=True):
    """What one character of a drawing does: the code of its cell, and effects that may read `here`."""

    cell: Checked | None
    effects: tuple[PlannedEffect, ...]


class PlannedAttempts(Struct, frozen=True):
    """Edits to try in order: `element` goes over the list `each`; the first that does what is wanted is made."""

    each: Checked
    element: str
    require: Checked
    effects: tuple[PlannedEffect, ...]


class PlannedVariable(Struct, frozen=True):
    """One entry of `variables`, which names one variable, or one for each text in `over`.

    Attributes:
        name: As in the spec, such as `dist:<id>`.
        doc: What it means, in one line; empty if the world does not say.
        parameter: The name between the angle brackets, or an empty text.
        over: The texts that may replace the parameter.
        normal: The normal form of a wanted value, if not the value itself.
        require: Whether a wanted value may be tried at all.
        effects: The edit that gives it the value, if there is one.
        attempts: The edits to try instead; a variable with these is derived.
        alternatives: Other values to try.
    """

    name: str
    doc: str
    parameter: str
    over: Checked | None
    read: Checked
    normal: Checked | None
    require: Checked
    effects: tuple[PlannedEffect, ...]
    attempts: PlannedAttempts | None
    alternatives: Checked | None


class Namespace(Struct, frozen=True):
    """What reasons about a world may name: its variables, the context that goes with them, and labels of actions."""

    variables: tuple[PlannedVariable, ...]
    context: Let
    labels: Let


class Chance(Struct, frozen=True):
    """What follows once values are drawn: after an action, or after every one."""

    draws: Draws = ()
    effects: tuple[PlannedEffect, ...] = ()


class World(Struct, frozen=True):
    """A checked world.

    Attributes:
        environment: Everything that an expression over the state may read: its fields, `now`, functions, constants.
        state: The state's type, with the derived values as virtual fields.
        inputs: What each step must be supplied with.
        action: The type of an action as gates and agents see it: `op` and the arguments of all actions.
        outcome: The type of what a step reports of itself: the outcomes of all actions, and of the parts.
        actions, every_step, parts, opening, observe, record, receipt, success, start, well_formed: As in the spec,
            checked.
        draws: What is drawn for `start`.
        drawing: The matrix that a map fills, and its glyphs.
        namespace: The focus variables, their context and the labels of actions.
        views: By the name of an agent what it observes and the actions it may take; empty in a world for one agent.
        others: The type of the actions that the agents take at the same moment, by agent; None for one agent.
        clock: The names of the clock of the run that mean nothing else here, `t` and `episode`.
        chance: What follows every action once values are drawn.
        map: The codes of the cells of its picture, as an expression over the state.
        units: The integer that is shown as 1, by the name of a value.
        actor: The same of who acts, for expressions that are evaluated for one agent; empty in a world for one agent.
    """

    name: str
    environment: Environment
    state: RecordType
    inputs: RecordType
    action: RecordType
    outcome: RecordType
    actions: Mapping[str, PlannedAction]
    every_step: tuple[PlannedEffect, ...]
    parts: Mapping[str, PlannedPart]
    opening: Let
    observe: Let
    record: Let
    receipt: Let
    success: Checked | None
    draws: Draws
    start: Let
    well_formed: tuple[PlannedCondition, ...]
    drawing: Drawing | None
    glyphs: Mapping[str, PlannedGlyph]
    namespace: Namespace
    views: Mapping[str, tuple[Let, frozenset[str]]]
    others: RecordType | None
    clock: Mapping[str, Type] = {}
    actor: Mapping[str, Type] = {}
    units: Mapping[str, int] = {}
    chance: Chance = Chance()
    map: Checked | None = None

    @property
    def drawing_in_a_step(self) -> str:
        """What draws values in a step, in words; empty if nothing does."""
        drawing = [op for op, action in self.actions.items() if action.draws]
        return f"the action {drawing[0]!r}" if drawing else "the `chance` of every step" if self.chance.draws else ""

    def seen_by(self, agent: str) -> World:
        """The world as one of its agents meets it: its own observation, and the actions that it may take."""
        own, actions = self.views[agent]
        taken = {name: action for name, action in self.actions.items() if name in actions}
        return replace(self, observe=Fields((*self.observe.items, *own.items)), actions=taken)
