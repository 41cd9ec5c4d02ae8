"""Counts and sums over the calls of a span of time, whatever the order in which a log writes them."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final

from specledger.core.unknown import Unknown

_LATEST: Final = -1


class Window:
    """What one term of a rule's memory counts or adds: the times of calls in their order, with sums up to each."""

    def __init__(self, span: int) -> None:
        """Begin without calls; a call is in the window if it is at most `span` microseconds before the present one."""
        self._span = span
        self._times: list[int] = []
        self._values: list[int] = []
        self._sums: list[int] = [0]
        self._unknown: Unknown | None = None
        self._last: tuple[int, int | None] | None = None
        self._unknown_before: Unknown | None = None

    def add(self, number: int, time: int | Unknown, value: Any) -> Any:
        """Add the call of a number, and give the count or sum with it; Unknown once a time or a value is not known."""
        self._unknown_before = self._unknown
        unknown = next((each for each in (time, value) if type(each) is Unknown), None)
        if unknown is not None:
            self._unknown = self._unknown or unknown
            self._last = (number, None)
            return self._unknown
        assert isinstance(time, int)  # noqa: S101 - it is not unknown
        at = bisect_left(self._times, time + 1)
        self._times.insert(at, time)
        self._values.insert(at, value)
        self._add_up(at)
        self._last = (number, at)
        if self._unknown is not None:
            return self._unknown
        return self._sums[_LATEST] - self._sums[bisect_left(self._times, time - self._span)]

    def forget(self, number: int) -> None:
        """Take the last call out, if it has this number: it was not made."""
        if self._last is None or self._last[0] != number:
            return
        at = self._last[1]
        if at is not None:
            del self._times[at], self._values[at]
            self._add_up(at)
        self._unknown, self._last = self._unknown_before, None

    def _add_up(self, at: int) -> None:
        """Make the sums anew from a place on."""
        del self._sums[at + 1 :]
        for value in self._values[at:]:
            self._sums.append(self._sums[_LATEST] + value)
