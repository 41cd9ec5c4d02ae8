"""The states of a run, recomputed from its receipts, and the maps that a world draws of them.

Receipts hold the start, what drifts changed, and each action's inputs; no agent and no governor is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from specledger.core.binding import state_digest
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.places import Change
from specledger.evidence.receipts.run import Commit, Drift, Episode, Step
from specledger.expr import EvaluationError
from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.verify.recorded import compile_recorded
from specledger.worlds.check import check_world
from specledger.worlds.emit import compile_value

E_TRACE_STATE = code("E_TRACE_STATE", "a state cannot be recomputed from the receipts")

MOST_CELLS: Final = 400_000
"""Cells of maps that are computed for one chain of a page."""

Body = Mapping[str, Any]
Rows = Sequence[Sequence[int]]
Map = Sequence[Sequence[int]] | Sequence[int]
"""A whole map, row by row, or what differs from the map before: the number of a cell and its code, for each cell."""


def states(evidence: Evidence) -> Iterator[tuple[int, int, int, Body]]:
    """The episode, the step, the number of the receipt and the state after each step of a run."""
    for episode, t, seq, state in states_from_start(evidence.specs, evidence.bodies()):
        if t is not None:
            yield episode, t, seq, state


def states_from_start(
    specs: Bundle, bodies: Iterable[tuple[str, Body]]
) -> Iterator[tuple[int, int | None, int, dict[str, Any]]]:
    """The episode, the step, the number of the receipt and the state: at each start (no step), and after each step."""
    steps = {actor.name: actor.step for actor in compile_recorded(specs).actors}
    state: dict[str, Any] = {}
    proposals: dict[str, list[Any]] = {}
    for seq, (type_, body) in enumerate(bodies):
        if type_ == "episode":
            start = typed(Episode, body)
            state = dict(start["state"])
            yield start["episode"], None, seq, state
        elif type_ == "drift":
            state = _changed(state, typed(Drift, body)["changed"])
        elif type_ == "commit":
            commit = typed(Commit, body)
            proposals[commit.get("agent", "")] = commit["proposals"]
        elif type_ == "step":
            step = typed(Step, body)
            if step["chosen"] is not None:
                agent = step.get("agent", "")
                action = proposals[agent][step["chosen"]]["action"]
                state, _ = steps[agent](state, action["op"], action, step["inputs"])
                if "chance" in step:
                    state = _changed(state, step["chance"].get("changed", {}))
            if state_digest(state) != step["after"]:
                message = f"the state after step {step['t']} of episode {step['episode']} is not the recorded one"
                raise Rejected([Diagnostic(E_TRACE_STATE, message)])
            yield step["episode"], step["t"], seq, state


def _changed(state: Mapping[str, Any], changes: Mapping[str, Change]) -> dict[str, Any]:
    return {**state, **{name: change["to"] for name, change in changes.items()}}


def episode_maps(specs: Bundle, bodies: Iterable[tuple[str, Body]]) -> dict[str, list[Map]]:
    """The maps of each episode, of its start and after each step, by the number of the episode.

    There are none of an episode with which there would be too many cells, and none after a state that cannot be
    recomputed: a page is whole without them.
    """
    world = check_world(specs.specs[specs.main.refs["world",]], specs, Diagnostics())
    if world is None or world.map is None:
        return {}
    draw, maps, cells = compile_value(world, world.map), dict[str, list[Map]](), 0
    before: Rows = ()
    try:
        for episode, t, _, state in states_from_start(specs, bodies):
            rows = draw(state)
            cells += sum(map(len, rows))
            if cells > MOST_CELLS:
                maps.pop(str(episode), None)
                break
            maps.setdefault(str(episode), []).append(rows if t is None else _difference(before, rows))
            before = rows
    except (EvaluationError, Rejected):
        return maps
    return maps


def _difference(before: Rows, after: Rows) -> Map:
    """What differs from the map before; the whole map where its size differs."""
    if [len(row) for row in before] != [len(row) for row in after]:
        return after
    cells = zip(chain(*before), chain(*after), strict=True)
    return [number for at, (old, new) in enumerate(cells) if old != new for number in (at, new)]
