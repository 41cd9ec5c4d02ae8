"""Verification and reports of a kind whose run is a pure function of its specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from specledger.core.events import Event
from specledger.evidence.kind import ReceiptKind
from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.report.model import Check, Reading, Receipt, ReportKind
from specledger.report.sections import Cell, Words
from specledger.verify.checks import E_ENDS, Broken, Lacking, Verification
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind
from specledger.verify.replay import compare, make_again

Events = Callable[[Bundle], Iterator[Event]]
Checks = Callable[[Mapping[str, Any]], Iterable[Check]]


def event_evidence(receipts: ReceiptKind, events: Events) -> EvidenceKind[Any, Any]:
    """How evidence of a kind is verified: from `start` to `end`, and by replay."""
    return EvidenceKind(
        receipts=receipts,
        order=_Order,
        content=lambda checked, specs, _resources: _Content(events, checked, specs),
    )


def event_report(checks: Checks) -> ReportKind:
    """How reports read evidence of a kind: by the checks that a result leads to."""
    return ReportKind(lambda evidence: _Reading(checks, evidence))


class _Order:
    """The first receipt is `start`, and nothing follows `end`."""

    def __init__(self) -> None:
        self._last = ""

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt."""
        if (type_ == "start") == bool(self._last) or self._last == "end":
            raise Broken(E_ENDS, f"{type_!r} after {self._last or 'nothing'!r}")
        self._last = type_


class _Content(Struct, frozen=True):
    """The specs of one bundle, from which its run is made again."""

    events: Events
    checked: Checked[_Order, Any]
    specs: Bundle

    def check(self, _verification: Verification, _obstacle: str | None) -> _Content:
        """There is nothing to check without replay."""
        return self

    def replay(self) -> str:
        """Compare every receipt."""
        lines = make_again(lambda _: self.events(self.specs), self.specs.digest)
        return f"{compare(lines, self.checked.receipts.lines())} receipts"

    def judge(self, _obstacle: str | None) -> Count:
        """Nothing is judged."""
        raise Lacking("the second evaluator judges expressions of scenarios alone")


class _Reading(Reading):
    """The checks of one bundle, by its result."""

    def __init__(self, checks: Checks, evidence: Evidence) -> None:
        self._checks, self._result = checks, evidence.manifest["result"]

    def add(self, _receipt: Receipt) -> None:
        """Take a receipt: the result says all that is shown."""

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The figures of the result."""
        yield from ((name, Words(str(value))) for name, value in self._result.items() if name != "verdict")

    def checks(self) -> Iterator[Check]:
        """The checks of the kind."""
        yield from self._checks(self._result)
