"""The outcomes of requirements, and the combined outcome of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from specledger.core.verdict import Verdict

WAIVED: Final = "WAIVED"
"""What stands in place of an outcome for which somebody has answered with a waiver."""


class Outcome(StrEnum):
    """The outcome of a requirement."""

    PASSED = "passed"
    DIFFERS = "differs"
    FAILED = "failed"
    CANNOT_TELL = "cannot tell"
    NOT_APPLICABLE = "not applicable"
    UNTESTED = "untested"


WORST_FIRST: Final = (
    Outcome.FAILED,
    Outcome.CANNOT_TELL,
    Outcome.UNTESTED,
    Outcome.DIFFERS,
    Outcome.PASSED,
    Outcome.NOT_APPLICABLE,
)
"""The first of these that occurs is the combined outcome."""

OF_VERDICT: Final[Mapping[Verdict, Outcome]] = {
    Verdict.PASS: Outcome.PASSED,
    Verdict.FAIL: Outcome.FAILED,
    Verdict.INCONCLUSIVE: Outcome.CANNOT_TELL,
    Verdict.ERROR: Outcome.CANNOT_TELL,
}


SETTLED: Final = frozenset({Outcome.PASSED, Outcome.NOT_APPLICABLE})
"""Outcomes that need no waiver."""


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """The combined outcome; UNTESTED for none."""
    return min(outcomes, key=WORST_FIRST.index, default=Outcome.UNTESTED)
