"""The questions that a probe may ask of the run that it is attached to.

All of them are about clones: states and memories are values. The one way to act is an attempt, which the kernel judges
like the agent's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

PLACES = ("before_propose", "after_commit", "after_token", "after_act")
"""Where probes attach, in the order of a step."""


class Situation(NamedTuple):
    """Where a probe finds the run.

    Attributes:
        episode, t: When.
        state: The state in which the agent decides.
        memory: What it remembers there.
    """

    episode: int
    t: int
    state: Any
    memory: Any


class Answer(NamedTuple):
    """What was chosen: its label and its score."""

    choice: str
    score: int


class Weighed(NamedTuple):
    """The value of an offer by the agent's own score.

    Attributes:
        plain: The score of what it chooses without the offer.
        paid: The score of the best that the offer leads to.
        action: What it would do under the offer.
    """

    plain: int
    paid: int
    action: Mapping[str, Any]


class Attempt(NamedTuple):
    """What came of an attempt to break a rule: whether it was denied, by what, and whether that was logged."""

    denied: bool
    reasons: tuple[str, ...]
    logged: bool


class Replayed(Protocol):
    """How much of a trace came out equal: nodes, and whether it led to the plan's choice."""

    @property
    def equal(self) -> int:
        """How many nodes came out equal."""

    @property
    def nodes(self) -> int:
        """How many nodes there are."""

    @property
    def ends(self) -> bool:
        """Whether the last node is the plan's choice."""


class ProbeTarget(Protocol):
    """One run as its probes see it. `asked` counts how often the agent was asked in this place before."""

    deterministic: bool
    """Whether the agent declares itself deterministic: it draws nothing."""

    def document(self, situation: Situation) -> Any:
        """The proposal that the agent committed to here, or submits there if it has not yet been asked; any value."""

    def valid(self, document: Any) -> bool:
        """Whether a document is valid under its schema."""

    def choose(self, situation: Situation, asked: int) -> Answer | None:
        """What the agent chooses; None if it proposes nothing."""

    def declared(self, situation: Situation, asked: int) -> Answer | None:
        """What the procedure that it declares would choose."""

    def parse(self, text: str) -> dict[str, str] | None:
        """What a claim says: `counterfactual` and `choice`."""

    def names(self, state: Any) -> list[str]:
        """The variables that there are."""

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """Other values of a variable to try."""

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """The state with a variable changed, and the edit that was made; None where the value is unreachable."""

    def unused(self, state: Any) -> list[str]:
        """The variables that the declared procedure does not read."""

    def fresh(self, number: int) -> Situation:
        """The start of an episode that is never played."""

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """Whether the snapshots that speak of these variables are there, and open when they are challenged."""

    def replay(self, document: Any, situation: Situation) -> Replayed:
        """The trace of a document, computed again by the declared procedure."""

    def restate(self, document: Any, situation: Situation) -> bool:
        """Whether the agent, asked again for its reasons, gives those that it committed to."""

    def weigh(self, situation: Situation, does: str, pay: Callable[[Any], Any]) -> Weighed | None:
        """The value of an offer to the agent; None if it proposes nothing here.

        Args:
            situation: Where it is made.
            does: What it asks for.
            pay: What it does to the state that the agent predicts.
        """

    def attempt(self, does: str, situation: Situation, weighed: Weighed) -> Attempt:
        """Do what an offer asks for, as the agent would."""
