"""The files of a bundle: those that its manifest lists, unchanged, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.digest import file_digest
from specledger.evidence.layout import (
    COUNTEREXAMPLES,
    MANIFEST,
    RECEIPTS,
    SOURCES,
    SPECS,
    is_counterexample,
    is_source,
)
from specledger.verify.checks import E_FILES, Broken, agree
from specledger.verify.signed import attached

_DEPTH: Final = 2  # folders inside one another below the bundle


class Listing(Struct, frozen=True):
    """The files of a bundle by what they are, each by its path, sorted.

    Attributes:
        more: The further files that such a bundle may hold.
        sources: What its specs were resolved from.
        cases: Its failing cases.
        covers: The detached files, which the manifest does not list, in a fixed order.
        held: The places of the bundles inside this one.
    """

    more: Sequence[str] = ()
    sources: Sequence[str] = ()
    cases: Sequence[str] = ()
    covers: tuple[str, ...] = ()
    held: Sequence[str] = ()


def check_files(
    place: Path, listed: Any, files: Sequence[str] = (), folders: Collection[str] = (), *, covered: bool = True
) -> Listing:
    """Check that a bundle holds what its manifest lists, and nothing else.

    Args:
        place: The bundle.
        listed: `files` of its manifest.
        files: Names of files that it may hold beside receipts and specs.
        folders: Names of folders that hold other bundles.
        covered: Whether it may hold detached files, which the manifest does not list.

    Raises:
        Broken: E_FILES.
    """
    held = _held(place, folders)
    shape = {"path", "sha256", "size"}
    if not isinstance(listed, list) or not all(isinstance(e, dict) and e.keys() == shape for e in listed):
        raise Broken(E_FILES, "`files` lists {path, sha256, size}")
    paths = [entry["path"] for entry in listed]
    texts = [path for path in paths if isinstance(path, str)]
    sources, cases = [path for path in texts if is_source(path)], [path for path in texts if is_counterexample(path)]
    more = [name for name in files if name in texts]
    own = {RECEIPTS, SPECS, *more, *sources, *cases}
    expected = sorted({*own, *(f"{one}/{MANIFEST}" for one in held)})  # code points are in the order of bytes
    if paths != expected:
        more_listed, not_listed = {*texts} - {*expected}, {*expected} - {*texts}
        missing = {path for path in more_listed if path.partition("/")[0] in folders}
        told = _told(missing, not_listed, more_listed - missing)
        raise Broken(E_FILES, told or "`files` is not sorted, names a path twice, or has a path that is no text")
    found = sorted(_found(place, folders))
    covers = attached(found) if covered else ()
    if found != sorted({MANIFEST, *own, *covers}):
        required = {MANIFEST, *own}
        raise Broken(E_FILES, _told(required - {*found}, {*found} - required - {*covers}))
    for entry in listed:
        _check_file(place / entry["path"], entry)
    return Listing(more, sources, cases, covers, held)


def _told(missing: Collection[str], not_listed: Collection[str], foreign: Collection[str] = ()) -> str:
    """A sentence for each of these that there are, with the first three paths."""
    told = {"listed, and missing": missing, "not listed": not_listed, "listed, and no file of such a bundle": foreign}
    return "; ".join(
        f"{words}: {', '.join(sorted(paths)[:3])}{' ...' if len(paths) > 3 else ''}"
        for words, paths in told.items()
        if paths
    )


def _check_file(path: Path, entry: Mapping[str, Any]) -> None:
    if path.is_symlink() or not path.is_file():
        raise Broken(E_FILES, f"{entry['path']} is no plain file")
    found = {"size": path.stat().st_size, "sha256": file_digest(path)}
    agree(entry, found, f"the manifest's entry of {entry['path']}", E_FILES)


def _found(place: Path, folders: Collection[str]) -> Iterator[str]:
    """The paths of all files in a bundle, without the folders that hold other bundles."""
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.name in (SOURCES, COUNTEREXAMPLES) and entry.is_dir(follow_symlinks=False):
                yield from _below(place, entry.name, _DEPTH)
            elif entry.name not in folders:
                yield entry.name


def _below(place: Path, folder: str, depth: int) -> Iterator[str]:
    """The paths in a folder; its own path if it is empty or too deep."""
    with os.scandir(place / folder) as entries:
        inside = [(f"{folder}/{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in entries]
    if not inside or not depth:
        yield f"{folder}/"
    for path, is_folder in inside if depth else ():
        if is_folder:
            yield from _below(place, path, depth - 1)
        else:
            yield path


def _held(place: Path, folders: Collection[str]) -> list[str]:
    """The places of the bundles inside a bundle, sorted."""
    found = []
    for folder in sorted(folders):
        inside = place / folder
        if os.path.lexists(inside):
            if inside.is_symlink() or not inside.is_dir():
                raise Broken(E_FILES, f"{folder} is no plain folder")
            found += _bundles(inside, folder, _DEPTH)
    return sorted(found)


def _bundles(folder: Path, path: str, depth: int) -> list[str]:
    found = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            inner = f"{path}/{entry.name}"
            if not entry.is_dir(follow_symlinks=False) or depth == 0:
                raise Broken(E_FILES, f"not listed: {inner}")
            if (folder / entry.name / MANIFEST).exists():
                found.append(inner)
            else:
                found += _bundles(folder / entry.name, inner, depth - 1)
    if not found:
        raise Broken(E_FILES, f"not listed: {path} holds no run")
    return found
