"""What is at a place where a bundle is to be written: nothing, an earlier bundle, or something else.

Only its form is looked at; nothing is verified.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from specledger.core.canonical import LINE_LIMIT, NotCanonical, parse_canonical
from specledger.evidence.archive import SUFFIX, InvalidArchive, read_member
from specledger.evidence.layout import (
    ATTACHED,
    ATTESTATION,
    CHECKPOINT,
    COUNTEREXAMPLES,
    FOLDERS,
    FORMAT,
    MANIFEST,
    MORE,
    PROVENANCE,
    RECEIPTS,
    SOURCES,
    SPECS,
    TIMESTAMP,
    is_counterexample,
    is_source,
)

_NESTED: Final = 3  # folders inside one another in a bundle that holds others
_LISTED: Final = {SOURCES: is_source, COUNTEREXAMPLES: is_counterexample}
"""The folders of a bundle's own files, and what the path of one of these looks like."""


def replaceable(place: Path) -> bool:
    """Whether nothing is there, an empty folder, or a bundle with a manifest of this format and nothing else.

    `.` and `..` are never replaced: the working folder is created in them.
    """
    if place.name in ("", ".."):
        return False
    if not os.path.lexists(place):
        return True
    if place.is_symlink() or not place.is_dir():
        return not place.is_symlink() and place.suffix == SUFFIX and _is_archive(place)
    return not os.listdir(place) or _is_bundle(place, _NESTED, ATTACHED)


def holds_bundle(place: Path) -> bool:
    """Whether there is a bundle at a place, by its looks: a folder with a manifest, or a file."""
    return (place / MANIFEST).exists() or place.is_file()


def covers_of(place: Path) -> frozenset[str]:
    """What signs or stamps the bundle at a place, by the names of the files; empty if no bundle can be read there."""
    names = (CHECKPOINT, ATTESTATION, PROVENANCE, TIMESTAMP)
    try:
        if place.is_file():
            return frozenset(name for name in names if read_member(place, name, LINE_LIMIT) is not None)
    except (InvalidArchive, OSError):
        return frozenset()
    return frozenset(name for name in names if os.path.lexists(place / name))


def _is_archive(place: Path) -> bool:
    """Whether a file is an archive with a manifest."""
    try:
        return _is_manifest(read_member(place, MANIFEST, LINE_LIMIT + 1) or b"")
    except InvalidArchive:
        return False


def _is_bundle(place: Path, depth: int, attached: Sequence[str] = ()) -> bool:
    """Whether a folder holds a bundle's own files and, in the folders of a suite, nothing but bundles."""
    with os.scandir(place) as entries:
        plain = {entry.name: entry.is_file(follow_symlinks=False) for entry in entries}
        folders = [name for name in plain if (place / name).is_dir() and not (place / name).is_symlink()]
    files = plain.keys() - set(folders)
    ours = {MANIFEST} <= files <= {MANIFEST, RECEIPTS, SPECS, *MORE, *attached} and all(plain[name] for name in files)
    return (
        ours
        and set(folders) <= FOLDERS | _LISTED.keys()
        and _has_manifest(place)
        and all(_LISTED[name](path) for name in _LISTED.keys() & folders for path in _paths(place / name, name))
        and all(_holds_bundles(place / name, depth - 1) for name in FOLDERS.intersection(folders))
    )


def _paths(folder: Path, path: str, depth: int = 2) -> Iterator[str]:
    """The paths of the files in a folder and in those inside it; an empty one for what is neither, and for no file."""
    with os.scandir(folder) as entries:
        inside = list(entries)
    for entry in inside:
        if depth and entry.is_dir(follow_symlinks=False):
            yield from _paths(folder / entry.name, f"{path}/{entry.name}", depth - 1)
        else:
            yield f"{path}/{entry.name}" if entry.is_file(follow_symlinks=False) else ""
    if not inside:
        yield ""


def _holds_bundles(folder: Path, depth: int) -> bool:
    return depth >= 0 and all(
        inner.is_dir() and not inner.is_symlink() and (_is_bundle(inner, 0) or _holds_bundles(inner, depth - 1))
        for inner in folder.iterdir()
    )


def _has_manifest(place: Path) -> bool:
    with (place / MANIFEST).open("rb") as file:
        return _is_manifest(file.read(LINE_LIMIT + 2))


def _is_manifest(data: bytes) -> bool:
    try:
        manifest = parse_canonical(data.removesuffix(b"\n"))
    except NotCanonical:
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT
