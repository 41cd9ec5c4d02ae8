"""The plot of the laws of a discovery, by iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from specledger.report.plots import Line, Lines, Plot
from specledger.wings.laws.receipts import ACCEPTED, LawStatus


def timeline(iterations: int, laws: Sequence[tuple[int, str]], expected: Sequence[tuple[int, str]]) -> list[Plot]:
    """The plot of the laws of a discovery, by first iteration and last status; nothing without laws."""
    counts = {name: Counter[int]() for name in ("accepted", "refuted", "undecided")}
    for iteration, status in laws:
        name = "accepted" if status in ACCEPTED else "refuted" if status == LawStatus.FAIL else "undecided"
        counts[name][iteration] += 1
    lines = [
        Line(name, [*accumulate(times[at] for at in range(iterations))]) for name, times in counts.items() if times
    ]
    text = "Laws by the iteration that proposed them first, added up, with their last verdict."
    text += " A dashed line is an expected law." if expected else ""
    across, marked = "iteration", "expected law found"
    marks = sorted(expected)
    return [Lines("Discovery timeline", text, lines, 1, marks, 0, across, marked, "laws")] if lines else []
