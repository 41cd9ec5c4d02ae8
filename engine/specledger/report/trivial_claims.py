"""Claims that name no reason: each predicts, after its change, the choice that was made without it."""

from __future__ import annotations

from specledger.core.diagnostics import counted
from specledger.evidence.receipts.kernel import ProbeEvidence, Trial


class TrivialClaims:
    """Counts them among the tested claims of probes; a claim is one, however often it was asked about."""

    def __init__(self) -> None:
        self._tested = self._trivial = 0

    def add(self, evidence: ProbeEvidence) -> None:
        """Take what a probe found; counterfactuals beside the claims may predict the same choice."""
        trials = {(trial["drawn"], trial["variable"]): trial for trial in evidence.get("trials", ())}
        asked = [trial for trial in trials.values() if trial["after"] is not None]
        self._tested += len(asked) if evidence.get("of") == "claims" else 0
        self._trivial += sum(is_trivial(trial, evidence) for trial in asked)

    @property
    def text(self) -> str:
        """How many there are, and what that means; empty if there are none."""
        if not self._trivial:
            return ""
        predict = "predicts" if self._trivial == 1 else "predict"
        of = f"{self._trivial} of {counted(self._tested, 'tested claim')}"
        return f"{of} {predict} what the agent chose anyway: that it comes true says nothing of why it chose so"


def is_trivial(trial: Trial, evidence: ProbeEvidence) -> bool:
    """Whether a tested claim predicts the choice that was made without its change."""
    return evidence.get("of") == "claims" and trial["predicted"] == evidence.get("before")
