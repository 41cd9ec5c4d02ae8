"""The audit log: an append-only file of hash-chained entries.

A line is the canonical JSON of an entry and a newline. In the mode `live` it is on the disk when `append` returns, in
the mode `simulated` after `sync`, once an episode; in both it survives the end of this process. A torn last line is cut
off when the log is opened again, and reported. If a line cannot be written, `append` and every later call of it raise:
nothing acts on what was not logged.

Source: toy-pseudo-axion, Audit log hashing rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, Severity, code
from specledger.core.digest import sha256_hex
from specledger.core.disk import begins_like
from specledger.core.entries import Entries, Mode, entry_hash, mode_of
from specledger.evidence.append_file import AppendFile, Busy, NotPlain

MAX_ENTRY: Final = 4_194_304
"""Bytes of a line at most, its newline included: more than any schema-valid entry has."""
MOST_TORN: Final = 2 * MAX_ENTRY
"""Bytes at most that may be cut off."""

E_AUDIT_BUSY = code("E_AUDIT_BUSY", "another process writes this audit log")
E_AUDIT_UNWRITABLE = code("E_AUDIT_UNWRITABLE", "the audit log cannot be written")
E_AUDIT_FOREIGN = code("E_AUDIT_FOREIGN", "the file is no audit log that can be continued")
E_AUDIT_ENTRY = code("E_AUDIT_ENTRY", "the entry cannot be appended to this log")
W_AUDIT_TORN = code("W_AUDIT_TORN", "the last line of the audit log was torn")


class AuditLog:
    """One audit log, open for one writer. Use as a context manager, or call `close`.

    A torn line that was cut off is warned of in `findings`.
    """

    def __init__(self, path: Path, mode: Mode, accepts: Callable[[object], bool]) -> None:
        """Open or make a log whose folder exists, take its lock, and cut off a torn last line."""
        self.path = path
        self.mode = mode
        self.head = GENESIS
        self.written = 0
        self.findings: tuple[Diagnostic, ...] = ()
        self._accepts = accepts
        with self._writing():
            self._file = self._open()
            try:
                self._continue(self._file)
            except BaseException:
                self.close()
                raise

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write one entry; when this returns, the action that it describes may be executed.

        Raises:
            Rejected: E_AUDIT_ENTRY, after which the log can still be appended to; E_AUDIT_UNWRITABLE, after which it
                cannot.
        """
        self._refuse_closed()
        line = self._line(entry)
        with self._writing():
            self._file.append(line, sync=self.mode is Mode.LIVE)
        self.head = entry["entry_hash"]
        self.written += 1

    def sync(self) -> None:
        """Force what was appended to the disk: at the end of each episode."""
        self._refuse_closed()
        with self._writing():
            self._file.sync()

    def close(self) -> None:
        """Close the log and release its lock."""
        self._file.close()

    def _refuse_closed(self) -> None:
        if self._file.closed:
            raise Rejected([Diagnostic(E_AUDIT_UNWRITABLE, f"{self.path} is closed")])

    def _open(self) -> AppendFile:
        try:
            return AppendFile(self.path, wait=False)
        except Busy:
            message = f"another process is writing {self.path}"
            raise Rejected([Diagnostic(E_AUDIT_BUSY, message)]) from None
        except NotPlain:
            raise Rejected([Diagnostic(E_AUDIT_FOREIGN, f"{self.path} is no plain file")]) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _line(self, entry: Mapping[str, Any]) -> bytes:
        """The line of an entry that may come next."""
        if not self._accepts(entry):
            raise self._refused("it does not fit the schema of an entry")
        if mode_of(entry) is not self.mode:
            raise self._refused(f"it does not tell the mode {self.mode}")
        if entry["prev_entry_hash"] != self.head:
            raise self._refused("it does not follow the last entry")
        try:
            line = canonical_bytes(entry) + b"\n"
        except NotCanonical as error:
            raise self._refused(str(error)) from None
        own = f'"entry_hash":"{entry["entry_hash"]}",'.encode()  # no member before it holds one, by the schema
        if sha256_hex(line[:-1].replace(own, b"", 1)) != entry["entry_hash"]:
            raise self._refused("its hash is wrong")
        if len(line) > MAX_ENTRY:
            raise self._refused(f"it has {len(line)} bytes, more than {MAX_ENTRY}")
        return line

    def _continue(self, file: AppendFile) -> None:
        """Read the last entry, and cut off a torn line."""
        whole = file.whole
        if file.size - whole > MOST_TORN:
            raise self._foreign("it has no line that could be an entry")
        torn = file.read(whole)
        if whole:
            self.head = self._last(file.read(max(0, whole - MAX_ENTRY - 1), whole))
        elif not begins_like(torn, _OPENING):
            raise self._foreign("it has no line that could be an entry")
        if torn:
            file.cut(whole)
            message = f"{len(torn)} bytes (SHA-256 {sha256_hex(torn)}) were cut off the end of {self.path}"
            self.findings = (Diagnostic(W_AUDIT_TORN, message, severity=Severity.WARNING),)

    def _last(self, lines: bytes) -> str:
        """The hash of the last entry of lines."""
        line = lines[lines.rfind(b"\n", 0, -1) + 1 : -1]
        try:
            entry: Any = parse_canonical(line, limit=MAX_ENTRY)
        except NotCanonical:
            raise self._foreign("its last line is no entry") from None
        if not self._accepts(entry) or entry_hash(entry) != entry["entry_hash"]:
            raise self._foreign("its last line is no entry with a right hash")
        hashed: str = entry["entry_hash"]
        return hashed

    def _refused(self, why: str) -> Rejected:
        return Rejected([Diagnostic(E_AUDIT_ENTRY, f"the entry is not appended to {self.path}: {why}")])

    def _foreign(self, why: str) -> Rejected:
        return Rejected([Diagnostic(E_AUDIT_FOREIGN, f"{self.path} cannot be continued: {why}")])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Report errors of the operating system as diagnostics."""
        try:
            yield
        except OSError as error:
            message = f"cannot write {self.path}: {error.strerror or error}"
            raise Rejected([Diagnostic(E_AUDIT_UNWRITABLE, message)]) from error


_OPENING: Final = b'{"capability_tokens":['
"""How the canonical form of every entry begins."""


def record(
    path: Path, mode: Mode, accepts: Callable[[object], bool], event: str, **facts: Any
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Append one entry to a log whose writer has ended, and force it to the disk; also gives `AuditLog.findings`."""
    with AuditLog(path, mode, accepts) as log:
        entry = Entries(mode, log.head).seal(event, **facts)
        log.append(entry)
        log.sync()
        return entry, log.findings
