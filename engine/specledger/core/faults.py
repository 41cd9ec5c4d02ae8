"""How many faults of an agent from outside a run bears, as its scenario says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

FAULT: Final = "fault"
"""The field of a step without a choice that says for which agent fault none was made, where the scenario bears it."""


class FaultLimit(NamedTuple):
    """A limit on agent faults.

    Attributes:
        most: In the run.
        in_episode: In one episode.
        fails: Whether more of them make the run FAIL; INCONCLUSIVE otherwise.
        bears: Whether the scenario states a limit: a decision that a fault prevented then breaks no rule.
    """

    most: int
    in_episode: int
    fails: bool
    bears: bool

    @classmethod
    def of(cls, said: Any) -> FaultLimit:
        """The limit of `agent_faults`: a word, or a mapping `{most, most_in_episode, then}`."""
        if not isinstance(said, Mapping):
            return cls(0, 0, said == "fail", bears=False)
        most = said["most"]
        in_episode = said.get("most_in_episode")
        return cls(most, most if in_episode is None else in_episode, said.get("then") == "fail", bears=True)

    def holds(self, in_run: int, in_episode: int) -> bool:
        """Whether so many faults are within it."""
        return in_run <= self.most and in_episode <= self.in_episode
