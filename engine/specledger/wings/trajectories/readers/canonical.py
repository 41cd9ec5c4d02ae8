"""The reader of canonical lines, as `spec import` and evidence have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from msgspec.structs import replace

from specledger.wings.trajectories.findings import MalformedLine
from specledger.wings.trajectories.lines import FORMAT, MAX_LINE, read_lines
from specledger.wings.trajectories.model import Entry, Finding, Kept, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import stamp_of

_PIECE: Final = 1 << 20


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and record.get("format") == FORMAT


def _read(source: Source) -> Iterator[Trajectory]:
    """The trajectories as they were written; a malformed line ends the reading with a finding."""
    with source.path.open("rb") as file:
        try:
            yield from map(_stamped, read_lines(_lines(file)))
        except MalformedLine as error:
            finding = Finding(error.code, error.message, error.line)
            yield Trajectory(source.name, source.name, "canonical", (finding,))


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines; of one beyond MAX_LINE the beginning, which has a byte too many."""
    while line := file.readline(MAX_LINE + 2):
        yield line
        rest = line if len(line) > MAX_LINE + 1 else b"\n"
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_PIECE)


def _stamped(trajectory: Trajectory) -> Trajectory:
    """A trajectory whose time stamps are in microseconds, as older lines do not have them."""
    if not any(type(getattr(entry, "time", 0)) is str and getattr(entry, "time", "") for entry in trajectory.entries):
        return trajectory
    return replace(trajectory, entries=tuple(map(_entry_stamped, trajectory.entries)))


def _entry_stamped(entry: Entry) -> Entry:
    return entry if isinstance(entry, Finding | Kept) else replace(entry, time=stamp_of(entry.time))


CANONICAL: Final = Reader("canonical", _recognises, _read)
