"""Append-only files of lines with one writer at a time, which survive the end of the process and a loss of power."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from specledger.core import disk

if sys.platform != "win32":
    import fcntl


class Busy(Exception):  # noqa: N818 - a state of the file, not an engine error
    """Another process holds the lock of an append-only file."""


class NotPlain(Exception):  # noqa: N818 - as above
    """An append-only file is not a plain file."""


class AppendFile:
    """An append-only file of lines, created if it does not exist, and locked for one writer.

    A line counts as written when its newline is written. After a crash a line without one is torn, and so is everything
    from a line with a zero byte on: a disk that loses a part of what was appended leaves zeros there. The writer who
    opens the file next removes it by `cut`. What a writer finds in the file is on the disk before anything follows it:
    the process that wrote it may have ended before it forced it there. Nothing is written to a file that is no longer
    at its path: nobody would find it.
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
        self._path = path
        file = disk.SYSTEM.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NotPlain
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise Busy from None
            disk.SYSTEM.sync_folder(path.parent)
            self.size = os.fstat(file).st_size
            if self.size:
                disk.SYSTEM.sync(file)
        except BaseException:
            os.close(file)
            raise
        self._file: int | None = file
        self._synced = self.size

    @property
    def closed(self) -> bool:
        """Whether nothing can be appended any more."""
        return self._file is None

    @property
    def whole(self) -> int:
        """The size of the whole lines before anything that is torn."""
        start = 0
        while part := os.pread(self._open, _PIECE, start):
            zero = part.find(b"\0")
            start += len(part) if zero < 0 else zero
            if zero >= 0:
                break
        while start:
            first = max(0, start - _PIECE)
            newline = os.pread(self._open, start - first, first).rfind(b"\n")
            if newline >= 0:
                return first + newline + 1
            start = first
        return 0

    def read(self, start: int = 0, end: int | None = None) -> bytes:
        """The bytes from an offset to another, or to the end."""
        end, parts = self.size if end is None else end, list[bytes]()
        while part := os.pread(self._open, max(end - start, 0), start):
            parts.append(part)
            start += len(part)
        return b"".join(parts)

    def cut(self, size: int) -> None:
        """Remove everything after an offset: what is torn."""
        disk.SYSTEM.truncate(self._open, size)
        disk.SYSTEM.sync(self._open)
        self.size = self._synced = size

    def append(self, line: bytes, *, sync: bool) -> None:
        """Append one line with its newline, whole or not at all, forced to the disk if `sync`; an error closes it."""
        file, before = self._open, self.size
        try:
            disk.write_all(file, line)
        except OSError:
            self._abandon(before)
            raise
        self.size += len(line)
        if sync:
            self.sync()
        try:
            self._require_place(file)
        except OSError:
            self._abandon(before)
            raise

    def _require_place(self, file: int) -> None:
        """See that the path still leads to the file; OSError if it was removed, moved or replaced."""
        written, there = os.fstat(file), os.stat(self._path)
        if (written.st_dev, written.st_ino) != (there.st_dev, there.st_ino):
            raise OSError(errno.ESTALE, "another file is at its path")

    def sync(self) -> None:
        """Force what was appended to the disk.

        After an error the file is closed, and what was appended since the last time is removed: the system may take it
        for written from now on, although the disk does not have it.
        """
        try:
            disk.SYSTEM.sync(self._open)
        except OSError:
            self._abandon(self._synced)
            raise
        self._synced = self.size

    def _abandon(self, size: int) -> None:
        """Remove what follows an offset, and close the file."""
        try:
            disk.SYSTEM.truncate(self._open, size)
        except OSError:
            pass  # the next writer removes a torn line
        finally:
            self.close()

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


_PIECE: Final = 1_048_576
