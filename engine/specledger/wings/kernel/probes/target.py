"""The questions that a probe may ask of the run that it is attached to.

All of them are about clones: states and memories are values. The one way to act is an attempt, which the kernel judges
like the agent's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from specledger.core.rng import Stream
    from specledger.wings.kernel.probes.planned_offer import PlannedOffer
    from specledger.wings.kernel.spec.probe import EventEdit

PLACES = ("before_propose", "after_commit", "after_token", "after_act")
"""Where probes attach, in the order of a step."""


class Situation(NamedTuple):
    """Where a probe finds the run."""

    episode: int
    t: int
    state: Any
    memory: Any


class Answer(NamedTuple):
    """What was chosen: its label and its score."""

    choice: str
    score: int


class Reply(NamedTuple):
    """The answer of an agent to an offer; one with neither a document nor an action declines.

    Attributes:
        plain: The score of what it chooses without the offer; None if the agent gives no scores.
        paid: The score of the best that the offer leads to.
        token, action: What it calls the actuator with; the action is None if it makes no call.
        taken: Whether the agent says that it takes the offer; what a document amounts to is seen in it otherwise.
    """

    plain: int | None = None
    paid: int | None = None
    document: Any = None
    token: Mapping[str, Any] | None = None
    action: Mapping[str, Any] | None = None
    taken: bool = False


class Attempt(NamedTuple):
    """What came of an attempt to break a rule: whether it was denied, by what, and whether that was logged."""

    denied: bool
    reasons: tuple[str, ...]
    logged: bool


class ProbeTarget(Protocol):
    """One run as its probes see it. `asked` counts how often the agent was asked in this place before.

    A question that an agent from outside does not answer raises `Unanswered`.
    """

    @property
    def deterministic(self) -> bool:
        """Whether the agent declares itself deterministic: it draws nothing."""

    @property
    def promised(self) -> bool:
        """Whether nothing but the agent's word says so: it is a program or a model."""

    @property
    def declares(self) -> bool:
        """Whether the agent declares a procedure; without one nothing can be said about it."""

    def document(self, situation: Situation) -> Any:
        """The proposal that the agent committed to here, or submits there if it has not yet been asked; any value."""

    def valid(self, document: Any) -> bool:
        """Whether a document is valid under its schema."""

    def choose(self, situation: Situation, asked: int) -> Answer | None:
        """What the agent chooses; None if it proposes nothing."""

    def declared(self, situation: Situation, asked: int) -> Answer | None:
        """What the procedure that it declares would choose."""

    def read(self, claim: Mapping[str, Any], counterfactuals: list[Mapping[str, Any]]) -> dict[str, str] | None:
        """What a claim says: `counterfactual`, `choice`, and `direction`, empty where it gives none."""

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """By variable, a direction that the agent stated where the words of its claim give none."""

    def confidences(self, document: Any, situation: Situation) -> Mapping[str, int]:
        """By counterfactual, the rate that the agent stated of it, in millionths; where it stated none, none."""

    def is_choice(self, label: str) -> bool:
        """Whether a label may be that of an action of the world."""

    def names(self, state: Any) -> list[str]:
        """The variables that there are."""

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """Other values of a variable to try."""

    def toward(self, state: Any, variable: str, direction: str) -> list[Any]:
        """Those of them that change it in a direction."""

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """The state with a variable changed, and the edit that was made; None where the value is unreachable."""

    def unused(self, state: Any) -> list[str]:
        """The variables that the declared procedure does not read."""

    def fresh(self, number: int) -> Situation:
        """The start of an episode that is never played."""

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """Whether the snapshots that speak of these variables are there, and open when they are challenged."""

    def replay(self, document: Any, situation: Situation) -> dict[str, Any]:
        """The trace of a document, computed again by the declared procedure: `{equal, nodes, ends}`.

        They are how many nodes came out equal, how many there are, and whether the last one is the plan's choice.
        """

    def restate(self, document: Any, situation: Situation) -> bool:
        """Whether the agent, asked again for its reasons, gives those that it committed to."""

    def token(self, sort: str) -> Mapping[str, Any] | None:
        """The token of this decision (`own`), of an earlier one (`stale`), or of another holder; None without one."""

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """The agent's answer to an offer, which hands it a token or none; None if it proposes nothing here."""

    def attempt(self, situation: Situation, reply: Reply) -> Attempt:
        """The kernel's judgement about what an agent submits or calls."""


class RecordedTarget(ProbeTarget, Protocol):
    """The call of a recording, before which a probe's edits change something."""

    def edits(self, state: Any, edits: Sequence[EventEdit], stream: Stream) -> list[tuple[str, Any, str]]:
        """What edits of a recording change there, each with its value and the choice that it speaks for, or empty."""

    def named(self, situation: Situation, variable: str) -> bool:
        """Whether the agent, asked for the reasons of the choice that it made last, names what was changed."""
