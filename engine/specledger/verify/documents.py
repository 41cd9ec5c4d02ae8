"""Reading the documents of a bundle: bounded, plain files, in their one canonical form."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.verify.checks import Broken

MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""

MAX_SPECS: Final = 16_777_216
"""Bytes of specs.json at most."""


def read_document(path: Path, limit: int, code: str) -> Any:
    """A file that holds one canonical document and a newline.

    Raises:
        Broken: It is missing, too large, or differs from its own canonical form.
    """
    data = read_plain(path, limit + 1, code)  # one more for the newline
    try:
        document = parse_canonical(data.removesuffix(b"\n"), limit=limit)
        if canonical_bytes(document) + b"\n" != data:
            raise Broken(code, f"{path.name} is not in canonical form")
    except NotCanonical as error:
        raise Broken(code, f"{path.name}: {error}") from None
    return document


def read_plain(path: Path, limit: int, code: str) -> bytes:
    """The bytes of a plain file, of which no more than the limit and one are read.

    Raises:
        Broken: It is missing or no plain file.
    """
    if path.is_symlink() or not path.is_file():
        raise Broken(code, f"{path.name} is missing")
    with path.open("rb") as file:
        return file.read(limit + 1)
