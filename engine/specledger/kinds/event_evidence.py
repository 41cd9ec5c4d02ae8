"""Verification and reports of a kind whose run is a pure function of its specs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.report.model import Check, Reading, Receipt, ReportKind
from specledger.report.sections import Cell, Words
from specledger.verify.checks import E_ENDS, Broken, Lacking, Verification
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind
from specledger.verify.replay import compare, make_again

if TYPE_CHECKING:
    from specledger.kinds.event_kind import EventKind


def event_evidence(kind: EventKind) -> EvidenceKind[Any, Any]:
    """How evidence of a kind is verified: from `start` to `end`, and by replay."""
    return EvidenceKind(
        receipts=kind.receipts,
        order=_Order,
        content=lambda checked, specs, _resources: _Content(kind, checked, specs),
    )


def event_report(kind: EventKind) -> ReportKind:
    """How reports read evidence of a kind."""
    return ReportKind(lambda evidence: _Reading(kind, evidence))


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

    kind: EventKind
    checked: Checked[_Order, Any]
    specs: Bundle

    def check(self, _verification: Verification, _obstacle: str | None) -> _Content:
        """There is nothing to check without replay."""
        return self

    def replay(self) -> str:
        """Compare every receipt."""
        lines = make_again(lambda _: self.kind.events(self.specs), self.specs.digest)
        return f"{compare(lines, self.checked.receipts.lines())} receipts"

    def judge(self, _obstacle: str | None) -> Count:
        """Nothing is judged."""
        raise Lacking(f"the second evaluator judges expressions of scenarios, not specs of the kind {self.kind.name}")


class _Reading(Reading):
    """The checks of one bundle, by its result."""

    def __init__(self, kind: EventKind, evidence: Evidence) -> None:
        self._kind, self._result = kind, evidence.manifest["result"]

    def add(self, _receipt: Receipt) -> None:
        """Take a receipt: the result says all that is shown."""

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The figures of the result."""
        yield from ((name, Words(str(value))) for name, value in self._result.items() if name != "verdict")

    def checks(self) -> Iterator[Check]:
        """The checks of the kind."""
        yield from self._kind.checks(self._result)
