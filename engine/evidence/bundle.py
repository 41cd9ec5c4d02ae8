"""The folder that holds a run's evidence: `receipts.jsonl`, `specs.json` and, written last, `manifest.json`.

A place whose name ends in `.zip` gets the same folder as one file. A bundle is written beside its place and moved there
whole, so that a half-written one is never taken for a result. What
is at the place goes only at that moment, and only if it is an earlier bundle or an empty folder. What a killed process
left beside the place is removed by the next run to it, where the system's locks tell that nobody is at work there.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, cast

from engine import __version__
from engine.core.canonical import LINE_LIMIT, NotCanonical, canonical_bytes, parse_canonical
from engine.core.diagnostics import Diagnostic, Rejected, code
from engine.core.digest import sha256_hex
from engine.core.events import Event
from engine.core.floats import FLOATS_ANYWHERE
from engine.evidence.archive import SUFFIX, InvalidArchive, pack, read_member
from engine.evidence.chain import Chain
from engine.evidence.result import TALLIES, Fold

if sys.platform != "win32":
    import fcntl

FORMAT: Final = "specledger/bundle/v1"
ENGINE: Final[Mapping[str, str]] = {"name": "specledger", "version": __version__}
MAX_LINE: Final = 8_388_608
"""Bytes of one receipt at most, its newline included."""
MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""

MANIFEST: Final = "manifest.json"
RECEIPTS: Final = "receipts.jsonl"
SPECS: Final = "specs.json"
AUDIT_LOG: Final = "audit.log.jsonl"
TAPE: Final = "tape.jsonl"
MORE: Final = (AUDIT_LOG, TAPE)
"""What a bundle holds where its run had it: the audit log of a kernel, and what came from outside."""
CHECKPOINT: Final = "checkpoint"
ATTESTATION: Final = "attestation.dsse.json"
PROVENANCE: Final = "manifest.json.dsse.json"
TIMESTAMP: Final = "timestamp.tsr"
SUMS: Final = "sha256sums"
GUIDE: Final = "VERIFY.md"
ATTACHED: Final = (CHECKPOINT, ATTESTATION, PROVENANCE, TIMESTAMP, SUMS, GUIDE)
"""What may lie in a bundle that nothing else holds, outside its manifest: signatures, a time stamp, and help."""
_EARLIER: Final = "earlier"
FOLDERS: Final = frozenset({"runs", "controls", "mutants"})
"""The folders of a suite's bundle, which hold the bundles of runs."""
_NESTED: Final = 3  # folders inside one another in a bundle that holds others

SCENARIO: Final = "scenario"
"""The kind of a bundle whose manifest names none."""

E_OUT_UNWRITABLE = code(
    "E_OUT_UNWRITABLE",
    "the output folder cannot be written",
    "Evidence could not be written where --out says. Nothing that was written before the failure counts as a result. "
    "Choose another folder, or make room and grant permission there.",
)
E_RECEIPT_SIZE = code(
    "E_RECEIPT_SIZE",
    "a receipt is too long",
    "A verifier reads lines of a bounded length. A state, a witness or a proposal of this run is larger than that: "
    "keep lists and texts in the state short, and record figures about them instead.",
)
E_OUT_FOREIGN = code(
    "E_OUT_FOREIGN",
    "the output folder holds something else",
    "A run replaces an earlier bundle, but it never replaces a folder that is not one, or a file. Choose another "
    "--out, or remove what is there yourself.",
)


