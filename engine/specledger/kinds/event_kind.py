"""A kind whose run is a pure function of its specs, for wings: a subclass says the events, the result and the checks.

Its evidence is written, replayed and reported as that of any kind. A second evaluator judges nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from specledger.core.events import Event
from specledger.evidence.counterexamples import no_cases
from specledger.evidence.kind import ReceiptKind
from specledger.kinds.kind import Kind, Runnable
from specledger.kinds.running import Finished, Progress, RunOptions, footer, write_events
from specledger.load import Bundle

if TYPE_CHECKING:
    from specledger.report.model import Check, ReportKind
    from specledger.verify.kind import EvidenceKind

Fact = tuple[str, Mapping[str, Any]]
"""The type and the body of a receipt."""


class EventKind(Kind):
    """A kind whose specs are run by a generator of events.

    The first event has the type `start`, and its body names the digest of the specs as `specs`; the last one is `end`.
    """

    runs: ClassVar[bool] = True

    def events(self, bundle: Bundle) -> Iterator[Event]:
        """The events of the run of a bundle; a pure function of its specs."""
        raise NotImplementedError

    def result(self, facts: Sequence[Fact]) -> dict[str, Any]:
        """The result of a run by its receipts; `verdict` is one of PASS, FAIL, INCONCLUSIVE and ERROR."""
        raise NotImplementedError

    def checks(self, result: Mapping[str, Any]) -> Iterable[Check]:
        """What a report says was required, by the result."""
        raise NotImplementedError

    def show(self, result: Mapping[str, Any]) -> str:
        """What the terminal says of a result, beside the name and the verdict."""
        return ""

    def preview(self, bundle: Bundle) -> dict[str, Any]:
        """What `spec plan` says of a run."""
        return {"most_receipts": sum(1 for _ in self.events(bundle))}

    @cached_property
    def receipts(self) -> ReceiptKind:
        """How its receipts become a result."""
        return ReceiptKind(self.name, lambda: _Fold(self), no_cases, lambda _: False)

    @property
    def run(self) -> Runnable:
        """What runs its specs."""
        return Runnable(
            compile=lambda bundle, _: self.check_bundle(bundle),
            receipts=self.receipts,
            execute=self._execute,
            preview=self.preview,
            show=lambda runs: "\n".join(map(self._text, runs)),
            events=self.events,
        )

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        """How its evidence is verified: by replay."""
        from specledger.kinds.event_evidence import event_evidence

        return event_evidence(self.receipts, self.events)

    @property
    def report(self) -> ReportKind:
        """How reports read its evidence: its checks."""
        from specledger.kinds.event_evidence import event_report

        return event_report(self.checks)

    def check_bundle(self, bundle: Bundle) -> None:
        """Refuse a bundle that cannot be run; Rejected with every finding."""
        from specledger.core.diagnostics import Diagnostics

        diagnostics = Diagnostics()
        self.check(bundle, diagnostics)
        diagnostics.raise_if_errors()

    def _execute(self, bundle: Bundle, folder: Path, options: RunOptions, _progress: Progress | None) -> Finished:
        return write_events(bundle, folder, self.receipts, options, self.events(bundle))

    def _text(self, finished: Finished) -> str:
        result = finished.manifest["result"]
        return "\n".join([f"{finished.name}  {result['verdict']}  {self.show(result)}".rstrip(), *footer(finished)])


class _Fold:
    """Keeps the receipts of one run and gives their result."""

    def __init__(self, kind: EventKind) -> None:
        self._kind = kind
        self._facts: list[Fact] = []

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Keep one receipt."""
        self._facts.append((type_, body))

    def result(self) -> dict[str, Any]:
        """The result."""
        return self._kind.result(self._facts)
