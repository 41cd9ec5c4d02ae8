"""The paths of the state that an agent's expressions read, through its predictions.

They are found in the text alone, and may be too many: a list that is looked through counts whole, and a predicted field
counts as all that the steps read that change it. The remaining variables are the ones that a procedure declares unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from specledger.agents.agent import Agent
from specledger.expr import Checked, Emitter, EvaluationError, Type, compile_function
from specledger.expr.check.tree import Path
from specledger.lang.bind import bind, fields_of
from specledger.lang.declare import sealable
from specledger.lang.effects import PlannedEffect, emit_effects
from specledger.worlds.model import PlannedVariable, World
from specledger.worlds.namespace import split_name


def used_by(agent: Agent, world: World) -> frozenset[Path]:
    """The paths of the state that an agent's choice can depend on."""
    paths = {path for checked in agent.expressions for path in checked.reads}
    seen = {path for path in paths if path[0] in agent.memory.observation.fields}
    seen |= {path[1:] for path in paths if path[0] == "now"}
    predicted = {path[1:] for path in paths if path[0] == "next"}
    if predicted:
        ops = {candidate.op for candidate in agent.candidates}
        seen |= predicted | _through(world, ops, predicted)
    return frozenset(seen)


def _through(world: World, ops: set[str], predicted: set[Path]) -> set[Path]:
    """What the steps read that make the predicted paths, their guards included."""
    checked: list[Checked] = []
    for op in ops & world.actions.keys():
        action = world.actions[op]
        checked += [action.when, *(expression for _, expression in action.let)]
        checked += _sources((*action.effects, *action.otherwise), predicted)
    checked += _sources(world.every_step, predicted)
    return {path for expression in checked for path in expression.reads if path[0] in world.state.fields}


def _sources(effects: Iterable[PlannedEffect], predicted: set[Path]) -> list[Checked]:
    """The right sides and conditions of the effects that change what is predicted."""
    expressions: list[Checked] = []
    for effect in effects:
        if any(touch(effect.target, path) for path in predicted):
            expressions += _parts_of(effect)
    return expressions


class Irrelevant(Struct, frozen=True):
    """The part of an observation that cannot change what an agent proposes, nor whether an expression of it fails.

    Attributes:
        fields: The names of its fields.
        harmless: `observation -> whether the effects of every step on these fields succeed`; None if there are none.
    """

    fields: frozenset[str]
    harmless: Callable[[Any], bool] | None


def irrelevant_to(agent: Agent, world: World) -> Irrelevant | None:
    """What an agent's proposals do not depend on; None if they depend on the clock of the run.

    One of these fields is a counter of steps: nothing reads it but an effect of every step on this field, and whether
    that fails can be seen without the agent.
    """
    closed = [effect for effect in world.every_step if _is_closed(effect)] if agent.state is not None else []
    expressions, changed = [*agent.expressions], set[str]()
    if agent.state is not None:
        effects = [effect for action in world.actions.values() for effect in (*action.effects, *action.otherwise)]
        effects += [effect for effect in world.every_step if effect not in closed]
        changed = {effect.target[0] for effect in effects} | world.parts.keys()
        expressions += [checked for effect in effects for checked in _parts_of(effect)] + _beside_effects(world)
    if any(checked.clock for checked in expressions):
        return None
    read = _fields_read(expressions)
    fields = set() if "" in read else agent.memory.observation.fields.keys() - changed - read
    own = [effect for effect in closed if effect.target[0] in fields]
    return Irrelevant(frozenset(fields), _harmless(world, own) if own else None)


