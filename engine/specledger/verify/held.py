"""What the reading of receipts may keep, so that evidence of any size and any content is read in bounded memory.

Honest evidence makes its readers keep little: totals, and names that its specs have. Receipts that a stranger wrote can
hold millions of different names, or commitments that no decision follows.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Rejected, code

E_EVIDENCE_SIZE = code("E_EVIDENCE_SIZE", "evidence that takes too much memory to be read")

MOST_KEPT: Final = 64 << 20
"""Bytes of memory that is kept of the receipts read so far, about."""
_BETWEEN: Final = 1 << 20
"""Bytes of lines between two looks at what is kept: values take up to 22 times the memory of their text."""
_PER_LOOK: Final = 64
"""A look takes time by what is kept; after it, as many bytes less than that are read before the next one."""
_MAPPINGS: Final = (dict, Counter)
_LISTS: Final = (list, tuple, set, frozenset, deque)


class Kept:
    """Looks now and then at what some readers of receipts keep."""

    def __init__(self, *readers: object) -> None:
        self._readers = readers
        self._unseen = 0

    def look(self, length: int) -> None:
        """Take a line of a length, which the readers have read.

        Raises:
            Rejected: E_EVIDENCE_SIZE.
        """
        self._unseen += length
        if self._unseen < _BETWEEN:
            return
        size = size_of(*self._readers)
        if size > MOST_KEPT:
            message = f"what must be kept of its receipts takes more than {MOST_KEPT} bytes of memory"
            hint = "no run of this engine writes such receipts; ask whoever gave you the evidence how it was made"
            raise Rejected([Diagnostic(E_EVIDENCE_SIZE, message, hint=hint)])
        self._unseen = -(size // _PER_LOOK)


def size_of(*objects: object) -> int:
    """The bytes of memory, about, of the values that some objects hold as their attributes; few of more than are kept.

    What is callable, and what other objects hold, does not count. Values of JSON share no parts.
    """
    waiting: list[Any] = [value for owner in objects for value in _attributes(owner)]
    total = 0
    while waiting and total <= MOST_KEPT:
        value = waiting.pop()
        kind = type(value)
        if kind is str or kind is bytes or kind is int:
            total += sys.getsizeof(value)
        elif kind in _MAPPINGS or kind in _LISTS:
            total += sys.getsizeof(value)
            waiting += value
            if kind in _MAPPINGS:
                waiting += value.values()
    return total


def _attributes(owner: object) -> Iterator[Any]:
    """The attributes of an object, and what a function that is one of them remembers from call to call."""
    for value in vars(owner).values():
        yield value
        for cell in getattr(value, "__closure__", None) or ():
            yield cell.cell_contents
