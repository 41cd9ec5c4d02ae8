"""Bytes that must reach the disk: whole, and with the name of their file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_all(file: int, data: bytes) -> None:
    """Write all bytes to an open file, however many the system takes at a time.

    Raises:
        OSError: It refuses.
    """
    while data:
        data = data[os.write(file, data) :]


def write_file(path: Path, data: bytes) -> None:
    """Put bytes into a file and force them to the disk.

    Raises:
        OSError: The system refuses.
    """
    write_parts(path, (data,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Put bytes that come in parts into a file and force them to the disk.

    Raises:
        OSError: The system refuses.
    """
    with path.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Force the name of a new file to the disk.

    Raises:
        OSError: The system refuses.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
