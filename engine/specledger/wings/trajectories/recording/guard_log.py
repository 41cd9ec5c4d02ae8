"""The log of a guard: the lines that follow from a trajectory, each of which a client was told the digest of."""

from __future__ import annotations

from typing import Final

from specledger.core.events import Event, GuardCause
from specledger.evidence.chain import Chain, run_id
from specledger.wings.trajectories.lines import entry_document
from specledger.wings.trajectories.model import Call, Entry
from specledger.wings.trajectories.recording.decision import Decision, Objection

FORMAT: Final = "specledger/guard-log/v1"
BEGIN, ENTRY, DECISION, END = "begin", "entry", "decision", "end"
"""The types of lines."""
GUARD: Final = "guard"
"""The type of the receipt of what a guard decided; what objects to a call whose decision was given up."""


def opening(conversation: str, scenario: str, specs: str) -> Event:
    """The first line."""
    return Event(BEGIN, {"format": FORMAT, "conversation": conversation, "scenario": scenario, "specs": specs})


def entry_line(entry: Entry) -> Event:
    """The line of a message, a call, a result or a finding."""
    return Event(ENTRY, entry_document(entry))


def decision_line(decision: Decision, cause: GuardCause) -> Event:
    """The line of a decision; a call is made if it is allowed."""
    return Event(DECISION, {**decision.document(), "made": decision.allowed, "cause": cause.value})


def too_late(call: Call, *, closed: bool) -> Decision:
    """The decision about a call that a guard gave up deciding."""
    objection = Objection(GUARD, GUARD, "the decision took too long")
    return Decision(call.id, call.tool, not closed, unjudged=(objection,))


class GuardChain:
    """The digests of the lines of one conversation, made of its trajectory."""

    def __init__(self, conversation: str, scenario: str, specs: str) -> None:
        """Begin the log of a conversation under the specs of a scenario."""
        self._chain = Chain(run_id(specs))
        self._chain.seal(opening(conversation, scenario, specs))

    def hear(self, entry: Entry) -> None:
        """Add the line of an entry."""
        self._chain.seal(entry_line(entry))

    def decide(self, decision: Decision, cause: GuardCause) -> str:
        """Add the line of a decision; its digest, which the client was told."""
        self._chain.seal(decision_line(decision, cause))
        return self._chain.head
