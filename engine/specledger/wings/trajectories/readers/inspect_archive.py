"""The reader of Inspect AI's own archives (`.eval`): its package reads them, and their samples are read as its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import BadZipFile, ZipFile

from specledger.core.diagnostics import Diagnostics
from specledger.pipeline.checking import annotated
from specledger.wings.trajectories.findings import E_LOG_FILE, E_LOG_FORMAT, E_LOG_SIZE
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import MAX_DOCUMENT, Source

_MAGIC: Final = b"PK\x03\x04"
_ANNOTATION: Final = "inspect_archive"
"""The shipped format with this annotation reads the JSON of an archive."""
_MOST_MEMBERS: Final = 100_000
_PACKAGE: Final = (
    "an archive of Inspect AI is read by its package, the extra `inspect`; "
    "`inspect log convert --to json` writes it as JSON, which a format of `spec ls format` reads"
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
    with TemporaryDirectory() as folder:
        document = Path(folder, "log.json")
        try:
            document.write_text(_as_json(source.path), encoding="utf-8")
        except ImportError:
            finding = Finding(E_LOG_FORMAT, _PACKAGE)
        except Exception as error:
            finding = Finding(E_LOG_FILE, f"Inspect AI does not read the archive: {type(error).__name__}")
        if finding is not None:
            yield Trajectory(source.name, source.name, INSPECT.name, (finding,))
            return
        reader = compile_format(annotated("format", _ANNOTATION).main, Diagnostics())
        yield from reader.read(Source(document, source.name))


def _refused(path: Path) -> Finding | None:
    """Why an archive is not read: it is none, or holds too much."""
    try:
        with ZipFile(path) as archive:
            members = archive.infolist()
    except (BadZipFile, OSError):
        return Finding(E_LOG_FILE, "the archive is damaged")
    size = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS or size > MAX_DOCUMENT:
        return Finding(E_LOG_SIZE, f"an archive of {size} bytes, more than {MAX_DOCUMENT}, is not read")
    return None


def _as_json(path: Path) -> str:
    """The log as its JSON, without events, which say again what its messages say."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - an extra of 300 MB

    log = read_eval_log(str(path), resolve_attachments=True)
    for sample in log.samples or ():
        sample.events = []
    text: str = log.model_dump_json(exclude_none=True)
    return text


INSPECT: Final = Reader("inspect", lambda record: False, _read)
