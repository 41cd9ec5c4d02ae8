"""The reader of canonical lines, as `spec import` and evidence have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.wings.trajectories.findings import MalformedLine
from specledger.wings.trajectories.lines import FORMAT, MAX_LINE, read_lines
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import Source


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and record.get("format") == FORMAT


def _read(source: Source) -> Iterator[Trajectory]:
    """The trajectories as they were written; a malformed line ends the reading with a finding."""
    with source.path.open("rb") as file:
        try:
            yield from read_lines(iter(lambda: file.readline(MAX_LINE + 2), b""))
        except MalformedLine as error:
            finding = Finding(error.code, error.message, error.line)
            yield Trajectory(source.name, source.name, "canonical", (finding,))


CANONICAL: Final = Reader("canonical", _recognises, _read)
