"""Where something was first, for a call that hears nothing of the calls beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

O = TypeVar("O")  # noqa: E741 - the origin of a text


class Firsts(Generic[O]):
    """By text the first origin, and where calls are parallel to that one the first that is not."""

    __slots__ = ("_first", "_other", "_parallel")

    def __init__(self, parallel: Callable[[O, O], bool]) -> None:
        """Begin with nothing; `parallel` tells of two origins whether neither is before the other."""
        self._first: dict[str, O] = {}
        self._other: dict[str, O] = {}
        self._parallel = parallel

    def __len__(self) -> int:
        return len(self._first)

    def add(self, text: str, origin: O) -> bool:
        """Note an origin of a text; whether it is the first one."""
        first = self._first.setdefault(text, origin)
        if first is origin:
            return True
        # an origin that is parallel to itself may be so to others
        if text not in self._other and self._parallel(first, first) and not self._parallel(first, origin):
            self._other[text] = origin
        return False

    def before(self, text: str, now: O) -> O | None:
        """The first origin of a text that is not parallel to a call now."""
        first = self._first.get(text)
        return self._other.get(text) if first is not None and self._parallel(first, now) else first
