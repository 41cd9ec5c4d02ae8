"""The probes of a run that are shown in full: those that failed; where none did, those that tested reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import Probe
from specledger.report.extension import ShownProbe, meanings
from specledger.report.model import Receipt
from specledger.report.sections import Section
from specledger.report.units import Tree

MOST_SHOWN: Final = 25
"""Probes of a run that are shown in full; the others have their receipts."""


class ShownProbes:
    """Collects them from the receipts of a run, in order."""

    def __init__(self, units: Mapping[str, Tree]) -> None:
        """Begin; `units` are what numbers of the run are shown in."""
        self._units = units
        self._documents: dict[str, str | None] = {}
        self._failed: list[ShownProbe] = []
        self._tested: list[ShownProbe] = []
        self._more = {True: 0, False: 0}

    def committed(self, receipt: Receipt) -> None:
        """Take the commitment of a decision: what a later probe of this decision speaks of."""
        body = typed(run.Commit, receipt.body)
        first = body["proposals"][0] if body["proposals"] else None
        document = first.get("document") if isinstance(first, dict) else None
        self._documents[body.get("agent", "")] = document if isinstance(document, str) else None

    def probed(self, name: str, receipt: Receipt) -> None:
        """Take a probe."""
        body = typed(Probe, receipt.body)
        failed = Verdict(body["verdict"]) is Verdict.FAIL
        if not failed and not body["evidence"].get("trials"):
            return
        kept = self._failed if failed else self._tested
        if len(kept) == MOST_SHOWN:
            self._more[failed] += 1
        else:
            kept.append(ShownProbe(name, receipt.seq, body, self._documents.get(body.get("agent", "")), self._units))

    def sections(self) -> Iterator[Section]:
        """What was asked and what was answered."""
        failed = bool(self._failed)
        yield from meanings().answer_tables(self._failed or self._tested, self._more[failed])
