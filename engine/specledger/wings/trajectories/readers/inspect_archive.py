"""The reader of Inspect AI's logs, `.eval` or JSON: its package reads them, and a format reads their samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from pydantic_core import to_json

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostics
from specledger.core.log_json import parse_log_json
from specledger.pipeline.checking import annotated
from specledger.wings.trajectories.findings import E_LOG_FILE, E_LOG_FORMAT, E_LOG_SIZE
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.inspect_events import with_events
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import MAX_DOCUMENT, MAX_VOLUME, Source

_MAGIC: Final = b"PK\x03\x04"
_ANNOTATION: Final = "inspect_archive"
"""The shipped format with this annotation reads the JSON of an archive."""
_READ: Final = (
    *("event", "span_id", "parent_id", "type", "name", "id"),
    *("function", "arguments", "result", "error", "message_id", "output"),
)
_MOST_MEMBERS: Final = 100_000
_PACKAGE: Final = (
    "a log of Inspect AI is read by its package, the extra `inspect`; `inspect log convert --to json` writes it as "
    "JSON, whose messages a format of `spec ls format` reads, without what subagents did"
)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _read(source: Source) -> Iterator[Trajectory]:
    finding = _refused(source.path)
    if finding is not None:
        yield Trajectory(source.name, source.name, INSPECT.name, (finding,))
        return
    document: Any = None
    try:
        document = _document(source.path)
    except ImportError:
        finding = Finding(E_LOG_FORMAT, _PACKAGE)
    except NotCanonical as error:
        finding = Finding(E_LOG_SIZE, f"too large: {error.message}")
    except Exception as error:
        finding = Finding(E_LOG_FILE, f"Inspect AI does not read the log: {type(error).__name__}")
    if finding is not None:
        yield Trajectory(source.name, source.name, INSPECT.name, (finding,))
        return
    reader = compile_format(annotated("format", _ANNOTATION).main, Diagnostics())
    yield from reader.read(source.holding(document))


def _refused(path: Path) -> Finding | None:
    """Why a log is not read: it is a damaged archive, or holds too much."""
    members, size = 1, path.stat().st_size
    if is_archive(path):
        try:
            with ZipFile(path) as archive:
                listed = archive.infolist()
        except (BadZipFile, OSError):
            return Finding(E_LOG_FILE, "the archive is damaged")
        members, size = len(listed), sum(member.file_size for member in listed)
    if members > _MOST_MEMBERS or size > MAX_DOCUMENT:
        return Finding(E_LOG_SIZE, f"a log of {size} bytes, more than {MAX_DOCUMENT}, is not read")
    return None


def _document(path: Path) -> Any:
    """The log as its JSON, with what only events hold among the messages."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - an extra of 300 MB

    log = read_eval_log(str(path), resolve_attachments=True)
    samples: list[Any] = []
    for sample in log.samples or ():
        events = [_slim(event) for event in sample.events]
        attempts = [
            {"message": attempt.message, "events": [_slim(event, "input") for event in attempt.events or ()]}
            for attempt in sample.error_retries or ()
        ]
        rest = sample.model_dump(mode="json", exclude_none=True, exclude={"events", "error_retries", "store"})
        samples.extend(with_events({**rest, "events": events, "error_retries": attempts}))
    head = log.model_dump(mode="json", exclude_none=True, include={"status", "error", "eval"})
    return parse_log_json(to_json({**head, "samples": samples}), most=MAX_VOLUME)


def _slim(event: Any, *more: str) -> Any:
    """What is read of an event; that of a model repeats all that it was given."""
    return event.model_dump(mode="json", exclude_none=True, include={*_READ, *more})


def _recognises(record: Any) -> bool:
    """Whether a record is a log that is one JSON document."""
    return isinstance(record, dict) and isinstance(record.get("eval"), dict) and "status" in record and "plan" in record


INSPECT: Final = Reader("inspect", _recognises, _read)
