"""The probes of a run that failed, each with the document that its agent had committed to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import Probe
from specledger.report.extension import FailedProbe, meanings
from specledger.report.model import Receipt
from specledger.report.sections import Section

MOST_FAILED: Final = 25
"""Failed probes of a run that are shown in full; the others have their receipts."""


class FailedProbes:
    """Collects them from the receipts of a run, in order."""

    def __init__(self) -> None:
        self._documents: dict[str, str | None] = {}
        self._failed: list[FailedProbe] = []
        self._more = 0

    def committed(self, receipt: Receipt) -> None:
        """Take the commitment of a decision: what a later probe of this decision speaks of."""
        body = typed(run.Commit, receipt.body)
        first = body["proposals"][0] if body["proposals"] else None
        document = first.get("document") if isinstance(first, dict) else None
        self._documents[body.get("agent", "")] = document if isinstance(document, str) else None

    def probed(self, name: str, receipt: Receipt) -> None:
        """Take a probe."""
        body = typed(Probe, receipt.body)
        if Verdict(body["verdict"]) is not Verdict.FAIL:
            return
        if len(self._failed) == MOST_FAILED:
            self._more += 1
        else:
            self._failed.append(FailedProbe(name, receipt.seq, body, self._documents.get(body.get("agent", ""))))

    def sections(self) -> Iterator[Section]:
        """What was asked and what was answered, of the failed probes."""
        yield from meanings().failure_tables(self._failed, self._more)
