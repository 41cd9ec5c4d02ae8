"""The canonical lines of a recording: written from logs into the evidence, and read from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Actor, PlannedRecording
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.disk import BUFFER, write_parts
from specledger.core.spans import Span
from specledger.evidence.recordings import recording_digest
from specledger.load import Resolved
from specledger.spec.agent import Recording
from specledger.wings.trajectories.formats.names import reader_named
from specledger.wings.trajectories.lines import read_lines, write_lines
from specledger.wings.trajectories.model import Call, Trajectory
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.called import Called

E_LOG_ABSENT = code("E_LOG_ABSENT", "there is no log where an agent is recorded")


class Parts(Struct, frozen=True):
    """What a recording needs once its logs were read.

    Attributes:
        make: Makes a controller of an actor from its trajectories.
        rules: What the first receipt states of each rule, by the tools that the logs call.
    """

    make: Callable[[Actor, Iterator[Trajectory]], Any]
    rules: Callable[[Called], tuple[dict[str, Any], ...]]


MOST_LOGS: Final = 100_000


def logs_of(agent: Resolved, recording: Recording) -> list[Path]:
    """The logs that an agent names, in the order of their names.

    Raises:
        Rejected: E_LOG_ABSENT: it names none, or a pattern has no file.
    """
    span = agent.span("trajectories")
    if not recording.files:
        raise _absent(f"{agent.name} names no files", span, "name logs with --trajectories, or as its `files`")
    logs: set[Path] = set()
    folder = project_of(_file_of(agent))
    for index, pattern in enumerate(recording.files):
        at = agent.span("trajectories", "files", index)
        files = [path for path in folder.glob(pattern) if _is_inside(path, folder)]
        if not files:
            raise _absent(f"no file matches {pattern!r} in {folder}", at, "patterns are as in a shell")
        logs.update(files)
    if len(logs) > MOST_LOGS:
        raise _absent(f"{len(logs)} files match, more than {MOST_LOGS}", span, "name fewer")
    return sorted(logs)


def _file_of(agent: Resolved) -> Path:
    """The file that says where the logs are: the one that `files` stand in, or the agent's where they were changed."""
    written = (agent.span(*path).file for path in _PLACES if path in agent.origins)
    return next(file for name in written if (file := Path(name)).is_file())


_PLACES: Final = (("trajectories", "files"), ("trajectories",), ("name",))


def project_of(spec: Path) -> Path:
    """The folder that the logs of an agent are relative to: above `specs/agent/`, where the spec lies there."""
    folder = spec.parent
    for name in ("agent", "specs"):
        folder = folder.parent if folder.resolve().name == name else folder
    return folder


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to something below a folder: no link leads out of it."""
    return path.resolve().is_relative_to(folder.resolve())


def _absent(message: str, span: Span, hint: str) -> Rejected:
    return Rejected([Diagnostic(E_LOG_ABSENT, message, span, hint=hint)])


def store(
    planned: PlannedRecording, logs: Sequence[Path], format_: str | None, path: Path, parts: Parts
) -> PlannedRecording:
    """Write the canonical lines of logs to a path, and give the recording of these lines."""
    reader, heard = None if format_ is None else reader_named(format_), _Heard()
    write_parts(path, write_lines(heard.listen(read_logs(logs, reader))))
    return _recording(planned, path, parts, heard)


def read(planned: PlannedRecording, path: Path, parts: Parts) -> PlannedRecording:
    """The recording of canonical lines.

    Raises:
        MalformedLine: A line is not what stands there.
    """
    heard = _Heard()
    with path.open("rb", BUFFER) as file:
        for _ in heard.listen(read_lines(file)):
            pass
    return _recording(planned, path, parts, heard)


class _Heard:
    """What is known of logs once they were read: the calls of each trajectory, and the tools that they call."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.called = Called()

    def listen(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """The trajectories, each heard before it is given."""
        for trajectory in trajectories:
            calls = [entry for entry in trajectory.entries if type(entry) is Call]
            self.lengths.append(len(calls))
            for call in calls:
                self.called.hear(call)
            yield trajectory


def _recording(planned: PlannedRecording, path: Path, parts: Parts, heard: _Heard) -> PlannedRecording:
    return replace(
        planned,
        rules=parts.rules(heard.called),
        lengths=tuple(heard.lengths),
        digest=recording_digest(path),
        controller=lambda actor: parts.make(actor, _trajectories(path)),
    )


def _trajectories(path: Path) -> Iterator[Trajectory]:
    with path.open("rb", BUFFER) as file:
        yield from read_lines(file, checked=True)
