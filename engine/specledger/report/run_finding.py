"""The finding of a run in sentences: whether it ended as its spec expects, and how many of its tested claims held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specledger.core.verdict import Verdict
from specledger.evidence.doubts import NOT_GIVEN_AGAIN, PROMISE_BROKEN
from specledger.evidence.receipts.result import RunResult
from specledger.report.figures import share
from specledger.report.held_claims import claims_shown, doubts_told


def run_finding(result: RunResult) -> Iterator[str]:
    """Sentences that come before the reason of the verdict; what failed is told by the reason alone."""
    if "met" in result:
        ended = "ended" if result["met"] else "did not end"
        yield f"It {ended} as expected: {result['status']}. So the verdict is {result['verdict']}."
    if Verdict(result["verdict"]) in (Verdict.PASS, Verdict.INCONCLUSIVE):
        for name, claim in sorted(result.get("claims", {}).items()):
            yield from _held(name, claim)
        yield from doubts_told(result.get("claims", {}))


def _held(name: str, claim: Mapping[str, int]) -> Iterator[str]:
    """How many of the claims of a challenge that were decided held, with the interval of the rate."""
    if claim["tested"]:
        interval = claims_shown(claim["held"], claim["tested"])["wilson"]
        ends = f"{share(interval['low'])} to {share(interval['high'])}"
        yield f"{claim['held']} of {claim['tested']} tested claims of {name} held; 95 % interval of the rate: {ends}."
    if never := claim.get(NOT_GIVEN_AGAIN):
        yield f"In {never} challenges of {name} the agent, asked the same again, never gave its decision."
    if broken := claim.get(PROMISE_BROKEN):
        yield f"The agent says that it draws nothing; in {broken} challenges of {name} it answered the same otherwise."
