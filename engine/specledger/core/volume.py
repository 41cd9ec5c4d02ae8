"""How many values a JSON document may hold, counted in its bytes before it is read.

A value takes more memory than its text: 8 MiB of `[],[],…` would be 300 MB once they are read.
"""

from __future__ import annotations

import re
from typing import Final

MAX_VOLUME: Final = 1_048_576
"""The volume of a document at most, unless its reader says otherwise: about 50 bytes of memory for each unit. What has
no more bytes than this may hold what it likes."""
_TEXT: Final = re.compile(rb'"[^"]*"?')
_COUNTED: Final = ((b",", 1), (b":", 1), (b"[", 2), (b"{", 4))


def volume(document: bytes) -> int:
    """The volume of a document: its commas and colons, `[` counted twice, `{` four times; what texts hold is left out.

    A document that has no more than `MAX_VOLUME` with what its texts hold is not searched for texts.
    """
    count = _count(document)
    if count <= MAX_VOLUME:
        return count
    bare = document.replace(rb"\\", b"").replace(rb"\"", b"")  # now every quotation mark begins or ends a text
    return _count(_TEXT.sub(b"", bare))


def _count(document: bytes) -> int:
    return sum(document.count(mark) * units for mark, units in _COUNTED)
