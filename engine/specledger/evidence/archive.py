"""A bundle as one zip file, the same bytes on every machine.

The entries are the plain files of the folder in the order of their paths' UTF-8 bytes, each stored as it is: compressed
bytes would depend on the version of the library. Times are those of the earliest date that the format has, rights are
0644 of a plain file. A reader refuses a file whose form differs in any of this, and every path that leaves the folder.

Source: PKWARE APPNOTE 6.3.
"""

from __future__ import annotations

import filecmp
import re
import shutil
import stat
import struct
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

SUFFIX: Final = ".zip"
"""What the name of a place ends in where a bundle is one file."""
MOST_FILES: Final = 200_000
MAX_SIZE: Final = 1 << 36
"""Bytes of all files at most, 64 GiB."""

_CHUNK: Final = 1 << 20
_DAMAGED: Final = (
    *(zipfile.BadZipFile, struct.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError),
    *(FileExistsError, NotADirectoryError),
)
"""What reading a hostile archive, and writing what it holds, may raise."""
_TIME: Final = (1980, 1, 1, 0, 0, 0)
_RIGHTS: Final = (stat.S_IFREG | 0o644) << 16
_UNIX: Final = 3
_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]*"
PATH: Final = re.compile(rf"{_PART}(/{_PART}){{0,7}}")
"""What the path of a file in a bundle looks like: ASCII names that neither leave the folder nor look like options."""


class InvalidArchive(ValueError):  # noqa: N818 - says what the file is, not that the engine failed
    """The file is no archive in the form of this module; the text says why."""


def pack(folder: Path, file: Path) -> None:
    """Write the plain files of a folder and of the folders in it as one file."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(paths, key=str.encode):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system = _UNIX
            entry.external_attr = _RIGHTS
            entry.file_size = paths[name].stat().st_size
            with paths[name].open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target, _CHUNK)


def packed(folder: Path) -> bytes:
    """The bytes of the file that `pack` makes of a folder."""
    with TemporaryDirectory() as place:
        file = Path(place) / "packed"
        pack(folder, file)
        return file.read_bytes()


def unpacked(data: bytes, folder: Path) -> None:
    """Write the files of what `packed` gave into a new folder; raises as `unpack` does."""
    with TemporaryDirectory() as place:
        file = Path(place) / "packed"
        file.write_bytes(data)
        unpack(file, folder)


def unpack(file: Path, folder: Path) -> None:
    """Write the files of an archive into a new folder; on a failure the folder may hold some of them.

    Raises:
        InvalidArchive: It differs from what `pack` makes of the folder, or is too large.
        OSError: Something cannot be read or written; the folder exists.
    """
    folder.mkdir()
    with opened(file) as (archive, entries):
        for entry in entries:
            place = folder / entry.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, place.open("xb") as target:
                shutil.copyfileobj(source, target, _CHUNK)
    again = folder.with_name(f"{folder.name}.again")
    try:
        pack(folder, again)
        if not filecmp.cmp(file, again, shallow=False):
            raise InvalidArchive("it is not in the form that its files have in an archive")
    finally:
        again.unlink(missing_ok=True)


def read_member(file: Path, name: str, limit: int) -> bytes | None:
    """The content of one file of an archive, None if it has no such file of at most `limit` bytes.

    Raises:
        InvalidArchive: It is damaged, or `unpack` would refuse its files.
        OSError: It cannot be read.
    """
    with opened(file) as (archive, entries):
        for entry in entries:
            if entry.filename == name and entry.file_size <= limit:
                return archive.read(entry)
    return None


@contextmanager
def opened(file: Path) -> Iterator[tuple[zipfile.ZipFile, Sequence[zipfile.ZipInfo]]]:
    """An archive and its entries, if they can be written without harm.

    Raises:
        InvalidArchive: Whatever is wrong with it.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive, _entries(archive, file.stat().st_size)
    except InvalidArchive:
        raise
    except _DAMAGED as error:
        raise InvalidArchive(f"it is damaged: {error}") from None


def _entries(archive: zipfile.ZipFile, size: int) -> Sequence[zipfile.ZipInfo]:
    """The entries of an archive of so many bytes, if they can be written without harm."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES or size > MAX_SIZE:
        raise InvalidArchive(f"it has more than {MOST_FILES} files or {MAX_SIZE} bytes")
    if sum(entry.file_size for entry in entries) > size:  # files that overlap would grow when they are unpacked
        raise InvalidArchive("its files are larger than it is")
    if len({entry.filename.casefold() for entry in entries}) != len(entries):  # they would be one file on some systems
        raise InvalidArchive("two paths in it are the same but for their case")
    for entry in entries:
        if not PATH.fullmatch(entry.filename):
            raise InvalidArchive("a path in it is no plain one")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise InvalidArchive(f"{entry.filename} is compressed")
        if not 0 <= entry.header_offset < size:
            raise InvalidArchive(f"{entry.filename} is not in it")
    return entries
