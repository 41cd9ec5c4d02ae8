"""A bundle in one zip file, unpacked to a temporary folder while it is verified.

`evidence.archive` describes the one accepted form, which excludes links, compressed bytes and paths that leave the
folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.archive import InvalidArchive, opened, unpack
from specledger.evidence.layout import MANIFEST, MAX_MANIFEST
from specledger.verify.checks import E_NO_EVIDENCE

_UNLISTED: Final = 256  # the check of the files names those that are not listed
_MOST: Final = MAX_MANIFEST + 1  # with its newline
_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")


def is_archive(path: Path) -> bool:
    """Whether a file begins as a zip file does."""
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
            _check_count(path)
            unpack(path, folder)
            yield folder
    except OSError as error:
        message = f"{path} cannot be unpacked: {error.strerror or 'operating system error'}"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error


def _check_count(path: Path) -> None:
    """Check that an archive holds few files that its manifest and those inside do not list, before one is written."""
    with opened(path) as (archive, files):
        entries = {entry.filename: entry for entry in files}

        def listed(name: str) -> frozenset[str]:
            return _listed(archive.read(name)) if name in entries and entries[name].file_size <= _MOST else frozenset()

        paths = listed(MANIFEST)
        count = len(paths) + sum(len(listed(path)) for path in paths if path.endswith(f"/{MANIFEST}"))
    if len(entries) > count + _UNLISTED:
        raise InvalidArchive(f"it holds {len(entries)} files, and its manifests list {count}")


def _listed(data: bytes) -> frozenset[str]:
    """The paths that a manifest lists; none if it cannot be read, which the checks of the bundle explain."""
    try:
        manifest = parse_canonical(data.removesuffix(b"\n"), limit=MAX_MANIFEST)
    except NotCanonical:
        return frozenset()
    files = manifest.get("files") if isinstance(manifest, dict) else None
    listed = [each.get("path") for each in files if isinstance(each, dict)] if isinstance(files, list) else []
    return frozenset(path for path in listed if isinstance(path, str))
