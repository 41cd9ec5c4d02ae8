"""The calls of a conversation under guard in the report on it: those that were denied, and those made all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.core.diagnostics import counted
from specledger.core.events import GuardCause, GuardDecision
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.guard import Guarded, Objection
from specledger.report.model import Receipt
from specledger.report.observations import as_int, as_name
from specledger.report.sections import EpisodeLink, Quoted, ReceiptLink, Row, Section, Words

MOST_CALLS: Final = 200
"""Calls that a report lists."""
_LONGEST: Final = 2_000
_HEADS: Final = ("call", "tool", "by", "reason")


class GuardReading:
    """Folds what a guard decided of the calls of a run."""

    def __init__(self) -> None:
        self._made = self._listed = 0
        self._rows: list[Row] = []

    def add(self, receipt: Receipt) -> None:
        """Take a receipt of a guard."""
        body = typed(Guarded, receipt.body)
        self._made += bool(body["made"])
        objections = [*body["denied_by"], *body["unjudged"]]
        if body["made"] and not objections:
            return
        self._listed += 1
        if len(self._rows) < MOST_CALLS:
            self._rows.append(_row(receipt, body, objections))

    def sections(self) -> Iterator[Section]:
        """The calls that were not simply allowed; nothing where no guard decided, or none of them was."""
        if not self._rows:
            return
        left = self._listed - len(self._rows)
        intro = f"A guard decided before a call was made; {counted(self._made, 'call')} went out."
        if left:
            intro += f" {counted(left, 'call')} more {'is' if left == 1 else 'are'} in the receipts alone."
        yield Section("guard", "Calls that a guard denied or could not judge", intro, _HEADS, self._rows)


def _row(receipt: Receipt, body: Guarded, objections: list[Objection]) -> Row:
    mark = "denied"
    if body["made"]:
        mark = "made though denied" if body["decision"] == GuardDecision.DENY else "made unjudged"
    by = [f"{as_name(objection['of'])} {as_name(objection['name'])}" for objection in objections]
    reasons = [as_name(objection["reason"]) for objection in objections]
    if body["cause"] == GuardCause.DEADLINE:
        by, reasons = [GuardCause.DEADLINE, *by], ["the decision took too long", *reasons]
    step = EpisodeLink(0, as_int(body["episode"]), as_int(body["t"]))
    cells = (Quoted(body["tool"], _LONGEST), Words(", ".join(by)), Quoted("; ".join(reasons), _LONGEST))
    return Row(as_name(body["call"]), mark, cells, places=(step, ReceiptLink(receipt.seq)))