class BundleWriter:
    """Writes one bundle. Use as a context manager: leaving it by an exception removes what was written.

    Attributes:
        chain: The chain of what has been sealed.
        tally: The figures of what has been sealed.
    """

    def __init__(
        self, place: Path, run: str, specs: Mapping[str, Any], specs_digest: str, kind: str = SCENARIO
    ) -> None:
        """Prepare to write at `place`; nothing is touched before the context is entered."""
        self.place = place
        self.chain = Chain(run)
        self.tally: Fold = TALLIES[kind]()
        self._kind = kind
        self._specs = specs
        self._specs_digest = specs_digest
        self._work = place.parent / f".{place.name}.{os.getpid()}.partial"
        self._partial = self._work / "new"
        self._lines: IO[bytes] | None = None
        self._held: int | None = None

    def __enter__(self) -> Self:
        """Make the working folder beside the place.

        Raises:
            Rejected: E_OUT_FOREIGN or E_OUT_UNWRITABLE.
        """
        try:
            self._refuse_foreign()
            shutil.rmtree(self._work, ignore_errors=True)
            self._clear_abandoned()
            self._partial.mkdir(parents=True)
            self._held = _hold(self._work)
            self._lines = (self._partial / RECEIPTS).open("wb")
        except OSError as error:
            self._clear(self._work, self._held)
            raise self._unwritable(error) from error
        return self

    @property
    def inside(self) -> Path:
        """The folder in which the bundle grows; bundles that it holds are written there before it is finished."""
        return self._partial

    def add(self, event: Event) -> None:
        """Seal one event, count it and write its line.

        Raises:
            Rejected: E_OUT_UNWRITABLE; E_RECEIPT_SIZE, if no verifier would read a line that long.
        """
        assert self._lines is not None, "a bundle is written inside its context"  # noqa: S101 - a programmer's mistake
        line = self.chain.seal(event)
        if len(line) >= MAX_LINE:
            message = f"receipt {self.chain.count - 1} ({event.type}) has {len(line)} bytes, more than {MAX_LINE}"
            raise Rejected([Diagnostic(E_RECEIPT_SIZE, message)])
        self.tally.add(event.type, event.body)
        try:
            self._lines.write(line + b"\n")
            if event.type == "episode_end":
                self._lines.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def put(self, name: str, data: bytes) -> None:
        """Write a further file, one of `MORE`.

        Raises:
            Rejected: E_OUT_UNWRITABLE.
        """
        try:
            _write(self._partial / name, data)
        except OSError as error:
            raise self._unwritable(error) from error

    def finish(self, held: Sequence[str] = (), attach: Callable[[Path], None] | None = None) -> dict[str, Any]:
        """Write specs and manifest, force all three files to the disk, and move the bundle to its place.

        Args:
            held: The places of the bundles inside this one, in order; their manifests are listed as its files.
            attach: Writes what covers the manifest into the folder that it is called with; only `ATTACHED` goes there.

        Returns:
            The manifest.

        Raises:
            Rejected: E_OUT_UNWRITABLE; E_OUT_FOREIGN, if something else has come to the place since the context was
                entered; and what `attach` raises.
        """
        assert self._lines is not None, "a bundle is written inside its context"  # noqa: S101 - a programmer's mistake
        try:
            self._sync(self._lines)
            _write(self._partial / SPECS, canonical_bytes(self._specs, FLOATS_ANYWHERE) + b"\n")
            manifest = {
                "format": FORMAT,
                "run": self.chain.run,
                "specs": self._specs_digest,
                "result": self.tally.result(),
                "receipts": {"count": self.chain.count, "head": self.chain.head, "root": self.chain.root},
                "files": [
                    _entry(self._partial, name)
                    for name in (RECEIPTS, SPECS, *self._more(), *(f"{place}/{MANIFEST}" for place in held))
                ],
                "engine": dict(ENGINE),
                **({} if self._kind == SCENARIO else {"kind": self._kind}),
            }
            _write(self._partial / MANIFEST, canonical_bytes(manifest) + b"\n")
            if attach is not None:
                attach(self._partial)
            whole = self._packed()
            self._refuse_foreign()
            if self.place.exists():
                self.place.rename(self._work / _EARLIER)
            whole.rename(self.place)
        except OSError as error:
            raise self._unwritable(error) from error
        return manifest

    def _packed(self) -> Path:
        """What goes to the place: the folder, or the file that its bundle is."""
        if self.place.suffix != SUFFIX:
            return self._partial
        file = self._work / "packed"
        pack(self._partial, file)
        return file

    def _more(self) -> list[str]:
        """The further files that were written."""
        return [name for name in MORE if (self._partial / name).exists()]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, put an earlier bundle back if no new one took its place, and remove the working folder."""
        if self._lines is not None:
            with suppress(OSError):  # what could not be written was said; closing tries to write it once more
                self._lines.close()
        self._clear(self._work, self._held)

    def _clear(self, work: Path, held: int | None) -> None:
        """Remove a working folder, after putting back what it set aside."""
        with suppress(OSError):
            if (work / _EARLIER).exists() and not self.place.exists():
                (work / _EARLIER).rename(self.place)
            shutil.rmtree(work, ignore_errors=True)
        if held is not None:
            os.close(held)

    def _clear_abandoned(self) -> None:
        """Remove the working folders that processes left here when they were killed."""
        if not self.place.parent.is_dir():
            return
        pattern = re.compile(rf"\.{re.escape(self.place.name)}\.[0-9]+\.partial")
        for work in self.place.parent.iterdir():
            if pattern.fullmatch(work.name) and work.is_dir() and not work.is_symlink():
                held = _hold(work)
                if held is not None:
                    self._clear(work, held)

    @staticmethod
    def _sync(file: IO[bytes]) -> None:
        file.flush()
        os.fsync(file.fileno())
        file.close()

    def _refuse_foreign(self) -> None:
        if not _replaceable(self.place):
            raise Rejected([Diagnostic(E_OUT_FOREIGN, f"{self.place} exists and is no bundle that a run may replace")])

    def _unwritable(self, error: OSError) -> Rejected:
        return Rejected([Diagnostic(E_OUT_UNWRITABLE, f"cannot write {self.place}: {error.strerror or error}")])


def _replaceable(place: Path) -> bool:
    """Whether nothing is there, an empty folder, or a bundle with a manifest of this format and nothing else.

    `.` and `..` are never replaced: they are what the working folder stands in.
    """
    if place.name in ("", ".."):
        return False
    if not os.path.lexists(place):
        return True
    if place.is_symlink() or not place.is_dir():
        return not place.is_symlink() and place.suffix == SUFFIX and _is_archive(place)
    return not os.listdir(place) or _is_bundle(place, _NESTED, ATTACHED)


def holds_bundle(place: Path) -> bool:
    """Whether there is a bundle at a place, by its looks: a folder with a manifest, or a file."""
    return (place / MANIFEST).exists() or place.is_file()


def covers_of(place: Path) -> frozenset[str]:
    """What signs or stamps the bundle at a place, by the names of the files; empty if no bundle can be read there."""
    names = (CHECKPOINT, ATTESTATION, PROVENANCE, TIMESTAMP)
    try:
        if place.is_file():
            return frozenset(name for name in names if read_member(place, name, LINE_LIMIT) is not None)
    except (InvalidArchive, OSError):
        return frozenset()
    return frozenset(name for name in names if os.path.lexists(place / name))


def _is_archive(place: Path) -> bool:
    """Whether a file is an archive with a manifest."""
    try:
        return _is_manifest(read_member(place, MANIFEST, LINE_LIMIT + 1) or b"")
    except InvalidArchive:
        return False


def _is_bundle(place: Path, depth: int, attached: Sequence[str] = ()) -> bool:
    """Whether a folder holds a bundle's plain files and, in the folders of a suite, nothing but bundles.

    Args:
        place: The folder.
        depth: How many folders there may be inside one another.
        attached: What else it may hold.
    """
    with os.scandir(place) as entries:
        plain = {entry.name: entry.is_file(follow_symlinks=False) for entry in entries}
        folders = [name for name in plain if (place / name).is_dir() and not (place / name).is_symlink()]
    files = plain.keys() - set(folders)
    ours = {MANIFEST} <= files <= {MANIFEST, RECEIPTS, SPECS, *MORE, *attached} and all(plain[name] for name in files)
    return (
        ours
        and set(folders) <= FOLDERS
        and _has_manifest(place)
        and all(_holds_bundles(place / name, depth - 1) for name in folders)
    )


def _holds_bundles(folder: Path, depth: int) -> bool:
    return depth >= 0 and all(
        inner.is_dir() and not inner.is_symlink() and (_is_bundle(inner, 0) or _holds_bundles(inner, depth - 1))
        for inner in folder.iterdir()
    )


def _has_manifest(place: Path) -> bool:
    with (place / MANIFEST).open("rb") as file:
        return _is_manifest(file.read(LINE_LIMIT + 2))


def _is_manifest(data: bytes) -> bool:
    try:
        manifest = parse_canonical(data.removesuffix(b"\n"))
    except NotCanonical:
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def _hold(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed, at the latest with this process.

    Returns:
        The descriptor, or None if somebody else holds the folder or the system has no such locks.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _entry(folder: Path, name: str) -> dict[str, Any]:
    """How a manifest lists a file: path, SHA-256 and size."""
    return {"path": name, "sha256": file_digest(folder / name), "size": (folder / name).stat().st_size}


def file_digest(path: Path) -> str:
    """SHA-256 of a file, which is not read into memory as a whole.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return sha256_hex(b"")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
            return sha256_hex(cast(bytes, view))
