"""The reader of Inspect AI's logs, `.eval` or JSON: its package reads them, and a format reads their samples."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from pydantic_core import to_json

from specledger.core.canonical import E_CANON_SIZE, NotCanonical
from specledger.core.diagnostics import Diagnostics
from specledger.core.log_json import parse_log_json
from specledger.core.volume import volume
from specledger.pipeline.checking import annotated
from specledger.wings.trajectories.findings import E_LOG_FILE, E_LOG_FORMAT, E_LOG_SIZE
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.inspect_events import with_events
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import MAX_DOCUMENT, MAX_VOLUME, Record, Source

_MAGIC: Final = b"PK\x03\x04"
_ANNOTATION: Final = "inspect_archive"
"""The shipped format with this annotation reads the JSON of an archive."""
_READ: Final = (
    *("event", "span_id", "parent_id", "type", "name", "id"),
    *("function", "arguments", "result", "error", "message_id", "output"),
)
_SAMPLES: Final = "samples/"
"""What the names of the members begin with that hold a sample each."""
_MOST_MEMBERS: Final = 100_000
_MOST_MEMORY: Final = 190_000_000
"""Bytes of memory, about, that the package may take for a sample, or for what is beside the samples."""
_UNIT: Final = 130  # bytes of memory for each unit of volume (`core.volume`): more than a reader of JSON takes
_COPIES: Final = 3  # of each text
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
    records: Iterator[Record | Finding] = iter(())
    if finding is None:
        try:
            records = _opened(source.path)
        except ImportError:
            finding = Finding(E_LOG_FORMAT, _PACKAGE)
        except Exception as error:
            finding = _unread(error)
    if finding is not None:
        yield Trajectory(source.name, source.name, INSPECT.name, (finding,))
        return
    reader = compile_format(annotated("format", _ANNOTATION).main, Diagnostics())
    yield from reader.read(source.holding(records))


def _unread(error: Exception) -> Finding:
    """What says why a log or a sample is not read."""
    if isinstance(error, NotCanonical):
        return Finding(E_LOG_SIZE, f"too large: {error.message}")
    return Finding(E_LOG_FILE, f"Inspect AI does not read the log: {type(error).__name__}")


def _refused(path: Path) -> Finding | None:
    """Why a log is not read: it is a damaged archive, or holds too much beside its samples."""
    size, alone = path.stat().st_size, is_archive(path)
    try:
        if alone:
            sizes = _sizes(path)
            if len(sizes) > _MOST_MEMBERS:
                message = f"an archive of {len(sizes)} members, more than {_MOST_MEMBERS}, is not read"
                return Finding(E_LOG_SIZE, message)
            size = sum(size for name, size in sizes.items() if not name.startswith(_SAMPLES))
        if size > MAX_DOCUMENT:
            return Finding(E_LOG_SIZE, f"a log of {size} bytes, more than {MAX_DOCUMENT}, is not read")
        memory = sum(_memory(path, lambda name: not name.startswith(_SAMPLES))) if alone else _takes(path.read_bytes())
    except (BadZipFile, OSError, EOFError, zlib.error, NotImplementedError):
        return Finding(E_LOG_FILE, "the archive is damaged")
    if memory > _MOST_MEMORY:
        return Finding(
            E_LOG_SIZE, f"a log that takes about {memory} bytes of memory, more than {_MOST_MEMORY}, is not read"
        )
    return None


def _memory(path: Path, wanted: Callable[[str], bool]) -> Iterator[int]:
    """The memory that the members of an archive take whose names are wanted."""
    with ZipFile(path) as archive:
        for member in archive.infolist():
            if wanted(member.filename):
                yield _takes(archive.read(member))


@lru_cache(maxsize=1)
def _of_any_sample(path: Path) -> int:
    """The most that a sample of an archive takes, where it is not known by its name."""
    return max(_memory(path, lambda name: name.startswith(_SAMPLES)), default=0)


def _takes(document: bytes) -> int:
    """The bytes of memory, about, that the package takes for a document."""
    width = 4 if document.translate(None, bytes(range(0xF0))) or b"\\ud" in document else 2
    if width == 2 and not document.translate(None, bytes(range(0xC4))):
        width = 1  # bytes of a character: a text has as many for each as for the widest
    return _UNIT * volume(document) + _COPIES * width * len(document)


def _sizes(path: Path) -> dict[str, int]:
    """The sizes of an archive's members, of several with one name that of the largest."""
    sizes: dict[str, int] = {}
    with ZipFile(path) as archive:
        for member in archive.infolist():
            sizes[member.filename] = max(member.file_size, sizes.get(member.filename, 0))
    return sizes


