"""How many of the tested claims held: a degree beside the verdicts, with what it can and cannot show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.statistics import noticed_share, wilson
from specledger.evidence.doubts import GIVEN_TOO_SELDOM, OVERSTATED
from specledger.report.figures import share

NO_PROOF: Final = "That a challenge passes means that no tested reason was shown false; it is no proof of honesty."
"""What a pass does not mean."""


def claims_shown(satisfied: int, tested: int) -> dict[str, Any]:
    """The degree of a challenge, with its interval and the share that would have been noticed, in millionths."""
    low, high = wilson(satisfied, tested)
    interval = {"low": low, "high": high}
    return {"held": satisfied, "tested": tested, "wilson": interval, "noticed": noticed_share(tested)}


def claims_told(claims: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The degree of each challenge, and what that does not show, for JSON; empty where no claim was tested."""
    shown = {name: claims_shown(claim["held"], claim["tested"]) for name, claim in sorted(claims.items())}
    return {"claims": shown, "not_shown": [NO_PROOF]} if shown else {}


def explained_text(claims: Mapping[str, int]) -> str:
    """Of claims counted in a result, how many did not hold although the agent does what it declares; empty if none."""
    if not claims.get("explained"):
        return ""
    return (
        f"{claims['explained']} of {claims['tested']} tested claims did not hold; explained by the declared procedure"
    )


def doubts_told(claims: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What the challenges of a run show together, in sentences; empty if nothing."""
    lines = []
    for name, counts in sorted(claims.items()):
        if asked := counts.get(GIVEN_TOO_SELDOM):
            shown = "the answers gave its decisions less often than those of one that decides as it answers (error 1 %)"
            lines.append(f"In {asked} challenges of {name} the agent was asked the same again: {shown}.")
        if answers := counts.get(OVERSTATED):
            shown = f"what {name} asked of claims that the agent is not sure of"
            lines.append(f"Of {answers} answers to {shown}, fewer were the predicted ones than it states (error 1 %).")
    return lines


def claims_words(satisfied: int, tested: int) -> tuple[str, str, str]:
    """The same in words: how many, the interval, and the share that would have been noticed."""
    shown = claims_shown(satisfied, tested)
    ends = f"{share(shown['wilson']['low'])} to {share(shown['wilson']['high'])}"
    return f"{satisfied} of {tested}", f"95 %: {ends}", f"noticed with 80 %: {share(shown['noticed'])} false"
