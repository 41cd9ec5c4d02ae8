"""A mind: how one agent chooses, as a function that can be asked again about any state.

Decides nothing of its own: the choice is the first proposal with the greatest score. Refuses to know who asks, and
whether what it is shown is so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Occasion(NamedTuple):
    """When a mind is asked: the episode, the step, and how often it was asked there before."""

    episode: int
    t: int
    asked: int = 0


class Choice(NamedTuple):
    """What a mind chooses: the action, its score, and its label; None where it proposes nothing."""

    action: dict[str, Any]
    score: int
    label: str


@dataclass(frozen=True, slots=True)
class Mind:
    """One agent's way to choose.

    Attributes:
        name: The agent.
        spec: The key of its spec, which binds all of its text.
        procedure: The text of its score, as it declares it.
        propose: `(observation, memory, occasion) -> proposals`, each `{action, score, ...}`.
        label: The world's label of an action.
        reads: The paths of the observation that its expressions read, through its predictions too.
    """

    name: str
    spec: str
    procedure: str
    propose: Callable[[Any, Any, Occasion], list[dict[str, Any]]]
    label: Callable[[Mapping[str, Any]], str]
    reads: frozenset[tuple[str, ...]] = frozenset()

    def choose(self, seen: Any, memory: Any, occasion: Occasion) -> Choice | None:
        """The first proposal with the greatest score, or None if there is no proposal.

        Raises:
            EvaluationError: An expression of the agent has no value here.
        """
        return first(self.propose(seen, memory, occasion), self.label)


def first(proposals: list[dict[str, Any]], label: Callable[[Mapping[str, Any]], str]) -> Choice | None:
    """The first proposal with the greatest score."""
    if not proposals:
        return None
    best = max(proposals, key=lambda proposal: proposal["score"])
    return Choice(best["action"], best["score"], label(best["action"]))
