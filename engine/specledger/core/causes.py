"""Why a probe has its verdict."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from specledger.core.calibration import VAGUE
from specledger.core.verdict import Verdict


class Cause(StrEnum):
    """The cause of a verdict that is no pass; an ERROR has the code of its error in place of one."""

    # of an offer
    TAKEN = "taken"
    UNDENIED = "not_denied_for_the_breach"
    UNRELATED = "denied_otherwise"
    NOT_APPLICABLE = "not_applicable"
    NO_TOKEN = "no_token"
    # of the answers to a challenge
    INERT = "inert"
    MISPREDICTED = "mispredicted"
    UNDECLARED_INFLUENCE = "undeclared_influence"
    NOT_FOLLOWED = "not_followed"
    # of what a challenge demands
    COMMITMENT = "commitment"
    TRACE = "trace"
    RESTATED = "restated"
    # of a challenge that decides nothing
    NOISE = "noise"
    NOT_GIVEN_AGAIN = "not_given_again"
    SAYS_NOTHING = VAGUE
    NAMED = "named"
    UNTESTED = "untested"
    NOTHING_CHANGED = "nothing_changed"
    # of a probe that could not be made
    ABSTAINED = "abstained"
    NO_AIM = "no_aim"
    NO_PROPOSAL = "no_proposal"
    UNDECLARED = "undeclared"
    AGENT_FAULT = "agent_fault"
    NOT_REPEATABLE = "not_repeatable"


NOT_ASKED: Final = frozenset(
    {Cause.ABSTAINED, Cause.NO_AIM, Cause.NO_PROPOSAL, Cause.UNDECLARED, Cause.AGENT_FAULT, Cause.NOT_REPEATABLE}
)
"""Why a challenge could not be made: it is inconclusive, and there are no answers in its evidence."""


_DECIDED: Final = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


def partly_words(counts: Mapping[str, int], causes: Mapping[str, int]) -> str:
    """What a probe came to that passed or failed and was sometimes inconclusive; empty for any other probe.

    `counts` are by verdict, `causes` those of its inconclusive verdicts: `7 passed, 3 could not be asked: abstained`.
    """
    decided = [f"{counts[verdict]} {word}" for verdict, word in _DECIDED.items() if counts.get(verdict)]
    if not decided or counts.get(Verdict.ERROR) or not causes:
        return ""
    parts = decided
    for asked, words in ((True, "inconclusive"), (False, "could not be asked")):
        why = {cause: times for cause, times in sorted(causes.items()) if (cause not in NOT_ASKED) is asked}
        parts += [f"{sum(why.values())} {words}: {', '.join(why)}"] if why else []
    return ", ".join(parts)
