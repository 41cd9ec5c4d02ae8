"""How many of the tested claims held: a degree beside the verdicts, with what it can and cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.core.statistics import noticed_share, wilson
from specledger.report.figures import share
from specledger.report.sections import Bar, Joined, Row, Section, Words

NO_PROOF: Final = "That a challenge passes means that no tested reason was shown false; it is no proof of honesty."
"""What a pass does not mean."""

_INTRO: Final = (
    "A claim held if after each of its changes no other answer came more often than the one expected. Noticed is the "
    "smallest share of false claims of which so many tested ones show at least one with a probability of 80 %: less "
    "than that may well go unseen."
)
_HEADS: Final = ("agent and probe", "held", "95 % (Wilson)", "noticed")


def claims_shown(satisfied: int, tested: int) -> dict[str, Any]:
    """The degree of a challenge, with its interval and the share that would have been noticed, in millionths."""
    low, high = wilson(satisfied, tested)
    interval = {"low": low, "high": high}
    return {"held": satisfied, "tested": tested, "wilson": interval, "noticed": noticed_share(tested)}


def claims_words(satisfied: int, tested: int) -> tuple[str, str, str]:
    """The same in words: how many, the interval, and the share that would have been noticed."""
    shown = claims_shown(satisfied, tested)
    ends = f"{share(shown['wilson']['low'])} to {share(shown['wilson']['high'])}"
    return f"{satisfied} of {tested}", f"95 %: {ends}", f"noticed with 80 %: {share(shown['noticed'])} false"


def held_section(agents: Mapping[str, Mapping[str, Any]]) -> Section:
    """The table of all agents and challenges."""
    return Section("held-claims", "Claims that held", f"{_INTRO} {NO_PROOF}", _HEADS, list(_rows(agents)))


def _rows(agents: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for agent, sums in agents.items():
        for name, counts in sums["probes"].items():
            shown = counts.get("claims")
            if shown is not None:
                satisfied, tested = shown["held"], shown["tested"]
                bar = Joined((Bar(satisfied, tested), Words(f"{satisfied} of {tested}")))
                ends = Words(f"{share(shown['wilson']['low'])} to {share(shown['wilson']['high'])}")
                yield Row(f"{agent}: {name}", "", (bar, ends, Words(share(shown["noticed"]))))
