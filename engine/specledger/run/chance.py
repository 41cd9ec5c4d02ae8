"""What is drawn in a run: by a drift, and after an action."""

from __future__ import annotations

from typing import Any

from specledger.compile.plan import Plan, PlannedDrift, State
from specledger.core.rng import Stream
from specledger.lang.draws import draw_from
from specledger.run.decision import Decision


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


def follow(plan: Plan, decision: Decision) -> None:
    """Lead a decision from the state that its action made to the one after chance; nothing follows an empty list.

    What the action draws follows first, then what every step draws. A result that is drawn is one of the inputs from
    then on, and the effects that read it follow.
    """
    actor, action, inputs = decision.by.actor, decision.action, decision.inputs
    moment, op, after, drawn = decision.moment, action["op"], decision.settled, dict[str, Any]()
    for planned, of in ((plan.chance.get(op), ("action", op)), (plan.step_chance, ("step", ""))):
        lists = None if planned is None else planned.sources(after, action, inputs)
        if planned is None or lists is None or not all(lists):
            continue
        values = []
        for (stream, name), items in zip(planned.draws, lists, strict=True):
            names = (stream, of[1], moment.episode, moment.t, name, *([actor.name] if actor.name else []))
            values.append(draw_from(Stream.named(plan.seed, of[0], *names), items))
        if planned.result is not None:
            result = planned.result(decision.before, action, inputs, values)
            decision.inputs = {**inputs, "result": result}
            after, _ = actor.step(decision.before, op, action, decision.inputs)
        after = planned.apply(after, action, inputs, values)
        drawn |= {name: value for (_, name), value in zip(planned.draws, values, strict=True)}
    decision.after = after
    if drawn:
        decision.chance = {"chance": {"drawn": drawn, "changed": changed(decision.settled, after)}}
