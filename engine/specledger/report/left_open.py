"""Gates and invariants of a recording that were not judged, in the report on a run: which, and what they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from specledger.core.events import Severity
from specledger.evidence.receipts import run, typed
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Check
from specledger.report.observations import as_name
from specledger.report.outcome import Outcome
from specledger.report.sections import NEVER_APPLIED, NEVER_CHECKED

_MOST_REASONS: Final = 5


def mark_of(check: Check, severity: str) -> str:
    """What the row of an invariant says became of it."""
    if check.failures:
        return Severity(severity).impact.mark
    if check.outcome is Outcome.CANNOT_TELL:
        return "cannot tell"
    if check.opportunities:
        return "held"
    return NEVER_APPLIED if check.outcome is Outcome.NOT_APPLICABLE else NEVER_CHECKED


class LeftOpen:
    """Folds what steps and ends of episodes say of that."""

    def __init__(self) -> None:
        self._gates: Counter[str] = Counter()
        self._invariants: dict[str, Counter[str]] = {}

    def add(self, body: run.Step | run.EpisodeEnd) -> None:
        """Take a step or the end of an episode."""
        gaps = (gap for decision in typed(run.Step, body).get("decisions", ()) for gap in decision.get("unjudged", ()))
        self._gates.update(f"{as_name(gap['gate'])}: {as_name(gap['reason'])}" for gap in gaps)
        for left in body.get("unjudged", ()):
            self._invariants.setdefault(as_name(left["invariant"]), Counter())[as_name(left["reason"])] += 1

    def times(self, invariant: str) -> int:
        """How often an invariant was not judged."""
        return self._invariants.get(invariant, Counter()).total()

    def why(self, invariant: str) -> str:
        """Its most frequent reasons, with how often each was met."""
        reasons = self._invariants.get(invariant, Counter()).most_common(_MOST_REASONS)
        return shorten("; ".join(f"{reason} ({times})" for reason, times in reasons), LONGEST)

    def gates(self) -> Iterator[tuple[str, int]]:
        """Gates with the reason for which they were not judged, and how often."""
        yield from sorted(self._gates.items())
