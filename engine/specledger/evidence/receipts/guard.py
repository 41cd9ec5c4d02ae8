"""The receipt of what a guard decided about a call before it was made."""

from typing import Annotated, TypedDict

from specledger.core.events import GuardCause, GuardDecision


class Objection(TypedDict):
    """Why a call is not simply allowed: `of` is gate, rule, invariant or world, whose `name` is then the tool."""

    of: str
    name: str
    reason: str


class Guarded(TypedDict):
    """A call was decided before it was made.

    `denied_by` is what forbids it, `unjudged` what could not be judged, by all that precedes it. It was not `made` if
    it was denied, or if something else kept it: its result says what. `cause` is `deadline` where the guard gave up
    deciding it, so that `made` follows from how the scenario fails. `receipt` is what the client was told, the digest
    of the line of the log, made again of all that precedes it.
    """

    episode: int
    t: int
    call: str
    tool: str
    decision: Annotated[str, GuardDecision]
    denied_by: list[Objection]
    unjudged: list[Objection]
    made: bool
    cause: Annotated[str, GuardCause]
    receipt: str


class GuardCounts(TypedDict):
    """How many calls a guard decided: those that were `made`, those `denied`, and those made though denied."""

    made: int
    denied: int
    bypassed: int
