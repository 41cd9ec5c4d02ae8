"""Files of logs as readers see them: records with the number of their line, whatever the file holds.

A record is a JSON value: a line of JSON lines, or the whole file where it is one document. What is no record is a
finding in its place. Lines are read one by one; a document is read whole, within a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import E_CANON_DEPTH, NotCanonical
from specledger.core.disk import BUFFER
from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.findings import E_LOG_FILE, E_LOG_JSON, E_LOG_SIZE
from specledger.wings.trajectories.model import Finding

MAX_LINE: Final = 16 << 20
"""The most bytes of a line of JSON lines."""
MAX_DOCUMENT: Final = 32 << 20
"""The most bytes of a file that is one JSON document."""
MAX_VOLUME: Final = 2 << 20
"""The most volume (`core.volume`) of a line or a document."""
_LOOKED_AT: Final = 20
"""Lines by which a format is recognised."""
_PIECE: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"


class Record(Struct, frozen=True):
    """A JSON value of a log, and its line: from 1, or 0 where the file is one document."""

    value: Any
    line: int


class Source:
    """A log: its path, the name that it is given in trajectories, and its records.

    Attributes:
        companions: Logs that are read with it, such as those of its subagents.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.companions: list[Source] = []
        self._document: Record | Finding | None = None
        self._decided = False
        self._held: Iterable[Record | Finding] | None = None

    def holding(self, records: Iterable[Record | Finding]) -> Source:
        """The log, as the records that another program reads of it."""
        read = Source(self.path, self.name)
        read._held = records
        return read

    def sample(self) -> list[Record]:
        """The first records, by which a format is recognised."""
        records = []
        for record in self.records():
            if isinstance(record, Record):
                records.append(record)
            if len(records) >= _LOOKED_AT or (isinstance(record, Finding) and record.line > _LOOKED_AT):
                break
        return records

    def records(self) -> Iterator[Record | Finding]:
        """The records in order, and a finding where something is none."""
        if self._held is not None:
            yield from self._held
            return
        if not self._decided:
            self._document = self._read_document()
            self._decided = True
        if self._document is not None:
            yield self._document
        else:
            yield from self._lines()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers, each with its newline; one beyond MAX_LINE is cut and keeps a byte too many."""
        with self.path.open("rb", BUFFER) as file:
            number = 0
            while line := file.readline(MAX_LINE + 2):
                number += 1
                yield number, line
                rest = line if len(line) > MAX_LINE else b"\n"
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(_PIECE)  # the rest of a long line is passed over

    def _lines(self) -> Iterator[Record | Finding]:
        blank = True
        for number, line in self.lines():
            text = line.removeprefix(_BOM) if number == 1 else line
            if text.isspace() or not text:
                continue
            blank = False
            if len(line) > MAX_LINE + 1:
                yield Finding(E_LOG_SIZE, f"a line of more than {MAX_LINE} bytes is not read", number)
                continue
            yield _record(text, number)
        if blank:
            yield Finding(E_LOG_FILE, "there is nothing in the file")

    def _read_document(self) -> Record | Finding | None:
        """The document that the file is; a finding if it begins as one and is none; None if it consists of lines."""
        first = self._first_line()
        if first is None or not first.lstrip().startswith((b"{", b"[")):
            return None
        alone = isinstance(_record(first, 1), Record)
        size = self.path.stat().st_size
        if alone:
            return None if self._has_more() else _record(first, 0)
        if first.strip() not in {b"{", b"["} and not _opens(first):
            return None
        if size > MAX_DOCUMENT:
            return Finding(E_LOG_SIZE, f"a document of {size} bytes, more than {MAX_DOCUMENT}, is not read")
        return _record(self.path.read_bytes().removeprefix(_BOM), 0)

    def _first_line(self) -> bytes | None:
        return next((line.removeprefix(_BOM) for _, line in self.lines() if line.strip(_BOM + b" \t\r\n")), None)

    def _has_more(self) -> bool:
        """Whether a second line holds anything."""
        return sum(1 for _ in zip(range(2), (line for _, line in self.lines() if line.strip()), strict=False)) == 2


def _opens(line: bytes) -> bool:
    """Whether a line that is no JSON may begin a document of several lines: it ends where JSON can be broken."""
    return line.rstrip().endswith((b"{", b"[", b",", b":"))


def _record(data: bytes, line: int) -> Record | Finding:
    """The value of a line or a document, or why it has none."""
    try:
        return Record(parse_log_json(data, most=MAX_VOLUME), line)
    except NotCanonical as error:
        small = "nested too deeply" if error.code == E_CANON_DEPTH else "too large"
        return Finding(E_LOG_SIZE, f"{small}: {error.message}", line)
    except ValueError as error:
        return Finding(E_LOG_JSON, str(error), line)
