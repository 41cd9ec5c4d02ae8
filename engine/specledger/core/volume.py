"""How many values a JSON document may hold, counted in its bytes before it is read.

A value takes more memory than its text: 8 MiB of `[],[],…` would be 300 MB once they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MAX_VOLUME: Final = 1_048_576
"""The volume of a document at most, unless its reader says otherwise: about 50 bytes of memory for each unit. What has
no more bytes than this may hold what it likes."""
_PIECE: Final = 1 << 16
"""Bytes that are taken apart at once: a document of nothing but texts has as many parts as bytes."""


def volume(document: bytes) -> int:
    """The volume of a document: its commas and colons, `[` counted twice, `{` four times; what texts hold is left out.

    A document that has no more than `MAX_VOLUME` with what its texts hold is not searched for texts.
    """
    count = _count(document)
    return count if count <= MAX_VOLUME else sum(map(_count, _between_texts(document)))


def _between_texts(document: bytes) -> Iterator[bytes]:
    """What stands between the texts of a document, and in none of them."""
    begin, inside = 0, False
    while begin < len(document):
        end = begin + _PIECE
        while document[end - 1 : end] == b"\\":  # what it escapes belongs to it
            end += 1
        piece = document[begin:end].replace(rb"\\", b"").replace(rb"\"", b"")
        parts = piece.split(b'"')  # now every quotation mark begins or ends a text
        yield b"".join(parts[inside::2])
        begin, inside = end, inside ^ (len(parts) % 2 == 0)


def _count(document: bytes) -> int:
    count = document.count
    return count(b",") + count(b":") + 2 * count(b"[") + 4 * count(b"{")
