"""The digest of a recording: which logs were judged, whatever their files are called.

It is SHA-256 of the canonical lines that evidence holds, in the order in which they are judged. Of the line that begins
a trajectory it covers the format and the id alone, and no id that is the name of the file, or that name and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.digest import Digesting
from specledger.core.disk import BUFFER
from specledger.evidence.layout import TRAJECTORIES

BEGINNING: Final = b'{"trajectory":'
"""How a line begins that begins a trajectory."""
_HEAD: Final = frozenset({"file", "format", "id"})
_NUMBERS: Final = re.compile(r"(:[0-9]+)?(#[0-9]+)?")


def recording_digest(path: Path) -> str:
    """The digest of the recording in a file of canonical lines.

    Raises:
        OSError: It cannot be read.
    """
    digesting = Digesting(judged_line)
    with path.open("rb", BUFFER) as lines:
        for _ in digesting.listen(lines):
            pass
    return digesting.digest()


def judged_line(line: bytes) -> bytes:
    """What the digest covers of a canonical line."""
    if not line.startswith(BEGINNING):
        return line
    try:
        record = parse_canonical(line.removesuffix(b"\n"))
    except NotCanonical:  # it is refused where lines are read
        return line
    head = record.get("trajectory") if isinstance(record, dict) else None
    if not isinstance(head, dict) or head.keys() != _HEAD or not all(type(text) is str for text in head.values()):
        return line
    return canonical_bytes({"trajectory": _without_file(head)}) + b"\n"


def _without_file(head: Mapping[str, Any]) -> dict[str, str]:
    """The beginning of a trajectory without the name of its file; an id that has another source stays."""
    own, file = head["id"], head["file"]
    named = own.startswith(file) and _NUMBERS.fullmatch(own, len(file))
    return {"format": head["format"]} if named else {"format": head["format"], "id": own}


def log_digests(listed: Mapping[str, str]) -> list[str]:
    """The digests of the files of canonical lines, each once; `listed` are the digests of all files by their paths."""
    return sorted({digest for path, digest in listed.items() if is_log(path)})


def recordings_of(folder: Path, listed: Iterable[str]) -> dict[str, str]:
    """The digests of the recordings in a bundle by their paths; `listed` are the paths of its files."""
    return {path: recording_digest(folder / path) for path in listed if is_log(path)}


def recordings_by_run(recordings: Mapping[str, str]) -> dict[str, str]:
    """The digests of the recordings of a suite's own runs, by the names of these runs; empty of a run alone."""
    return {path.split("/")[1]: digest for path, digest in sorted(recordings.items()) if path.startswith("runs/")}


def is_log(path: str) -> bool:
    """Whether the file at a path in a bundle is that of the trajectories of a run."""
    return path.rpartition("/")[2] == TRAJECTORIES