def relevant_to_claims(
    world: World, memory: Type, vary: Iterable[str], irrelevant: Irrelevant | None
) -> list[str] | None:
    """The fields of the state that claims about changes of some variables depend on, of an agent that explains them.

    `irrelevant` is what the agent does not depend on. None if these fields do not tell claims apart: they depend on the
    clock of the run, or a field or the agent's memory may hold what has no canonical form.
    """
    if irrelevant is None:
        return None
    named = [
        variable
        for variable in world.namespace.variables
        if any(_named(name, split_name(variable.name)) for name in vary)
    ]
    effects = [effect for variable in named for effect in _effects_of(variable)]
    expressions = [checked for effect in effects for checked in _parts_of(effect)]
    expressions += [condition.require for condition in world.well_formed]
    expressions += [variable.over for variable in world.namespace.variables if variable.over is not None]
    expressions += [checked for variable in named for checked in _expressions_of(variable)]
    expressions += [
        checked for name, checked in world.observe if name not in irrelevant.fields or checked.text.value != name
    ]
    if any(checked.clock for checked in expressions):
        return None
    read = _fields_read(expressions) | {effect.target[0] for effect in effects}
    fields = [name for name in world.state.fields if "" in read or name in read or name not in irrelevant.fields]
    return fields if all(map(sealable, (memory, *(world.state.fields[name] for name in fields)))) else None


def _fields_read(expressions: Iterable[Checked]) -> set[str]:
    """The first names of the paths that expressions read of a state or an observation; empty for all of it."""
    paths = (path[path[0] in ("now", "next") :] for checked in expressions for path in checked.reads)
    return {path[0] if path else "" for path in paths}


def _effects_of(variable: PlannedVariable) -> tuple[PlannedEffect, ...]:
    """The edits that give a variable a value."""
    return variable.effects if variable.attempts is None else variable.attempts.effects


def _expressions_of(variable: PlannedVariable) -> list[Checked]:
    """How a variable is read, what it may be instead, and how an edit is found."""
    attempts = () if variable.attempts is None else (variable.attempts.each, variable.attempts.require)
    parts = (variable.read, variable.normal, variable.require, variable.alternatives, *attempts)
    return [checked for checked in parts if checked is not None]


def _is_closed(effect: PlannedEffect) -> bool:
    """Whether an effect reads nothing but the field that it changes."""
    parts = _parts_of(effect)
    return all(path[0] == effect.target[0] for checked in parts for path in checked.reads) and not effect.clock


def _parts_of(effect: PlannedEffect) -> list[Checked]:
    """The expressions of an effect."""
    return [*effect.values, *([] if effect.when is None else [effect.when])]


def _beside_effects(world: World) -> list[Checked]:
    """The expressions of a step that are none of its effects'."""
    lets = [let for action in world.actions.values() for let in (action.let, action.outcome, action.simulate)]
    lets += [let for part in world.parts.values() for link in part.follow.values() for let in (link.let, link.args)]
    return [*(action.when for action in world.actions.values()), *(checked for let in lets for _, checked in let)]


def _harmless(world: World, effects: list[PlannedEffect]) -> Callable[[Any], bool]:
    """`observation -> whether the effects succeed`."""

    def compose(emitter: Emitter) -> str:
        state, after = emitter.local("state"), emitter.local("after")
        needed = frozenset[str]().union(*(effect.variables for effect in effects))
        lines, names = bind(emitter, needed, fields_of(emitter, state, world.state.fields))
        lines += [f"{after} = {{**{state}}}", *emit_effects(emitter, effects, names, after, copied=True)]
        return emitter.function("step", [state], [*lines, f"return {after}"])

    step = compile_function(compose)

    def harmless(seen: Any) -> bool:
        try:
            step(seen)
        except EvaluationError:
            return False
        return True

    return harmless


def touch(path: Path, other: Path) -> bool:
    """Whether one path is the other, or leads to it."""
    shared = min(len(path), len(other))
    return path[:shared] == other[:shared]


def unused_variables(
    world: World, used: frozenset[Path], names: Callable[[Any], list[str]]
) -> Callable[[Any], list[str]]:
    """`state -> the variables that read nothing of what is used`, in order of their names."""
    clear = []
    for planned in world.namespace.variables:
        reads = {path[1:] if path[0] == "now" else path for path in planned.read.reads}
        if not any(touch(path, other) for path in reads for other in used):
            clear.append(split_name(planned.name))

    def unused(state: Any) -> list[str]:
        return [name for name in names(state) if any(_named(name, entry) for entry in clear)]

    return unused


def _named(name: str, entry: tuple[str, str, str]) -> bool:
    """Whether a name is of an entry of the namespace, parameters and all."""
    before, parameter, after = entry
    if not parameter:
        return name == before
    return len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)
