"""The log of a conversation: hash-chained lines of what was said, called, decided and given back.

A call and the decision about it are one write, which is on the disk before the decision is answered. A torn last line,
and a call without its decision, were never answered: they are cut off when the log is opened again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from specledger.core.canonical import NotCanonical, canonical_ints, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.evidence.append_file import AppendFile, Busy, NotPlain
from specledger.evidence.chain import Chain
from specledger.wings.trajectories.lines import MAX_LINE, MAX_LINE_VOLUME
from specledger.wings.trajectories.recording.guard_log import ENTRY

E_GUARD_DIFFERS = code("E_GUARD_DIFFERS", "a decision is made otherwise than it was")
E_GUARD_LOG = code("E_GUARD_LOG", "the log of a conversation cannot be continued")

MOST_READ: Final = 64 << 20
"""Bytes of a log at most that is read again; what writes one stops long before."""


class Line(NamedTuple):
    """What a line of a log holds, and its digest."""

    type: str
    body: Mapping[str, Any]
    digest: str


class ConversationLog:
    """One log, open for one writer."""

    def __init__(self, path: Path, run: str) -> None:
        """Open or make a log of a run whose folder exists, and cut off what was never answered.

        Raises:
            Rejected: E_GUARD_LOG.
            OSError: The operating system reports an error.
        """
        if path.is_symlink():
            raise _refused(path, "it is a link")
        self.path = path
        self._chain = Chain(run)
        try:
            self._file = AppendFile(path, wait=False)
        except (Busy, NotPlain):
            raise _refused(path, "another process writes it, or it is no plain file") from None
        try:
            if self._file.size > MOST_READ:
                raise _refused(path, f"it has more than {MOST_READ} bytes")
            self.records = tuple(self._read())
        except BaseException:
            self.close()
            raise

    @property
    def run(self) -> str:
        """The run that its lines name."""
        return self._chain.run

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._file.size

    @property
    def head(self) -> str:
        """The digest of the last line."""
        return self._chain.head

    def append(self, events: Sequence[Event], *, sync: bool) -> list[str]:
        """Write lines at once, all or none, which are on the disk when this returns with `sync`; their digests.

        Raises:
            OSError: They cannot be written, and nothing can be any more.
        """
        lines, digests = [], []
        for event in events:
            lines.append(self._chain.seal(event) + b"\n")
            digests.append(self._chain.head)
        self._file.append(b"".join(lines), sync=sync)
        return digests

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> Iterator[Line]:
        """All lines that count."""
        size, waiting = 0, b""
        lines = self._file.read(0, self._file.whole).split(b"\n")[:-1]
        for line in lines:
            record = self._parsed(line)
            if self._calls(record):
                if waiting:
                    raise _refused(self.path, f"a call after line {self._chain.count} has no decision")
                waiting = line
                continue
            for each in (waiting, line) if waiting else (line,):
                parsed = self._parsed(each)
                if parsed.get("run") != self._chain.run:
                    raise differs(f"{self.path.name} is of another scenario, or of one that was changed")
                if self._chain.seal(Event(parsed["type"], parsed["body"])) != each:
                    raise _refused(self.path, f"line {self._chain.count} does not continue the one before")
                size += len(each) + 1
                yield Line(parsed["type"], parsed["body"], self._chain.head)
            waiting = b""
        if size != self._file.size:
            self._file.cut(size)

    def _parsed(self, line: bytes) -> Any:
        try:
            record: Any = parse_canonical(line, limit=MAX_LINE, most=MAX_LINE_VOLUME)
        except NotCanonical as error:
            raise _refused(self.path, f"a line is not canonical JSON: {error}") from None
        fits = type(record) is dict and type(record.get("type")) is str and type(record.get("body")) is dict
        if not fits:
            raise _refused(self.path, "a line is no record")
        return record

    @staticmethod
    def _calls(record: Mapping[str, Any]) -> bool:
        return record["type"] == ENTRY and "call" in record["body"]


def canonical_lines(lines: Sequence[Line], head: Mapping[str, str]) -> Iterator[bytes]:
    """The canonical lines of the trajectory that a log holds."""
    from specledger.wings.trajectories.lines import HEADER  # noqa: PLC0415 - needed once a conversation ends

    entries = [line.body for line in lines if line.type == ENTRY]
    yield HEADER
    for body in ({"trajectory": dict(head)}, *entries, {"end": len(entries)}):
        yield canonical_ints(body) + b"\n"


def differs(message: str) -> Rejected:
    """The finding about a conversation that this scenario did not begin."""
    hint = "end its conversation under the scenario that began it, or move its log away"
    return Rejected([Diagnostic(E_GUARD_DIFFERS, message, hint=hint)])


def _refused(path: Path, message: str) -> Rejected:
    hint = "move it away: its conversation was never sealed"
    return Rejected([Diagnostic(E_GUARD_LOG, f"{path.name}: {message}", hint=hint)])