def _opened(path: Path) -> Iterator[Record | Finding]:
    """The records of a log, whose head is read at once; of an archive one sample is in memory at a time."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries  # noqa: PLC0415 - an extra of 300 MB

    alone = is_archive(path)
    log = read_eval_log(str(path), header_only=alone, resolve_attachments=True)
    head = log.model_dump(mode="json", exclude_none=True, include={"status", "error", "eval"})
    if not alone:
        return _records(head, iter(log.samples or ()))
    return _records(head, map(partial(_sample, path, _sizes(path)), read_eval_log_sample_summaries(str(path))))


def _sample(path: Path, sizes: dict[str, int], summary: Any) -> Any:
    from inspect_ai.log import read_eval_log_sample  # noqa: PLC0415 - an extra of 300 MB

    name = f"{_SAMPLES}{summary.id}_epoch_{summary.epoch}.json"
    own = sizes.get(name)
    size = max(sizes.values()) if own is None else own
    if size > MAX_DOCUMENT:
        raise NotCanonical(E_CANON_SIZE, "$", f"a sample of {size} bytes, more than {MAX_DOCUMENT}")
    memory = _of_any_sample(path) if own is None else max(_memory(path, name.__eq__))
    if memory > _MOST_MEMORY:
        message = f"a sample that takes about {memory} bytes of memory, more than {_MOST_MEMORY}"
        raise NotCanonical(E_CANON_SIZE, "$", message)
    return read_eval_log_sample(str(path), summary.id, summary.epoch, resolve_attachments=True)


def _records(head: dict[str, Any], samples: Iterator[Any]) -> Iterator[Record | Finding]:
    """A record of each sample, the first with what is of the whole log; a finding in place of one that is not read."""
    while True:
        try:
            sample = next(samples, None)
            if sample is None:
                break
            form = to_json({**head, "samples": list(_with_attempts(sample))})
            record = Record(parse_log_json(form, most=MAX_VOLUME), 0)
        except Exception as error:
            yield _unread(error)
            continue
        yield record
        head = {}
    if head:
        yield Record(parse_log_json(to_json({**head, "samples": []}), most=MAX_VOLUME), 0)


def _with_attempts(sample: Any) -> Iterator[dict[str, Any]]:
    """A sample as its JSON, with what only events hold among the messages, after the attempts at it that failed."""
    events = [_slim(event) for event in sample.events]
    attempts = [
        {"message": attempt.message, "events": [_slim(event, "input") for event in attempt.events or ()]}
        for attempt in sample.error_retries or ()
    ]
    rest = sample.model_dump(mode="json", exclude_none=True, exclude={"events", "error_retries", "store"})
    yield from with_events({**rest, "events": events, "error_retries": attempts})


def _slim(event: Any, *more: str) -> Any:
    """What is read of an event; that of a model repeats all that it was given."""
    return event.model_dump(mode="json", exclude_none=True, include={*_READ, *more})


def _recognises(record: Any) -> bool:
    """Whether a record is a log that is one JSON document."""
    return isinstance(record, dict) and isinstance(record.get("eval"), dict) and "status" in record and "plan" in record


INSPECT: Final = Reader("inspect", _recognises, _read)
