"""Recomputes the states of a run from its receipts: they hold the start, what drifts changed, and each action's inputs.

No agent and no governor is asked. Each state is compared with the digest in its receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specledger.compile.scenario import compile_scenario
from specledger.core.binding import state_digest
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.report.codes import E_TRACE_STATE
from specledger.report.evidence import Evidence

State = Mapping[str, Any]


def states(evidence: Evidence) -> Iterator[tuple[int, int, int, State]]:
    """The episode, the step, the number of the receipt and the state after each step of a run.

    Raises:
        Rejected: E_TRACE_STATE, if a state is not the one whose digest was recorded.
    """
    steps = {actor.name: actor.step for actor in compile_scenario(evidence.specs).actors}
    state: dict[str, Any] = {}
    proposals: dict[str, list[Any]] = {}
    for seq, (type_, body) in enumerate(evidence.bodies()):
        if type_ == "episode":
            state = dict(body["state"])
        elif type_ == "drift":
            state = {**state, **{name: change["to"] for name, change in body["changed"].items()}}
        elif type_ == "commit":
            proposals[body.get("agent", "")] = body["proposals"]
        elif type_ == "step":
            if body["chosen"] is not None:
                agent = body.get("agent", "")
                action = proposals[agent][body["chosen"]]["action"]
                state, _ = steps[agent](state, action["op"], action, body["inputs"])
                changed = body.get("chance", {}).get("changed", {})
                state = {**state, **{name: change["to"] for name, change in changed.items()}}
            if state_digest(state) != body["after"]:
                message = f"the state after step {body['t']} of episode {body['episode']} is not the recorded one"
                raise Rejected([Diagnostic(E_TRACE_STATE, message)])
            yield body["episode"], body["t"], seq, state
