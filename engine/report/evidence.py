"""Evidence that a report may speak of: a bundle of which no check failed. Nothing is replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from engine.core.canonical import parse_canonical
from engine.core.verdict import Verdict
from engine.evidence.bundle import MAX_LINE
from engine.load import Bundle
from engine.verify.bundle import Verifier
from engine.verify.checks import Verification
from engine.verify.receipts import Receipts
from engine.verify.suite import SUITE, SuiteVerifier, kind_of


class Refuted(Exception):  # noqa: N818 - a finding about evidence, not an engine error
    """A check of the evidence failed, so there is nothing to report.

    Attributes:
        verification: All checks.
    """

    def __init__(self, verification: Verification) -> None:
        """Keep the checks."""
        self.verification = verification
        super().__init__("the evidence is refuted")


@dataclass(frozen=True)
class Evidence:
    """A bundle whose files, chain, result and specs were checked and join.

    Attributes:
        kind: What was run.
        manifest: Its manifest.
        specs: The resolved specs that it was made from.
        verification: The checks that were made; replay is not among them.
        receipts: The receipts that were checked.
    """

    kind: str
    manifest: Mapping[str, Any]
    specs: Bundle
    verification: Verification
    receipts: Receipts

    def told(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The type and the body of each receipt, in order."""
        for line in self.receipts.lines():
            receipt = cast(Mapping[str, Any], parse_canonical(line, limit=MAX_LINE))
            yield receipt["type"], receipt["body"]


class _Run(Verifier):
    """Verifies a run and keeps its specs."""

    specs: Bundle | None = None

    def compile(self, bundle: Bundle) -> None:
        super().compile(bundle)
        self.specs = bundle


class _Suite(SuiteVerifier):
    """Verifies a suite and keeps its specs."""

    specs: Bundle | None = None

    def compile(self, bundle: Bundle) -> None:
        super().compile(bundle)
        self.specs = bundle


def read_evidence(place: Path, workers: int = 1) -> Evidence:
    """Check a bundle without replay.

    Args:
        place: The folder.
        workers: How many processes share the runs of a suite.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is none.
        Refuted: A check failed.
    """
    verifier = _Suite(place, False, workers) if kind_of(place) == SUITE else _Run(place, False)
    verification = verifier.verify()
    if verification.verdict is Verdict.FAIL:
        raise Refuted(verification)
    assert verifier.specs is not None and verifier.receipts is not None  # noqa: S101, PT018 - set by checks that passed
    return Evidence(verifier.kind, verifier.manifest, verifier.specs, verification, verifier.receipts)
