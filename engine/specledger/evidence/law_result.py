"""The result of a law's trial, folded from its facts alone.

Decides which of the engine's verdicts the verdict on a law is. Refuses to know how a law is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict

OUTCOMES: Final[Mapping[str, Verdict]] = {
    "PROVED": Verdict.PASS,
    "PASS": Verdict.PASS,
    "FAIL": Verdict.FAIL,
    "UNKNOWN": Verdict.INCONCLUSIVE,
}
"""What the status of a law that nothing was expected of amounts to."""


class LawTally:
    """Folds the facts of one trial: the status, and whether it is the expected one."""

    def __init__(self) -> None:
        """Begin before the first fact."""
        self._figures: dict[str, Any] = {"status": None, "reason": None, "met": None}
        self._cases = 0
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact.

        Raises:
            KeyError, TypeError: If the body lacks what its type must have.
        """
        if type_ == "cases":
            self._cases = body["count"]
        elif type_ == "verdict":
            self._figures |= {key: body["verdict"][key] for key in ("status", "reason")}
        elif type_ == "end":
            self._figures["met"] = body["met"]
            self._ended = True

    @property
    def verdict(self) -> Verdict:
        """ERROR if the trial did not end; PASS or FAIL by what was expected; else what the status amounts to."""
        if not self._ended or self._figures["status"] not in OUTCOMES:
            return Verdict.ERROR
        if self._figures["met"] is not None:
            return Verdict.PASS if self._figures["met"] is True else Verdict.FAIL
        return OUTCOMES[self._figures["status"]]

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON."""
        return {"verdict": self.verdict.value, **self._figures, "cases": self._cases}
