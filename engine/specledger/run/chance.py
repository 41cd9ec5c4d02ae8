"""What is drawn after an action, by streams of the seed, and what follows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.compile.plan import Plan, State
from specledger.core.rng import Stream


def changed(before: State, after: State) -> dict[str, Any]:
    """The fields of the state that are others than before."""
    return {name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]}


def follow(
    plan: Plan, place: tuple[int, int, str], action: Mapping[str, Any], inputs: Mapping[str, Any], made: State
) -> tuple[State, dict[str, Any]]:
    """The state after chance, and its part of the receipt; nothing follows if a list to draw from is empty.

    Args:
        plan: The plan.
        place: The episode, the step and the agent, who has no name where it is the only one.
        action: What was done.
        inputs: What its step was supplied with.
        made: The state that the action alone made.
    """
    planned = plan.chance.get(action["op"])
    lists = None if planned is None else planned.sources(made, action, inputs)
    if planned is None or lists is None or not all(lists):
        return made, {}
    episode, t, agent = place
    drawn = {}
    for (stream, name), items in zip(planned.draws, lists, strict=True):
        names = (stream, action["op"], episode, t, name, *([agent] if agent else []))
        drawn[name] = Stream.named(plan.seed, "action", *names).choice(items)
    after = planned.apply(made, action, inputs, list(drawn.values()))
    return after, {"chance": {"drawn": drawn, "changed": changed(made, after)}}
