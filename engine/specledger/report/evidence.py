"""Evidence that a report may speak of: a bundle of which no check failed. Nothing is replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from specledger.core.canonical import parse_canonical
from specledger.core.verdict import Verdict
from specledger.evidence.archive import InvalidArchive
from specledger.evidence.layout import FOLDERS, MAX_LINE, RECEIPTS
from specledger.load import Bundle
from specledger.spec.base import Models
from specledger.verify.bundle import Verifier
from specledger.verify.checks import E_ARCHIVE, Broken, Verification
from specledger.verify.discovery import DiscoveryVerifier
from specledger.verify.law import LawVerifier
from specledger.verify.receipts import Receipts
from specledger.verify.suite import SUITE, SuiteVerifier, kind_of
from specledger.verify.unpack import is_archive, unpacked

_SHARE: Final = 32 * 1024 * 1024
"""Bytes of receipts that are checked in about the time in which a process begins to check any."""


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
        place: Where it lies.
        kind: What was run.
        manifest: Its manifest.
        specs: The resolved specs that it was made from.
        verification: The checks that were made; replay is not among them.
        receipts: The receipts that were checked.
    """

    place: Path
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


class _Kept(Verifier):
    """Keeps the specs that were compiled again."""

    specs: Bundle | None = None

    def compile(self, bundle: Bundle) -> None:
        super().compile(bundle)
        self.specs = bundle


class _Suite(_Kept, SuiteVerifier):
    """Verifies a suite and keeps its specs."""


class _Law(_Kept, LawVerifier):
    """Verifies a law and keeps its specs."""


@contextmanager
def opened(place: Path, models: Models, workers: int = 1) -> Iterator[Evidence]:
    """Checked evidence, whether its bundle is a folder or one zip file; what was unpacked is gone afterwards.

    Args:
        place: The folder or the file.
        models: The model of each kind.
        workers: How many processes share the runs of a suite.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is none.
        Refuted: A check failed.
    """
    if not place.is_file() or not is_archive(place):
        yield read_evidence(place, models, workers)
        return
    try:
        with unpacked(place) as folder:
            yield read_evidence(folder, models, workers)
    except InvalidArchive as invalid:
        refused = Verification()
        refused.failed("the file is the archive of a bundle", Broken(E_ARCHIVE, str(invalid)))
        raise Refuted(refused) from None


class _Discovery(_Kept, DiscoveryVerifier):
    """Verifies a discovery and keeps its specs."""


def _worth(place: Path, workers: int) -> int:
    """How many of the workers are worth the time in which they begin, by the bytes of a suite's receipts."""
    size = 0
    for folder in FOLDERS:
        for path in (place / folder).glob(f"**/{RECEIPTS}"):
            size += path.stat().st_size
    return min(workers, 1 + size // _SHARE)


def _verifier(place: Path, models: Models, workers: int) -> _Kept:
    kind = kind_of(place)
    if kind == DiscoveryVerifier.kind:
        return _Discovery(place, models, False)
    if kind == SUITE:
        return _Suite(place, models, False, _worth(place, workers))
    return _Law(place, models, False) if kind == LawVerifier.kind else _Kept(place, models, False)


def read_evidence(place: Path, models: Models, workers: int = 1) -> Evidence:
    """Check a bundle without replay.

    Args:
        place: The folder.
        models: The model of each kind.
        workers: How many processes share the runs of a suite.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is none.
        Refuted: A check failed.
    """
    verifier = _verifier(place, models, workers)
    verification = verifier.verify()
    if verification.verdict is Verdict.FAIL:
        raise Refuted(verification)
    assert verifier.specs is not None and verifier.receipts is not None  # noqa: S101, PT018 - set by checks that passed
    return Evidence(place, verifier.kind, verifier.manifest, verifier.specs, verification, verifier.receipts)
