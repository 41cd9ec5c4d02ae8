"""Breadth-first search: what `closure` has reached so far."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from specledger.core.weight import MAX_WEIGHT, remaining
from specledger.expr.errors import E_EVAL_LIMIT, EvaluationError
from specledger.expr.limits import MAX_LIST


class Reached:
    """Items in the order in which they are found, each once, with the least number of steps that leads to it."""

    def __init__(self, origins: Iterable[Any], limit: int) -> None:
        """Begins with the origins, at distance 0; iterating gives the items that are less than `limit` steps away."""
        self._limit = limit
        self._found: list[dict[str, Any]] = []
        self._seen: set[Hashable] = set()
        self._distance = 0
        self._left = MAX_WEIGHT
        self.extend(origins)

    def __iter__(self) -> Iterator[Any]:
        for found in self._found:  # grows meanwhile
            if found["distance"] == self._limit:
                return
            self._distance = found["distance"] + 1
            yield found["item"]

    def extend(self, items: Iterable[Any]) -> None:
        """Takes in what the item that was given last leads to.

        Raises:
            EvaluationError: There are more items than a list may have, or what was compared is too large.
        """
        for item in items:
            self._left = remaining(item, self._left)
            if self._left < 0:
                raise EvaluationError(E_EVAL_LIMIT, f"a closure compares more than {MAX_WEIGHT} members of items")
            identity = _identity(item)
            if identity not in self._seen:
                if len(self._found) == MAX_LIST:
                    raise EvaluationError(E_EVAL_LIMIT, f"a closure has more than {MAX_LIST} items")
                self._seen.add(identity)
                self._found.append({"item": item, "distance": self._distance})

    def values(self) -> list[dict[str, Any]]:
        """All that was found."""
        return self._found


def _identity(value: Any) -> Hashable:
    """What equal values have in common; values of one type without doubles."""
    if type(value) is list:
        return tuple(map(_identity, value))
    if type(value) is dict:
        return frozenset((key, _identity(each)) for key, each in value.items())
    return value  # type: ignore[no-any-return]
