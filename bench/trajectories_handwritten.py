"""The receipts of a recording run as somebody would make them by hand, without the engine: the same bytes.

It is what evidence of this form takes at least. What the rules say is given, and no log is read: both are measured apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.ledger import (
    Chain,
    dumps,
    hash_observation,
    hash_proposal,
    hash_scope,
    hash_state,
    hash_token,
    merkle_root,
)
from specledger.core.events import Event
from specledger.wings.trajectories.model import Call, Trajectory

Json = dict[str, Any]


class Recording:
    """A recording run of trajectories in the world `any-call`, under a governor without gates.

    Attributes:
        start: What its first receipt holds.
        rules: What the rules say at each step of an episode, by both numbers.
    """

    def __init__(self, events: Sequence[Event], trajectories: Sequence[Trajectory]) -> None:
        """Take what the rules said from the events of a run; each trajectory is an episode."""
        self.start: Json = dict(events[0].body)
        ruled = [dict(event.body) for event in events if event.type == "rules"]
        self.rules = {(body["episode"], body["t"]): body for body in ruled}
        self._trajectories = trajectories

    def receipts(self) -> Iterator[bytes]:
        """The line of every receipt."""
        chain, total, gates = Chain(self.start["specs"]), 0, {"schema": 0}
        yield chain.seal("start", self.start)
        for number, trajectory in enumerate(self._trajectories):
            state = hash_state(dumps({"calls": 0}))
            head = {"file": trajectory.file, "format": trajectory.format, "id": trajectory.id}
            opened = {"digest": state, "opening": {}, "parts": {}, "state": {"calls": 0}, "world": state}
            yield chain.seal("episode", {"episode": number, "trajectory": head, **opened})
            t = 0
            for entry in trajectory.entries:
                if type(entry) is Call:
                    commit, step = _step(number, t, entry.tool, state)
                    yield chain.seal("commit", commit)
                    if (rules := self.rules.get((number, t))) is not None:
                        yield chain.seal("rules", rules)
                    yield chain.seal("step", step)
                    state, t = step["after"], t + 1
            ended = {"ended": "horizon", "first_success": None, "gates": gates, "idle": {}, "success": False}
            yield chain.seal("episode_end", {"episode": number, "state": state, "steps": t, "violations": [], **ended})
            total += t
        yield chain.seal("end", {"episodes": len(self._trajectories), "gates": gates, "steps": total})
        chain.receipts()


def _step(episode: int, t: int, tool: str, before: str) -> tuple[Json, Json]:
    """What the commitment to a call holds, and what its step does."""
    proposal = {"action": {"op": "call", "tool": tool}, "score": 0}
    leaf = dumps({"index": 0, "proposal": proposal})
    root, chosen = merkle_root([leaf]), hash_proposal(leaf)
    observation = hash_observation(dumps({"calls": t}))
    scope = hash_scope(dumps({"episode": episode, "op": "call", "t": t}))
    token = {"commitment": root, "proposal": chosen, "scope": scope}
    at = {"episode": episode, "t": t}
    step = {
        **at,
        "after": hash_state(dumps({"calls": t + 1})),
        "before": before,
        "chosen": 0,
        "chosen_hash": chosen,
        "cost": {"total": 0},
        "decisions": [{"error": None, "rejected": []}],
        "inputs": {},
        "parts": {},
        "potentials": {},
        "rebases": [],
        "record": {},
        "success": False,
        "token": {**token, "id": hash_token(dumps(token))},
        "violations": [],
    }
    return {**at, "observation": observation, "proposals": [proposal], "root": root}, step
