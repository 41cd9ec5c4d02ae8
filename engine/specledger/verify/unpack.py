"""A bundle in one zip file, unpacked to a temporary folder while it is verified.

`evidence.archive` describes the one accepted form, which excludes links, compressed bytes and paths that leave the
folder.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.archive import InvalidArchive, unpack
from specledger.evidence.layout import MANIFEST, MAX_MANIFEST
from specledger.verify.checks import E_NO_EVIDENCE

_UNLISTED: Final = 256  # the check of the files names those that are not listed
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
            _check_directory(path)
            unpack(path, folder)
            yield folder
    except OSError as error:
        message = f"{path} cannot be unpacked: {error.strerror or 'operating system error'}"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error


def _check_directory(path: Path) -> None:
    """Check the directory and the manifests of an archive before any file of it is written.

    Overlapping stored files would grow when they are unpacked; names that differ in case alone would be one file on
    some systems.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if sum(entry.file_size for entry in archive.infolist()) > path.stat().st_size:
                raise InvalidArchive("its files would be larger than it is")
            if len({name.casefold() for name in entries}) != len(archive.infolist()):
                raise InvalidArchive("two paths in it are the same but for their case")
            listed = _count_listed(archive, entries)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        if isinstance(error, InvalidArchive):
            raise
        raise InvalidArchive(f"it is damaged: {error}") from None
    if len(entries) > listed + _UNLISTED:
        raise InvalidArchive(f"it holds {len(entries)} files, and its manifests list {listed}")


def _count_listed(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]) -> int:
    """How many files the manifest lists, with those that the manifests of the bundles inside list."""
    paths = _listed(archive, entries.get(MANIFEST))
    inner = [entries[path] for path in paths if path.endswith(f"/{MANIFEST}") and path in entries]
    return len(paths) + sum(len(_listed(archive, entry)) for entry in inner)


def _listed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None) -> frozenset[str]:
    """The paths that a manifest lists; none if it cannot be read, which the checks of the bundle explain."""
    if entry is None or entry.file_size > MAX_MANIFEST + 1 or entry.compress_type != zipfile.ZIP_STORED:
        return frozenset()
    try:
        manifest = parse_canonical(archive.read(entry).removesuffix(b"\n"), limit=MAX_MANIFEST)
    except NotCanonical:
        return frozenset()
    files = manifest.get("files") if isinstance(manifest, dict) else None
    listed = [each.get("path") for each in files if isinstance(each, dict)] if isinstance(files, list) else []
    return frozenset(path for path in listed if isinstance(path, str))
