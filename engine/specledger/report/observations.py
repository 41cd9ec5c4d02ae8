"""The observations of the checks of one bundle: what each receipt shows of which check, the first ones kept.

Decides which values of a receipt may name a run, an episode or a step. Refuses to know kinds of evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import parse_canonical
from specledger.evidence.chain import receipt_digest
from specledger.evidence.layout import MAX_LINE
from specledger.report.markup import shorten
from specledger.report.results import MOST_OBSERVATIONS, Observation, told

Body = Mapping[str, Any]

_NAME: Final = 200  # characters of a name that a receipt supplies


class Seen:
    """Keeps observations by the check that each is of.

    Attributes:
        count: How many there were of each check, in the order in which checks were first seen.
    """

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.count: Counter[str] = Counter()
        self._kept: dict[str, list[Observation]] = {}
        self._seq = -1
        self._line = b""

    def take(self, seq: int, line: bytes) -> tuple[str, Body]:
        """The type and the body of the receipt that the next observations are of."""
        self._seq, self._line = seq, line
        receipt: Any = parse_canonical(line, limit=MAX_LINE)
        return receipt["type"], receipt["body"]

    def note(self, check: str, what: str, detail: Any, body: Body) -> None:
        """Count an observation of a check, and keep it if it is one of the first."""
        self.count[check] += 1
        kept = self._kept.setdefault(check, [])
        if len(kept) < MOST_OBSERVATIONS:
            run, episode, t = body.get("run"), body.get("episode"), body.get("t", body.get("steps"))
            named = None if run is None else text(run)
            at, step = (None if each is None else number(each) for each in (episode, t))
            kept.append(Observation(text(what), told(detail), named, at, step, self._seq, receipt_digest(self._line)))

    def of(self, check: str) -> dict[str, Any]:
        """The observations of a check, as `Check` takes them."""
        kept = self._kept.get(check, [])
        return {"observations": tuple(kept), "more": self.count[check] - len(kept)}


def text(value: Any) -> str:
    """A name that a receipt supplies, of a bounded length.

    Raises:
        TypeError: It is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} stands where a name should")
    return shorten(value, _NAME)


def number(value: Any) -> int:
    """A count that a receipt supplies.

    Raises:
        TypeError: It is no integer.
    """
    if type(value) is not int:
        raise TypeError(f"{type(value).__name__} stands where an int should")
    return value
