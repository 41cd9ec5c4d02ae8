"""A bundle in one zip file, unpacked to a temporary folder while it is verified.

`evidence.archive` describes the one accepted form, which excludes links, compressed bytes and paths that leave the
folder.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.archive import InvalidArchive, unpack
from specledger.verify.checks import E_NO_EVIDENCE

_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")


def is_archive(path: Path) -> bool:
    """Whether a file begins as a zip file does.

    Raises:
        Rejected: E_NO_EVIDENCE, if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(4) in _MAGIC
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or 'operating system error'}"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder with the files of an archive; it is removed afterwards.

    Raises:
        InvalidArchive: The file is no archive of a bundle.
        Rejected: E_NO_EVIDENCE, if it cannot be read or laid out.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="specledger-verify-") as work:
            folder = Path(work, "bundle")
            _refuse_overlaps(path)
            unpack(path, folder)
            yield folder
    except OSError as error:
        message = f"{path} cannot be unpacked: {error.strerror or 'operating system error'}"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error


def _refuse_overlaps(path: Path) -> None:
    """Check that the files of an archive cannot be larger together than the archive, and that no two share a name.

    Overlapping stored files would grow when they are unpacked; names that differ in case alone would be
    one file on some systems.

    Raises:
        InvalidArchive: They are.
        OSError: It cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError) as error:
        raise InvalidArchive(f"it is damaged: {error}") from None
    if sum(entry.file_size for entry in entries) > path.stat().st_size:
        raise InvalidArchive("its files would be larger than it is")
    names = [entry.filename.casefold() for entry in entries]
    if len(set(names)) != len(names):
        raise InvalidArchive("two paths in it are the same but for their case")
