"""What keeps the passes of a challenge from counting, over the decisions of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specledger.core.verdict import Verdict
from specledger.evidence.receipts.kernel import Probe

EXPLAINED: Final = "explained"
"""Claims that did not hold, and that the declared procedure explains."""
NOT_GIVEN_AGAIN: Final = "not_given_again"
"""Decisions that the agent never gave again, in challenges that decide nothing."""
PROMISE_BROKEN: Final = "promise_broken"
"""Decisions after which an agent that says it draws nothing gave another answer to the same question."""


def doubts_of(body: Probe) -> dict[str, int]:
    """What a probe adds to these counts, besides `explained`."""
    evidence = body["evidence"]
    broken = "promised" in evidence and evidence["null"]["changed"] > 0
    null = evidence.get("null", {"asked": 0, "changed": 0})
    never = body["verdict"] == Verdict.INCONCLUSIVE and 0 < null["asked"] == null["changed"]
    return {name: 1 for name, found in ((NOT_GIVEN_AGAIN, never), (PROMISE_BROKEN, broken)) if found}


def is_doubtful(claims: Mapping[str, int], verdicts: Mapping[str, int]) -> bool:
    """Whether what passed of a challenge says too little of what the agent did.

    An agent that says it draws nothing is asked once where claims hold; if it draws, that was too seldom. Of one that
    draws, a decision that never comes again is chance; more of them than passes are those of an agent that answers
    otherwise than it decides.
    """
    if EXPLAINED in claims or PROMISE_BROKEN in claims:
        return True
    return claims.get(NOT_GIVEN_AGAIN, 0) > verdicts.get(Verdict.PASS, 0)
