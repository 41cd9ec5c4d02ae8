"""The receipt of what a guard decided about a call before it was made."""

from typing import Annotated, TypedDict

from specledger.core.events import GuardCause, GuardDecision
from specledger.evidence.receipts.places import Position


class Objection(TypedDict):
    """Why a call is not simply allowed.

    Attributes:
        of: What objects: a gate, a rule, an invariant, or the world.
        name: The name of what objects; of the world that of the tool.
        reason: Why, in a word.
    """

    of: str
    name: str
    reason: str


class Guarded(Position):
    """A call was decided before it was made.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        call: The id of the call.
        tool: The name of the tool.
        decision: `allow` or `deny`, made again from all that precedes the call.
        denied_by: The gates, rules and invariants that forbid it.
        unjudged: What could not be judged by all that precedes it.
        made: Whether it was made.
        cause: `rules`, or `deadline` where the guard gave up deciding.
        receipt: What the client was told: the digest of the line of the guard's log.
    """

    call: str
    tool: str
    decision: Annotated[str, GuardDecision]
    denied_by: list[Objection]
    unjudged: list[Objection]
    made: bool
    cause: Annotated[str, GuardCause]
    receipt: str


class GuardCounts(TypedDict):
    """How many calls a guard decided.

    Attributes:
        made: How many calls were made.
        denied: How many calls were denied.
        bypassed: How many calls were made though denied.
    """

    made: int
    denied: int
    bypassed: int
