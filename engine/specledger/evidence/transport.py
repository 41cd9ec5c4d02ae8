"""The plain files of a bundle, carried from one place to another: as data by a cluster, as copies by a merge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

from specledger.core import disk
from specledger.evidence.layout import PATH


class InvalidFiles(ValueError):  # noqa: N818 - says what was received, not that the engine failed
    """What was received are not the files of a bundle; the text says why."""


def read_files(folder: Path) -> dict[str, bytes]:
    """The content of the plain files of a folder and of the folders in it, by path with slashes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write what `read_files` returned into a new folder; on a failure the folder may hold some of the files.

    Raises:
        InvalidFiles: A path leaves the folder, or is a file and a folder.
        OSError: Something cannot be written; the folder exists.
    """
    disk.SYSTEM.make_folder(folder)
    for name, content in files.items():
        if not PATH.fullmatch(name):
            raise InvalidFiles("a path has a form that no file of a bundle has")
        path = folder / name
        try:
            disk.make_folders(path.parent)
            with disk.SYSTEM.create(path) as target:
                target.write(content)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise InvalidFiles(f"{name} is a file and a folder") from None


def sync_files(folder: Path) -> None:
    """Force the content of the files in a folder, and in the folders in it, to the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            file = disk.SYSTEM.open(path, os.O_RDONLY)
            try:
                disk.SYSTEM.sync(file)
            finally:
                os.close(file)


def copy_files(folder: Path, to: Path) -> None:
    """Copy a folder of plain files, and force the content of the copies to the disk."""
    for inside, _, names in os.walk(folder):
        disk.make_folders(to / Path(inside).relative_to(folder))
        for name in names:
            with Path(inside, name).open("rb") as source:
                disk.write_parts(to / Path(inside).relative_to(folder) / name, _pieces(source))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


_PIECE: Final = 1_048_576
