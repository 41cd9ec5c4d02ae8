"""What is drawn in a run: by a drift, and after an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.compile.plan import Plan, PlannedDrift, State
from specledger.core.rng import Stream
from specledger.lang.draws import draw_from


def drifted(
    plan: Plan, index: int, drift: PlannedDrift, position: tuple[int, int], before: State
) -> tuple[State, dict[str, Any]] | None:
    """The state after a drift and what was drawn for it; None where its `when` is false or a list is empty.

    The position is the episode and the step.
    """
    sources = drift.sources(before)
    if sources is None or not all(sources):
        return None
    drawn = [
        draw_from(Stream.named(plan.seed, "drift", stream, index, *position, name), source)
        for stream, name, source in zip(drift.streams, drift.draws, sources, strict=True)
    ]
    return drift.apply(before, drawn), dict(zip(drift.draws, drawn, strict=True))


def changed(before: State, after: State) -> dict[str, Any]:
    """The fields of the state that are others than before."""
    return {name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]}


def follow(
    plan: Plan, position: tuple[int, int, str], action: Mapping[str, Any], inputs: Mapping[str, Any], settled: State
) -> tuple[State, dict[str, Any]]:
    """The state after chance, and its part of the receipt; nothing follows if a list to draw from is empty.

    `settled` is the state after the action alone: what the action draws follows first, then what every step draws. The
    position is the episode, the step and the agent, whose name is empty if there is only one.
    """
    episode, t, agent = position
    after, drawn = settled, dict[str, Any]()
    for planned, of in ((plan.chance.get(action["op"]), ("action", action["op"])), (plan.step_chance, ("step", ""))):
        lists = None if planned is None else planned.sources(after, action, inputs)
        if planned is None or lists is None or not all(lists):
            continue
        values = []
        for (stream, name), items in zip(planned.draws, lists, strict=True):
            names = (stream, of[1], episode, t, name, *([agent] if agent else []))
            values.append(draw_from(Stream.named(plan.seed, of[0], *names), items))
        after = planned.apply(after, action, inputs, values)
        drawn |= {name: value for (_, name), value in zip(planned.draws, values, strict=True)}
    return after, {"chance": {"drawn": drawn, "changed": changed(settled, after)}} if drawn else {}
