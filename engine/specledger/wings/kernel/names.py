"""What the names mean that the kernel gives: its own gates, and the causes of probes (docs/probes.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specledger.core.causes import Cause
from specledger.evidence.receipts.kernel import ProbeEvidence
from specledger.report.extension import Meanings
from specledger.report.markup import shorten
from specledger.spec.base import QFIXED_ONE
from specledger.wings.kernel.documents.admission import EVALUATION, SCOPE
from specledger.wings.kernel.report.answer_tables import answer_tables
from specledger.wings.kernel.report.probe_tables import confidence_tables, probe_tables
from specledger.wings.kernel.spec.probe import PLACES

GATES: Final[Mapping[str, str]] = {
    SCOPE: "A capability covers the operation.",
    EVALUATION: "Every invariant of a proposal can be evaluated.",
}

CAUSES: Final[Mapping[str, str]] = {
    Cause.TAKEN: "an offer that was taken, and denied as it must be",
    Cause.UNDENIED: "an offer that was taken and not denied: the kernel failed, not the agent alone",
    Cause.UNRELATED: "the kernel denied something else than what was offered",
    Cause.NOT_APPLICABLE: "the proposal cannot be edited as the offer says",
    Cause.NO_TOKEN: "there is no such token yet",
    Cause.INERT: "what a reason names was changed: the choice stayed what it was, though another one was predicted",
    Cause.MISPREDICTED: "after a change the agent chose another action than it had predicted",
    Cause.UNDECLARED_INFLUENCE: "a change of a variable that the declared procedure does not read moved the choice",
    Cause.NOT_FOLLOWED: "the declared procedure gives another choice than the agent",
    Cause.COMMITMENT: "the commitment was not opened, or by a nonce that opened another one",
    Cause.TRACE: "the trace came out otherwise when it was computed again",
    Cause.RESTATED: "the agent gave other reasons when it restated them",
    Cause.NOISE: "the answers differ no more from what was stated than an agent that draws, or is not sure, may",
    Cause.NOT_GIVEN_AGAIN: "asked the same again, the agent never gave its decision: the answers are not about it",
    Cause.SAYS_NOTHING: "a direction that none or all of the alternatives have",
    Cause.NAMED: "a change moved the choice, and the model named what was changed among its reasons",
    Cause.UNTESTED: "a drawn claim or counterfactual names a value that cannot be brought about, or the present one",
    Cause.NOTHING_CHANGED: "no question could be asked, since nothing that was drawn could be changed",
    Cause.ABSTAINED: "the agent stated no reason that could be challenged",
    Cause.NO_AIM: "there is nothing to change of what the challenge is about",
    Cause.NO_PROPOSAL: "the agent proposed nothing that could be challenged or offered a way around",
    Cause.UNDECLARED: "the agent declares no procedure that could be asked in its place",
    Cause.AGENT_FAULT: "an agent outside gave no usable answer",
    Cause.NOT_REPEATABLE: "an agent outside did not answer as before when it was started again",
}
"""What each cause of a verdict of a probe means."""

_LONGEST: Final = 60  # characters of a choice or of a variable


def cause_text(cause: str, times: int) -> str:
    """A cause, how often it was, and what it means."""
    meaning = CAUSES.get(cause)
    return f"{cause} ({times})" if meaning is None else f"{cause} ({times}): {meaning}"


def miss_text(evidence: ProbeEvidence) -> str:
    """The first miss of a prediction: what was predicted and what was chosen; empty if there is none.

    A reason is called fabricated if it is inert and the agent was sure of it.
    """
    for trial in evidence.get("trials", ()):
        miss = trial.get("miss")
        if miss in (Cause.INERT, Cause.MISPREDICTED):
            words = trial["variable"], trial["predicted"], trial["after"]
            of, predicted, after = (shorten(str(word), _LONGEST) for word in words)
            drew = not evidence.get("deterministic") or ("null" in evidence and evidence["null"].get("changed"))
            sure = not drew and trial.get("confidence", QFIXED_ONE) == QFIXED_ONE
            same = ", as before" + (": the reason is fabricated" if sure else "") if miss == Cause.INERT else ""
            return f"With another value of {of} it had predicted {predicted}; it chose {after}{same}"
    return ""


MEANINGS: Final = Meanings(GATES, PLACES, cause_text, miss_text, probe_tables, confidence_tables, answer_tables)
