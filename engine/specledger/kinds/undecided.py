"""Why a run of a scenario came to no verdict, in words, from its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.core.verdict import Verdict
from specledger.evidence import doubts
from specledger.evidence.receipts.recording import is_open


def why_undecided(result: Mapping[str, Any]) -> str:
    """What kept a run with this result from a verdict."""
    if "faults" in result:
        return "the agent had faults"
    if "unknown" in result:
        return "the recording leaves something out"
    if "unjudged" in result or any(counts["unjudged"] for counts in result.get("rules", {}).values()):
        return "a rule could not be judged"
    if any(map(is_open, result.get("rules", {}).values())):
        return "a rule can notice nothing, or is misspelt"
    if not result["checks"]:
        return "no rule was judged that fails the run" if "rules" in result else "no invariant was checked"
    if any(Verdict.PASS not in counts for counts in result.get("probes", {}).values()):
        return "a probe never passed"
    claims = [counts.keys() for counts in result.get("claims", {}).values()]
    if any(doubts.PROMISE_BROKEN in counts for counts in claims):
        return "an agent that says it draws nothing answered the same question otherwise"
    if any(doubts.EXPLAINED in counts for counts in claims):
        return "claims did not hold, and the declared procedure explains them"
    if any(doubts.GIVEN_TOO_SELDOM in counts for counts in claims):
        return "asked the same again, an agent gave its decisions less often than one that decides as it answers"
    if any(doubts.OVERSTATED in counts for counts in claims):
        return "claims held less often than the agent states"
    if any(doubts.NOT_GIVEN_AGAIN in counts for counts in claims):
        return "asked the same again, an agent mostly never gave its decision"
    return "nothing that an agent proposed was ever admitted"
