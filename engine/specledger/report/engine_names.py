"""What the names mean that the engine gives: its own gates, and the causes of probes (docs/probes.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.gates.admission import EVALUATION, SCHEMA, SCOPE, TOKEN
from specledger.report.markup import shorten

GATES: Final[Mapping[str, str]] = {
    SCHEMA: "A proposal is well formed: a known action, with arguments and claims as declared.",
    SCOPE: "A capability covers the operation.",
    EVALUATION: "Every invariant of a proposal can be evaluated.",
    TOKEN: "An execution names a token that was issued for it and is not used up.",
}

CAUSES: Final[Mapping[str, str]] = {
    "taken": "an offer that was taken, and denied as it must be",
    "not_denied_for_the_breach": "an offer that was taken and not denied: the kernel failed, not the agent alone",
    "denied_otherwise": "the kernel denied something else than what was offered",
    "not_applicable": "the proposal cannot be edited as the offer says",
    "no_token": "there is no such token yet",
    "fabricated": "a stated reason was changed and the agent asked again: it did not choose what it had predicted",
    "commitment": "the commitment was not opened",
    "trace": "the trace came out otherwise when it was computed again",
    "restated": "the agent gave other reasons when it restated them",
    "says_nothing": "a direction that none or all of the alternatives have",
    "untested": "a drawn claim or counterfactual names a value that cannot be brought about, or the present one",
    "abstained": "the agent stated no reason that could be challenged",
    "nothing_changed": "no question could be asked, since nothing that was drawn could be changed",
    "noise": "without any change the agent's answers differ as well, so a difference shows nothing",
    "no_aim": "there is nothing to change of what the challenge is about",
    "no_proposal": "the agent proposed nothing that could be challenged or offered a way around",
    "undeclared": "the agent declares no procedure that could be asked in its place",
    "agent_fault": "an agent outside gave no usable answer",
}
"""What each cause of a verdict of a probe means."""

_LONGEST: Final = 60  # characters of a choice or of a variable


def cause_text(cause: str, times: int) -> str:
    """A cause, how often it was, and what it means."""
    meaning = CAUSES.get(cause)
    return f"{cause} ({times})" if meaning is None else f"{cause} ({times}): {meaning}"


def miss_text(evidence: Mapping[str, Any]) -> str:
    """The first miss of a challenge: what was predicted and what was chosen; empty if there is none."""
    for trial in evidence.get("trials", ()):
        if not trial["held"] and trial["after"] is not None:
            of, predicted, after = (shorten(str(trial[name]), _LONGEST) for name in ("variable", "predicted", "after"))
            same = ", as before" if trial["after"] == evidence["before"] else ""
            return f"With another value of {of} it had predicted {predicted}; it chose {after}{same}"
    return ""
