"""The paths of the state that an agent's expressions read, through its predictions.

They are found in the text alone, and may be too many: a list that is looked through counts whole, and a predicted field
counts as all that the steps read that change it. The remaining variables are the ones that a procedure declares unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from specledger.agents.agent import Agent
from specledger.expr import Checked
from specledger.expr.check.tree import Path
from specledger.lang.effects import PlannedEffect
from specledger.worlds.model import World
from specledger.worlds.namespace import split_name


def used_by(agent: Agent, world: World) -> frozenset[Path]:
    """The paths of the state that an agent's choice can depend on."""
    lets = (agent.let, agent.each, agent.claims, *(candidate.for_each for candidate in agent.candidates))
    expressions = [agent.score, *(checked for let in lets for _, checked in let)]
    expressions += [candidate.when for candidate in agent.candidates]
    paths = {path for checked in expressions for path in checked.reads}
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
            expressions += [*effect.values, *([] if effect.when is None else [effect.when])]
    return expressions


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
