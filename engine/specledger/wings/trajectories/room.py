"""What may be kept of one trajectory: entries are charged the memory that they take, whatever a log holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from specledger.wings.trajectories.findings import E_LOG_SIZE
from specledger.wings.trajectories.model import Call, Entry, Finding, Message, Result

MOST_KEPT: Final = 64 << 20
"""Bytes of memory, about, that the entries of one trajectory take."""
MOST_SEARCHED: Final = 64 << 20
"""The same for what rules keep of it, so that they find where values are from."""
MOST_DEFECTS: Final = 8 << 20
"""The same for findings about records of a file that are in none of its trajectories."""
_ENTRY: Final = 200
"""What an entry takes without its values."""
_CALL: Final = 600
"""What a call takes beside, with what its result and rules find it by."""

MOST_COUNTED: Final = 10_000
"""Different texts, such as names of tools, of which a scan counts each; all others count as `OTHERS`."""
OTHERS: Final = "(others)"
_LONGEST: Final = 400


def beginning(text: str) -> str:
    """A text as a scan keeps it: itself, or its beginning, where it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def count_text(counts: Counter[str], text: str) -> None:
    """Count a text, of which logs may have any number: its beginning, where it is long."""
    if text not in counts:
        text = beginning(text)
        text = text if text in counts or len(counts) < MOST_COUNTED else OTHERS
    counts[text] += 1


class Room:
    """What is left of the memory that a trajectory may take."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Begin with nothing kept."""
        self.most = self._left = most

    @property
    def full(self) -> bool:
        """Whether nothing more is kept."""
        return self._left < 0

    @property
    def used(self) -> int:
        """The bytes that were charged."""
        return self.most - self._left

    def take(self, entry: Entry) -> bool:
        """Charge for an entry; False if there is no room for it, nor for any after it."""
        if type(entry) is Result:
            return self.take_value(entry.content, len(entry.call))
        if type(entry) is Call:
            names = len(entry.id) + len(entry.tool) + len(entry.actor) + len(entry.parent)
            return self.take_value(entry.arguments, _CALL + names)
        if type(entry) is Message:
            return self.take_value(entry.text, len(entry.actor))
        if type(entry) is Finding:
            return self.take_value(entry.message)
        return self.take_value(entry.policy, len(entry.rule) + len(entry.call))  # type: ignore[union-attr]

    def take_value(self, value: Any, beside: int = 0) -> bool:
        """Charge for a value, and for what is kept beside it; False as above."""
        if self._left >= 0:
            self._left = _left_of(value, self._left - _ENTRY - beside)
        return self._left >= 0

    def take_bytes(self, count: int) -> None:
        """Charge for so many bytes that are kept already."""
        self._left -= count

    def release(self, count: int) -> None:
        """Take back what was charged for something that is no longer kept."""
        self._left += count

    def finding(self, line: int) -> Finding:
        """What says that there was no room for the rest."""
        return Finding(E_LOG_SIZE, f"it takes more than {self.most} bytes of memory, so the rest is not read", line)


def _left_of(value: Any, left: int) -> int:
    """What is left after the bytes that a value takes, about; less than 0 once it is exceeded."""
    kind = type(value)
    members: Iterable[Any]
    if kind is str:
        return left - 64 - (len(value) if value.isascii() else 4 * len(value))
    if kind is dict:
        left -= 64 + 100 * len(value) + sum(map(len, value))
        members = value.values()
    elif kind is list:
        left -= 64 + 8 * len(value)
        members = value
    else:
        return left - 32
    for member in members:
        if left < 0:
            break
        left = left - 64 - len(member) if type(member) is str and member.isascii() else _left_of(member, left)
    return left
