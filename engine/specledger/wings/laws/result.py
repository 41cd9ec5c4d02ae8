"""The result and the failing case of the trial of a law, computed from its receipts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.evidence.counterexamples import Case, named_cause
from specledger.evidence.kind import ReceiptKind
from specledger.evidence.receipts import typed
from specledger.wings.laws.receipts import Cases, End, Judged, LawStatus

OUTCOMES: Final[Mapping[str, Verdict]] = {
    LawStatus.PROVED: Verdict.PASS,
    LawStatus.PASS: Verdict.PASS,
    LawStatus.FAIL: Verdict.FAIL,
    LawStatus.UNKNOWN: Verdict.INCONCLUSIVE,
    LawStatus.ERROR: Verdict.ERROR,
}
"""The verdict of a law without an expectation, by its status; see `judged`."""


def judged(status: str, reason: str | None) -> Verdict:
    """The verdict of a law without an expectation: one that could not be evaluated is an ERROR."""
    return Verdict.ERROR if reason == "evaluation_error" else OUTCOMES[status]


class LawTally:
    """Folds the facts of one trial: the status, and whether it is the expected one."""

    def __init__(self) -> None:
        self._figures: dict[str, Any] = {"status": None, "reason": None, "met": None}
        self._cases = 0
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact."""
        if type_ == "cases":
            self._cases = typed(Cases, body)["count"]
        elif type_ == "verdict":
            verdict = typed(Judged, body)["verdict"]
            self._figures |= {"status": verdict["status"], "reason": verdict["reason"]}
        elif type_ == "end":
            self._figures["met"] = typed(End, body)["met"]
            self._ended = True

    @property
    def verdict(self) -> Verdict:
        """ERROR if the trial did not end; PASS or FAIL by what was expected; else by the status."""
        if not self._ended or self._figures["status"] not in OUTCOMES:
            return Verdict.ERROR
        if self._figures["met"] is not None:
            return Verdict.PASS if self._figures["met"] is True else Verdict.FAIL
        return judged(self._figures["status"], self._figures["reason"])

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON."""
        return {"verdict": self.verdict.value, **self._figures, "cases": self._cases}


def law_case(seq: int, type_: str, body: Mapping[str, Any]) -> Case | None:
    """The verdict of a law that is refuted."""
    if type_ != "verdict":
        return None
    verdict = typed(Judged, body)["verdict"]
    return None if verdict["counterexample"] is None else Case.at(seq, named_cause("law", verdict["law"]))


LAW: Final = ReceiptKind("law", LawTally, lambda: law_case, lambda result: bool(result["status"] == LawStatus.FAIL))
