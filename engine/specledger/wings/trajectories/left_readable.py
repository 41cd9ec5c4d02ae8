"""Values that are withheld at one place and stand at another, as where the request names an account that is paid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from specledger.core.diagnostics import counted
from specledger.core.log_json import as_text
from specledger.wings.trajectories.model import Call, Entry, Finding, Message, Result, Trajectory, Withheld, text_of

_SHORTEST, _LONGEST = 6, 200
"""Characters of a value that is looked for: a shorter one stands anywhere, and a longer one hardly twice."""
_MOST_VALUES: Final = 200
"""Values of one trajectory that are looked for."""
_WORK: Final = 2_000_000_000
"""Characters that are searched at most, once for each value."""


class LeftReadable:
    """How many of the values that were withheld can still be read elsewhere in their trajectories, and where."""

    def __init__(self) -> None:
        self._values: dict[str, None] = {}
        self._left = _WORK
        self._number = 0
        self._places: dict[str, None] = {}

    def add(self, value: Any) -> None:
        """Take a value of the trajectory that is withheld."""
        text = value if isinstance(value, str) else as_text(value)
        if text is not None and _SHORTEST <= len(text.strip()) <= _LONGEST and len(self._values) < _MOST_VALUES:
            self._values[text.strip().casefold()] = None

    def look(self, trajectory: Trajectory) -> None:
        """Look for the values in what is left of their trajectory, and forget them."""
        found = set()
        for entry in trajectory.entries if self._values else ():
            place, text = _readable(entry)
            self._left -= len(text) * len(self._values)
            if self._left < 0:
                break
            folded = text.casefold()
            here = {value for value in self._values if value in folded}
            if here:
                self._places[place] = None
            found |= here
        self._number += len(found)
        self._values = {}

    def remarks(self) -> Iterator[str]:
        """What people are told."""
        if self._number:
            still = f"{counted(self._number, 'withheld value')} can still be read elsewhere"
            yield f"{still}, in {', '.join(sorted(self._places))}: withhold that, too"


def _readable(entry: Entry) -> tuple[str, str]:
    """The path to what an entry says, and the text of it; empty where it is withheld or says nothing."""
    if isinstance(entry, Message):
        return f"messages.{entry.speaker}", entry.text if isinstance(entry.text, str) else ""
    if isinstance(entry, Call | Result):
        place, value = ("arguments", entry.arguments) if isinstance(entry, Call) else ("result", entry.content)
        return place, "" if value is UNSET or isinstance(value, Withheld) else text_of(value)
    return "findings", entry.message if isinstance(entry, Finding) else ""
