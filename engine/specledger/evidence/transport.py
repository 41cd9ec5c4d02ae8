"""The plain files of a bundle as data: so a cluster carries a run from one machine to another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from specledger.evidence import disk
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
