"""Stated confidence against what came true: the Brier score, and a table by tenths of confidence.

The Brier score is the mean of (confidence - outcome)², where the outcome of a challenged claim is 1 if it held and 0 if
not: 0 is best, and 0.25 is what a constant confidence of one half gets. Only agents that ever said to be less than sure
are scored.

Source: Brier (1950), Verification of forecasts expressed in terms of probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

ONE: Final = 1_000_000
"""Certainty; confidences and scores are integers of millionths."""

VAGUE: Final = "says_nothing"
"""The reason why a claim is not put to the test whose direction excludes nothing, or everything."""


def outcomes(evidence: Mapping[str, Any]) -> Iterator[tuple[int, bool]]:
    """The confidence and the outcome of each claim that a challenge put to the test.

    Raises:
        KeyError, TypeError: It is malformed.
    """
    if "of" in evidence and evidence["of"] == "claims":
        for trial in evidence["trials"]:
            if trial["held"] is not None:
                yield trial.get("confidence", ONE), trial["held"]


def held_claims(evidence: Mapping[str, Any]) -> tuple[int, int]:
    """How many of the drawn claims held, and how many were put to the test.

    A claim held if after each of its changes no other answer came more often than what was expected.

    Raises:
        KeyError, TypeError: It is malformed.
    """
    answers: dict[int, dict[str, list[Mapping[str, Any]]]] = {}
    for trial in evidence.get("trials", ()) if "of" in evidence else ():
        if trial["held"] is not None:
            answers.setdefault(trial["drawn"], {}).setdefault(trial.get("by", ""), []).append(trial)
    return sum(all(map(_led, changes.values())) for changes in answers.values()), len(answers)


def _led(trials: list[Mapping[str, Any]]) -> bool:
    others = Counter(trial["after"] for trial in trials if not trial["held"])
    return len(trials) - others.total() >= max(others.values(), default=0)


class Calibration:
    """Adds up the outcomes of one probe."""

    def __init__(self) -> None:
        self._bins: dict[int, list[int]] = {}
        self._square = 0
        self.doubts = False

    def add(self, pairs: Iterable[tuple[int, bool]]) -> None:
        """Take confidences and outcomes."""
        for confidence, satisfied in pairs:
            counts = self._bins.setdefault(min(9, confidence * 10 // ONE), [0, 0, 0])
            for index, value in enumerate((1, int(satisfied), confidence)):
                counts[index] += value
            self._square += (confidence - ONE * satisfied) ** 2
            self.doubts |= confidence != ONE

    def result(self) -> dict[str, Any]:
        """`{claims, held, brier, bins}`; each bin `{from, claims, held, confidence}`, the last one their mean."""
        claims, satisfied, _ = (sum(counts[index] for counts in self._bins.values()) for index in range(3))
        return {
            "claims": claims,
            "held": satisfied,
            "brier": divide(self._square, claims * ONE),
            "bins": [
                {"from": tenth * ONE // 10, "claims": n, "held": true, "confidence": divide(sure, n)}
                for tenth, (n, true, sure) in sorted(self._bins.items())
            ],
        }


def divide(part: int, whole: int) -> int:
    """A quotient of integers, rounded to the nearest, halves upwards."""
    return (2 * part + whole) // (2 * whole)
