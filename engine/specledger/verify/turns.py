"""Whose commitment or decision comes next in a run, where agents take turns or decide at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specledger.verify.checks import E_COMMITMENT, E_STATE, Broken

Body = Mapping[str, Any]


class Turns:
    """Follows commitments and decisions through the turns of each step.

    Attributes:
        t: The step that the next receipt belongs to.
    """

    def __init__(self, agents: Sequence[str] = ("",), *, simultaneous: bool = False, commits: bool = True) -> None:
        """Begin an episode; one agent has no name."""
        self._turns = [tuple(agents)] if simultaneous else [(name,) for name in agents]
        self._commits = commits
        self._turn = 0
        self._committed: list[Body] = []
        self._decided = 0
        self.t = 0

    @property
    def between(self) -> bool:
        """Whether every commitment was followed by its decision."""
        return not self._committed and not self._decided

    @property
    def steps(self) -> int:
        """The steps of which there is a decision."""
        return self.t + (self._turn > 0 or self._decided > 0)

    @property
    def begins(self) -> bool:
        """Whether no agent has acted in this step."""
        return self.between and self._turn == 0

    def knows(self, agent: str) -> bool:
        """Whether it is the turn of an agent, perhaps with others."""
        return agent in self._turns[self._turn]

    def commit(self, body: Body) -> None:
        """Take a commitment.

        Raises:
            Broken: E_STATE, if it is not the next one of this turn.
        """
        due = self._turns[self._turn]
        if self._decided or len(self._committed) == len(due):
            raise Broken(E_STATE, "a commitment is not followed by its decision")
        self._demand(due[len(self._committed)], body)
        self._committed.append(body)

    def decide(self, body: Body) -> tuple[Body | None, bool]:
        """Take a decision: its commitment, if the run commits, and whether it ends the turn.

        Raises:
            Broken: E_COMMITMENT, if not every agent of the turn has committed; E_STATE, if another agent is to decide.
        """
        due, t = self._turns[self._turn], body["t"]
        if self._commits and len(self._committed) < len(due):
            none = "no commitment precedes the decision" if not self._committed else "not every agent committed before"
            raise Broken(E_COMMITMENT, f"{none} at t = {t}")
        self._demand(due[self._decided], body)
        commit = self._committed[self._decided] if self._commits else None
        self._decided += 1
        last = self._decided == len(due)
        if last:
            self._committed, self._decided, self._turn = [], 0, self._turn + 1
            if self._turn == len(self._turns):
                self._turn, self.t = 0, self.t + 1
        return commit, last

    def _demand(self, due: str, body: Body) -> None:
        if body.get("agent", "") != due:
            raise Broken(E_STATE, f"the receipt at t = {body['t']} is not of the agent {due!r}, whose turn it is")
