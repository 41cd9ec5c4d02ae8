"""Writing to the disk: whole files, and append-only files of lines with one writer at a time."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

if sys.platform != "win32":
    import fcntl


def write_file(path: Path, data: bytes) -> None:
    """Write bytes to a file and force them to the disk."""
    write_parts(path, (data,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write bytes that come in parts to a file and force them to the disk."""
    with path.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def sync_files(folder: Path) -> None:
    """Force the files in a folder, and in the folders in it, to the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


class Busy(Exception):  # noqa: N818 - a state of the file, not an engine error
    """Another process holds the lock of an append-only file."""


class NotPlain(Exception):  # noqa: N818 - as above
    """An append-only file is not a plain file."""


class AppendFile:
    """An append-only file of lines, created if it does not exist, and locked for one writer.

    A line counts as written when its newline is written. A line without one is torn: the writer who opens the file next
    removes it by `cut`. Nothing is written to a file that is no longer at its path: nobody would find it.
    """

    def __init__(self, path: Path, *, wait: bool) -> None:
        """Open and lock a file.

        Raises:
            Busy: Another process holds the lock, and `wait` is false.
            NotPlain: It is not a plain file.
            OSError: The operating system reports an error.
        """
        if sys.platform == "win32":
            raise OSError("append-only logs need POSIX file locks")
        fresh = not path.exists()
        self._path = path
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NotPlain
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise Busy from None
            if fresh:
                sync_folder(path.parent)
            self.size = os.fstat(file).st_size
        except BaseException:
            os.close(file)
            raise
        self._file: int | None = file

    @property
    def closed(self) -> bool:
        """Whether nothing can be appended any more."""
        return self._file is None

    def read(self, start: int = 0) -> bytes:
        """The bytes from an offset to the end."""
        parts: list[bytes] = []
        while part := os.pread(self._open, max(self.size - start, 0), start):
            parts.append(part)
            start += len(part)
        return b"".join(parts)

    def cut(self, size: int) -> None:
        """Remove everything after an offset: a torn line."""
        os.ftruncate(self._open, size)
        os.fsync(self._open)
        self.size = size

    def append(self, line: bytes, *, sync: bool) -> None:
        """Append one line with its newline, whole or not at all, forced to the disk if `sync`; an error closes it."""
        file, data = self._open, line
        try:
            while data:
                data = data[os.write(file, data) :]
            if sync:
                os.fsync(file)
            self._require_place(file)
        except OSError:
            try:
                os.ftruncate(file, self.size)
            except OSError:
                pass  # the next writer removes the torn line
            finally:
                self.close()
            raise
        self.size += len(line)

    def _require_place(self, file: int) -> None:
        """See that the path still leads to the file; OSError if it was removed, moved or replaced."""
        written, there = os.fstat(file), os.stat(self._path)
        if (written.st_dev, written.st_ino) != (there.st_dev, there.st_ino):
            raise OSError(errno.ESTALE, "another file is at its path")

    def sync(self) -> None:
        """Force what was appended to the disk; after an error the file is closed."""
        try:
            os.fsync(self._open)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _open(self) -> int:
        if self._file is None:
            raise OSError("the file is closed")
        return self._file


def sync_folder(folder: Path) -> None:
    """Force the names of what is in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
