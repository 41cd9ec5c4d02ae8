"""Reading logs: which files, in which order, and by which reader. A format is recognised by content, never by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from specledger.core.diagnostics import counted
from specledger.wings.trajectories.findings import E_LOG_FILE, E_LOG_FORMAT, E_LOG_MESSAGE
from specledger.wings.trajectories.model import GUARDED, Finding, Message, Speaker, Trajectory
from specledger.wings.trajectories.readers.atif import ATIF
from specledger.wings.trajectories.readers.canonical import CANONICAL
from specledger.wings.trajectories.readers.claude_code import CLAUDE_CODE
from specledger.wings.trajectories.readers.inspect_archive import INSPECT, is_archive
from specledger.wings.trajectories.readers.mcp import MCP
from specledger.wings.trajectories.readers.openai import OPENAI
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.readers.spans import OPENINFERENCE, OTLP
from specledger.wings.trajectories.readers.subagent_files import with_subagents
from specledger.wings.trajectories.source import Record, Source

READERS: Final[Mapping[str, Reader]] = {
    reader.name: reader for reader in (CANONICAL, ATIF, CLAUDE_CODE, MCP, OPENINFERENCE, OTLP, OPENAI, INSPECT)
}
"""The readers by the names of their formats, in the order in which they are asked."""


def read_logs(paths: Sequence[Path], format: str | Reader | None = None) -> Iterator[Trajectory]:  # noqa: A002
    """The trajectories of logs, one in memory at a time, with ids that differ.

    Args:
        paths: Files, or folders of which all files are logs; they are read in the order of their names.
        format: The name of a format, or its reader; None if each file is to be recognised by its content.

    Raises:
        KeyError: There is no format of this name.
    """
    reader = READERS[format] if isinstance(format, str) else format
    times: dict[str, int] = {}
    for source in with_subagents(_files(paths)):
        for trajectory in _read_file(source, reader):
            times[trajectory.id] = times.get(trajectory.id, 0) + 1
            if times[trajectory.id] == 1:
                yield trajectory
                continue
            fresh = f"{trajectory.id}#{times[trajectory.id]}"
            times.setdefault(fresh, 1)
            yield replace(trajectory, id=fresh)


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The files with the names that trajectories give them."""
    for path in sorted(paths):
        if not path.is_dir():
            yield path, path.name
            continue
        for file in sorted(path.rglob("*")):
            if not file.is_dir():
                yield file, file.relative_to(path).as_posix()


def _read_file(source: Source, reader: Reader | None) -> Iterator[Trajectory]:
    """The trajectories of one file; a finding of its own if it gives none."""
    try:
        if not source.path.is_file():
            yield _refusal(source, Finding(E_LOG_FILE, "this is no file that can be read"))
            return
        if is_compressed(source.path):
            yield _refusal(source, Finding(E_LOG_FILE, "the file is compressed: unpack it first"))
            return
        chosen = reader or (INSPECT if is_archive(source.path) else recognise(source))
        if isinstance(chosen, Finding):
            yield _refusal(source, chosen)
            return
        empty = True
        for trajectory in chosen.read(source):
            empty = False
            yield trajectory
        if empty:
            yield _refusal(source, Finding(E_LOG_FILE, "there is no trajectory in the file"), chosen.name)
    except OSError as error:
        yield _refusal(source, Finding(E_LOG_FILE, f"the file cannot be read: {error.strerror or 'unknown error'}"))


def knows_request(trajectory: Trajectory) -> bool:
    """Whether what the agent was asked is recorded: a guard was told all messages, and logs of chats have them all.

    Traces may have answers without requests, so there a user's message says so. A message that cannot be read may hold
    what a rule looks for.
    """
    if trajectory.format == GUARDED:
        return True
    reader = READERS.get(trajectory.format)
    needs_user, asked = reader is not None and reader.is_of_traces, False
    for entry in trajectory.entries:
        if type(entry) is Message:
            asked = asked or not needs_user or (entry.speaker is Speaker.USER and not entry.actor)
        elif type(entry) is Finding and entry.code == E_LOG_MESSAGE:
            return False
    return asked


def is_compressed(path: Path) -> bool:
    """Whether a file is of gzip, xz, Zstandard or bzip2, by its first bytes."""
    with path.open("rb") as file:
        return file.read(6).startswith((b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"BZh"))


def recognise(source: Source) -> Reader | Finding:
    """The reader of a log, by its first records; a finding if no reader knows it."""
    records = source.sample()
    for record in records:
        for reader in READERS.values():
            if reader.recognises(record.value):
                return reader
    first = next(iter(source.records()))
    if not records and isinstance(first, Finding):
        return first
    known = ", ".join(READERS)
    number = counted(len(records), "record")
    own = "`--format` names one, and `spec new format` begins one of your own"
    message = f"none of the first {number} is of a known format: {known}; {own}"
    return Finding(E_LOG_FORMAT, message, first.line if isinstance(first, Record) else 0)


def _refusal(source: Source, finding: Finding, format_: str = "") -> Trajectory:
    return Trajectory(source.name, source.name, format_, (finding,))
