"""The writer of a bundle: receipts as they come, and at the end what follows from them; the manifest last.

A bundle is written beside its place and moved there whole (`evidence.workplace`), so that a half-written one is never
taken for a result. What is at the place goes only at that moment, and only if it is an earlier bundle or an empty
folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from specledger.core import disk
from specledger.core.canonical import NotCanonical, canonical_bytes, check_volume
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import file_digest
from specledger.core.events import Event
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.chain import Chain
from specledger.evidence.counterexamples import find_cases, parts_of
from specledger.evidence.kind import RUN, ReceiptKind
from specledger.evidence.layout import (
    COUNTEREXAMPLES,
    ENGINE,
    EVALUATOR,
    FOLDERS,
    FORMAT,
    MANIFEST,
    MAX_LINE,
    MAX_SOURCES,
    MAX_SPECS,
    MAX_SPECS_VOLUME,
    MORE,
    RECEIPTS,
    SCENARIO,
    SOURCES,
    SPECS,
    SUITE,
)
from specledger.evidence.result import Fold
from specledger.evidence.workplace import Workplace

E_RECEIPT_SIZE = code("E_RECEIPT_SIZE", "a receipt is too long")
E_SPECS_SIZE = code("E_SPECS_SIZE", "the resolved specs of a run are too large")
E_SOURCES_SIZE = code("E_SOURCES_SIZE", "the spec files of a run are too large together")


def form_of(specs: Mapping[str, Any]) -> bytes:
    """What specs.json holds, which must be small enough for those who verify it."""
    form = canonical_bytes(specs, FLOATS_ANYWHERE)
    if len(form) > MAX_SPECS:
        message = f"the resolved specs have {len(form)} bytes, more than {MAX_SPECS}"
        raise Rejected([Diagnostic(E_SPECS_SIZE, message)])
    try:
        check_volume(form, MAX_SPECS_VOLUME)
    except NotCanonical as error:
        raise Rejected([Diagnostic(E_SPECS_SIZE, f"the resolved specs have {error.message}")]) from None
    return form


class BundleWriter:
    """Writes one bundle. Use as a context manager: leaving it by an exception removes what was written."""

    def __init__(
        self,
        place: Path,
        run: str,
        specs: Mapping[str, Any],
        specs_digest: str,
        kind: ReceiptKind = RUN,
        *,
        sources: Mapping[str, bytes] | None = None,
        identity: str = "",
        resume: bool = False,
    ) -> None:
        """Prepare to write; nothing is touched before the context is entered.

        `sources` goes by paths in their folder; `identity` is what a run that continues this one must share with it.
        With `resume` this one continues an unfinished one, and is kept itself if it ends early.
        """
        self.place = place
        self.chain = Chain(run)
        self.tally: Fold = kind.tally()
        self._kind = kind
        self._specs = specs
        self._specs_digest = specs_digest
        self._sources = dict(sources or {})
        self.keep = resume
        self._identity = identity
        self._resume = resume
        self._workplace = Workplace(place)
        self._lines: IO[bytes] | None = None
        self._form = b""

    def __enter__(self) -> Self:
        """Make the working folder beside the place."""
        size = sum(map(len, self._sources.values()))
        if size > MAX_SOURCES:
            message = f"the specs were resolved from files of {size} bytes, more than {MAX_SOURCES}"
            raise Rejected([Diagnostic(E_SOURCES_SIZE, message)])
        self._form = form_of(self._specs)
        try:
            kept = FOLDERS if self._kind.name == SUITE else ()
            self._workplace.open(self._identity, resume=self._resume, kept=kept)
            self._lines = disk.SYSTEM.create(self.inside / RECEIPTS)
        except OSError as error:
            self._workplace.close()
            raise self._workplace.unwritable(error) from error
        return self

    @property
    def inside(self) -> Path:
        """The folder in which the bundle grows; bundles that it holds are written there before it is finished."""
        return self._workplace.folder

    @property
    def beside(self) -> Path:
        """The folder of what is no part of the bundle but is kept with an unfinished one."""
        return self._workplace.beside

    def add(self, event: Event) -> None:
        """Seal one event, count it and write its line."""
        assert self._lines is not None, "a bundle is written inside its context"  # noqa: S101 - a programmer's mistake
        line = self.chain.seal(event)
        if len(line) >= MAX_LINE:
            message = f"receipt {self.chain.count - 1} ({event.type}) has {len(line)} bytes, more than {MAX_LINE}"
            raise Rejected([Diagnostic(E_RECEIPT_SIZE, message)])
        try:
            check_volume(line)
        except NotCanonical as error:
            message = f"receipt {self.chain.count - 1} ({event.type}) has {error.message}"
            raise Rejected([Diagnostic(E_RECEIPT_SIZE, message)]) from None
        self.tally.add(event.type, event.body)
        try:
            self._lines.write(line + b"\n")
            if event.type == "episode_end":
                self._lines.flush()
        except OSError as error:
            raise self._workplace.unwritable(error) from error

    def put(self, name: str, data: bytes) -> None:
        """Write a further file, one of `MORE`."""
        try:
            disk.write_file(self.inside / name, data)
        except OSError as error:
            raise self._workplace.unwritable(error) from error

    def finish(self, inner: Sequence[str] = (), attach: Callable[[Path], None] | None = None) -> dict[str, Any]:
        """Write the rest and the manifest, force all to the disk, and move the bundle to its place.

        `inner` are the places of the bundles inside this one; `attach` writes what covers the manifest into the folder
        that it is called with, and only `ATTACHED` goes there.
        """
        assert self._lines is not None, "a bundle is written inside its context"  # noqa: S101 - a programmer's mistake
        try:
            self._sync(self._lines)
            result = self.tally.result()
            files = {SPECS: self._form + b"\n"}
            files |= {f"{SOURCES}/{name}": data for name, data in self._sources.items()}
            for name, data in files.items():
                disk.make_folders((self.inside / name).parent)
                disk.write_file(self.inside / name, data)
            cases = self._write_failing(result)
            manifest = self._manifest(result, [*files, *cases, *(f"{path}/{MANIFEST}" for path in inner)])
            disk.write_file(self.inside / MANIFEST, canonical_bytes(manifest) + b"\n")
            if attach is not None:
                attach(self.inside)
            self._workplace.move()
        except OSError as error:
            raise self._workplace.unwritable(error) from error
        return manifest

    def finish_unsealed(self, fill: Callable[[Path], None]) -> None:
        """Move the folder to its place without a manifest, and without receipts if none was added: no bundle."""
        assert self._lines is not None, "a bundle is written inside its context"  # noqa: S101 - a programmer's mistake
        try:
            self._sync(self._lines)
            if not self.chain.count:
                disk.SYSTEM.remove(self.inside / RECEIPTS)
            fill(self.inside)
            self._workplace.move()
        except OSError as error:
            raise self._workplace.unwritable(error) from error

    def _manifest(self, result: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        more = [name for name in (RECEIPTS, *MORE) if (self.inside / name).exists()]
        return {
            "format": FORMAT,
            "run": self.chain.run,
            "specs": self._specs_digest,
            "result": dict(result),
            "receipts": {"count": self.chain.count, "head": self.chain.head, "root": self.chain.root},
            "files": [_entry(self.inside, name) for name in sorted((*paths, *more))],
            "engine": dict(ENGINE),
            "evaluator": dict(EVALUATOR),
            **({} if self._kind.name == SCENARIO else {"kind": self._kind.name}),
        }

    def _write_failing(self, result: Mapping[str, Any]) -> list[str]:
        """Write the failing cases, for which the receipts are read again where there can be any; their paths."""
        cases = find_cases(self._kind.cases, self._written()) if self._kind.may_fail(result) else []
        if cases:
            disk.SYSTEM.make_folder(self.inside / COUNTEREXAMPLES)
            for path, parts in parts_of(cases, self._written()):
                disk.write_parts(self.inside / path, parts)
        return [case.path for case in cases]

    def _written(self) -> Iterator[bytes]:
        with (self.inside / RECEIPTS).open("rb", disk.BUFFER) as file:
            for line in file:
                yield line[:-1]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, put an earlier bundle back if no new one took its place, and remove the working folder."""
        if self._lines is not None:
            with suppress(OSError):  # what could not be written was said; closing tries to write it once more
                self._lines.close()
        self._workplace.close(keep=self.keep and error is not None)

    @staticmethod
    def _sync(file: IO[bytes]) -> None:
        disk.sync_file(file)
        file.close()


def _entry(folder: Path, name: str) -> dict[str, Any]:
    """How a manifest lists a file: path, SHA-256 and size."""
    return {"path": name, "sha256": file_digest(folder / name), "size": (folder / name).stat().st_size}
