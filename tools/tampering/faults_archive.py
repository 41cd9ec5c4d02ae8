"""Faults of a bundle that is one file.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, Final

from tools.tampering.case import Case, Change, nothing
from tools.tampering.signer import Signer

Files = Sequence[tuple[zipfile.ZipInfo, bytes]]
"""The entries of an archive with their content."""


def entry(
    name: str, date: Sequence[int] = (1980, 1, 1, 0, 0, 0), rights: int = stat.S_IFREG | 0o644
) -> zipfile.ZipInfo:
    """An entry of an archive in the one form, unless something of it is another."""
    made = zipfile.ZipInfo(name, tuple(date))  # type: ignore[arg-type]
    made.create_system, made.external_attr = 3, rights << 16
    return made


def pack(files: Files, **how: Any) -> bytes:
    """An archive of files in this order; `how` is told to each entry's compression, or as the comment."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_STORED) as archive:
        for info, data in files:
            archive.writestr(info, data, compress_type=how.get("compress", zipfile.ZIP_STORED))
        archive.comment = how.get("comment", b"")
    return memory.getvalue()


def zipped(change: Callable[[Files], Files] = list, after: Callable[[bytes], bytes] = bytes, **how: Any) -> Change:
    """The bundle is one file, with another entry or in another form."""

    def make(f: Signer) -> None:
        f.sign()
        files = [(entry(name), f.read(name)) for name in f.names()]
        f.archived = after(pack(change(files), **how))

    return make


FAULTS: Final = [
    Case("zip-case", "Two paths in the archive are the same but for their case.", "short", zipped(lambda files: sorted([*files, (entry("Checkpoint"), files[1][1])], key=lambda one: one[0].filename)), nothing, "E_ARCHIVE"),
    Case("honest-zip", "The bundle is one file.", "short", zipped(), nothing, None, exit=0),
]  # fmt: skip
