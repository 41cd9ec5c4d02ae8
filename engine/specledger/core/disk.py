"""The disk as writers of evidence see it: the few operations of the system that they use, and what is made of them.

What survives a loss of power is what was synced: the content of a file by `sync`, its name by `sync_folder` of the
folder that holds it. Everything else may be lost, in any order and in part. Tests put a disk that behaves so in place
of `SYSTEM`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Final

BUFFER: Final = 262_144
"""Bytes that are read or written at once: fewer calls of the system than with the 8 KiB of Python."""


class Disk:
    """What is asked of the operating system."""

    def create(self, path: Path) -> IO[bytes]:
        """Open an empty file, which is made if it is not there; writes to it are buffered."""
        return path.open("wb", BUFFER)

    def open(self, path: Path, flags: int) -> int:
        """Open a file with the flags of the system; its descriptor."""
        return os.open(path, flags, 0o644)

    def write(self, file: int, data: bytes) -> int:
        """Write some of the data, at least one byte; how many bytes."""
        return os.write(file, data)

    def truncate(self, file: int, size: int) -> None:
        """Remove everything after an offset."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Force the content of a file to the disk."""
        os.fsync(file)

    def sync_folder(self, folder: Path) -> None:
        """Force the names in a folder to the disk."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, path: Path, to: Path) -> None:
        """Move a file or a folder; a file or an empty folder that is there is replaced."""
        path.rename(to)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def make_folder(self, folder: Path) -> None:
        """Make a folder, whose parent is there."""
        folder.mkdir()

    def remove_tree(self, folder: Path) -> None:
        """Remove a folder and all that is in it."""
        shutil.rmtree(folder)


SYSTEM = Disk()
"""The disk that writers use."""


def write_file(path: Path, data: bytes) -> None:
    """Write bytes to a file and force them to the disk."""
    write_parts(path, (data,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write bytes that come in parts to a file and force them to the disk."""
    with SYSTEM.create(path) as file:
        file.writelines(parts)
        sync_file(file)


def write_all(file: int, data: bytes) -> None:
    """Write bytes to a descriptor, in as many pieces as the system takes."""
    while data:
        data = data[SYSTEM.write(file, data) :]


def sync_file(file: IO[bytes]) -> None:
    """Force what was written to an open file to the disk."""
    file.flush()
    SYSTEM.sync(file.fileno())


def sync_names(folder: Path) -> None:
    """Force the names in a folder, and in the folders in it, to the disk."""
    for inside, _, _ in os.walk(folder, topdown=False):
        SYSTEM.sync_folder(Path(inside))


def replace_file(path: Path, data: bytes, beside: Path) -> None:
    """Replace a file as a whole, on the disk, too; a process that is killed leaves `beside`."""
    write_file(beside, data)
    SYSTEM.rename(beside, path)
    SYSTEM.sync_folder(path.parent)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it that are not there."""
    if not folder.is_dir():
        make_folders(folder.parent)
        try:
            SYSTEM.make_folder(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise  # another process did not make it


def make_own_folder(named: Callable[[int], Path]) -> Path:
    """Make a folder that no other process made, named by the number of this one or by a later number."""
    for folder in map(named, count(os.getpid())):
        with suppress(FileExistsError):
            SYSTEM.make_folder(folder)
            break
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder and all that is in it, as far as the system admits it."""
    with suppress(OSError):
        SYSTEM.remove_tree(folder)


def begins_like(torn: bytes, opening: bytes) -> bool:
    """Whether torn bytes are lines of text that begin with an opening, of which parts may be zeros."""
    return not torn.translate(None, _TEXT) and all(byte in (0, to) for byte, to in zip(torn, opening, strict=False))


_TEXT: Final = bytes([0, *b"\n", *range(32, 127), *range(128, 256)])
