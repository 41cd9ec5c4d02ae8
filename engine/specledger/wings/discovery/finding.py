"""The finding of a discovery in sentences, made from the counts of its laws and from what was expected of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from specledger.core.diagnostics import counted
from specledger.wings.laws.receipts import LawStatus

_BECAME: Final[Mapping[str, str]] = {
    LawStatus.PROVED: "proved for all rings",
    LawStatus.PASS: "without a counterexample in the cases that were tried",
    LawStatus.FAIL: "refuted by a ring",
    LawStatus.UNKNOWN: "not decided",
    LawStatus.ERROR: "with an error",
}
"""What a status says of a law; the laws that were accepted come first."""


def discovery_finding(laws: Mapping[str, int], expected: Sequence[bool]) -> list[str]:
    """What became of the laws that were tried, and how many of the expected ones are among them.

    Args:
        laws: How many laws have each status.
        expected: Of each expected law whether it was found.
    """
    parts = [f"{laws[status]} {became}" for status, became in _BECAME.items() if laws.get(status)]
    sentences = [f"{counted(sum(laws.values()), 'law')} tried: {', '.join(parts)}."] if parts else []
    if expected:
        sentences.append(f"{sum(expected)} of {counted(len(expected), 'expected law')} found.")
    return sentences
