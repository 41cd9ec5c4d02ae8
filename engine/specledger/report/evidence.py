"""Evidence for reports: a bundle of which no check failed, replayed if that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import FOLDERS, MAX_LINE, ORIGIN, RECEIPTS, SOURCES
from specledger.load import Bundle
from specledger.run.workers import Processes
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import open_evidence
from specledger.verify.checks import Verification
from specledger.verify.kind import VerifiableKind
from specledger.verify.receipts import Receipts
from specledger.verify.trust import Trust

_SHARE: Final = 32 * 1024 * 1024
"""Bytes of receipts that are checked in about the time in which a process begins to check any."""


class Evidence(Struct, frozen=True):
    """A bundle whose files, chain, result and specs were checked and join, named as its folder.

    Attributes:
        own: Whether the command that reads it has just made it.
        trusting: Whether its reader said which keys count.
    """

    name: str
    place: Path
    kind: str
    manifest: Mapping[str, Any]
    specs: Bundle
    verification: Verification
    receipts: Receipts
    own: bool = False
    trusting: bool = False

    @property
    def case(self) -> str:
        """The id of the matrix case, from the sources; empty if there is none, or no sources."""
        try:
            data = (self.place / ORIGIN).read_bytes()
        except OSError:
            return ""
        return str(cast(Mapping[str, Any], parse_canonical(data.rstrip(), limit=MAX_LINE)).get("case", ""))

    def source_of(self, key: str) -> str | None:
        """The source file of a spec in the bundle, by its key, relative to the working folder and with slashes.

        None if it has none, is one file, or is outside that folder: other programs look for files below it.
        """
        kind, _, name = key.partition("@")[0].partition("/")
        file, here = (self.place / SOURCES / kind / f"{name}.yaml").absolute(), Path.cwd()
        known = self.place.name == self.name and file.is_file() and file.is_relative_to(here)
        return file.relative_to(here).as_posix() if known else None

    def bodies(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The type and the body of each receipt, in order."""
        for line in self.receipts.lines():
            receipt = cast(Mapping[str, Any], parse_canonical(line, limit=MAX_LINE))
            yield receipt["type"], receipt["body"]


def bodies_in(folder: Path, *types: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The type and the body of each receipt of a bundle that was checked before; of some types alone, or of all."""
    ends = tuple(f'"type":"{type_}"}}\n'.encode() for type_ in types)
    with (folder / RECEIPTS).open("rb") as lines:
        for line in lines:
            if not ends or line.endswith(ends):
                receipt = cast(Mapping[str, Any], parse_canonical(line[:-1], limit=MAX_LINE))
                yield receipt["type"], receipt["body"]


def _worth(bundle: Path, workers: int) -> int:
    """How many of the workers are worth the time in which they begin, by the bytes of a suite's receipts."""
    size = 0
    for folder in FOLDERS:
        for path in (bundle / folder).glob(f"**/{RECEIPTS}"):
            size += path.stat().st_size
    return min(workers, 1 + size // _SHARE)


def read_evidence(
    folder: Path,
    kinds: Mapping[str, VerifiableKind],
    workers: int = 1,
    *,
    replay: bool = False,
    trust: Trust | None = None,
) -> Evidence:
    """Check the bundle in a folder, with `trust` who signed it; replayed if that is asked for.

    `workers` processes share the runs of a suite.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is none.
        Refuted: A check failed.
    """
    reader = Reader(replay=replay, trust=trust)
    opened, checks = open_evidence(folder, reader, kinds, Processes(_worth(folder, workers)))
    name = opened.kind.receipts.name
    return Evidence(
        folder.name, folder, name, opened.manifest, opened.specs, checks, opened.receipts, trusting=trust is not None
    )
