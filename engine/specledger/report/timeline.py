"""The timeline of a discovery: how many laws were accepted, refuted and undecided by each iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from specledger.report.plots import Line, Lines, Plot

ACCEPTED_STATUSES: Final = ("PROVED", "PASS")
"""The statuses of a law that a discovery keeps."""


def timeline(iterations: int, laws: Sequence[tuple[int, str]], expected: Sequence[tuple[int, str]]) -> list[Plot]:
    """The plot of the laws of a discovery; nothing without laws.

    Args:
        iterations: The number of iterations.
        laws: For each law the iteration that proposed it first, and its last status.
        expected: For each expected law that was found, the iteration and its name.
    """
    counts = {name: Counter[int]() for name in ("accepted", "refuted", "undecided")}
    for iteration, status in laws:
        name = "accepted" if status in ACCEPTED_STATUSES else "refuted" if status == "FAIL" else "undecided"
        counts[name][iteration] += 1
    lines = [
        Line(name, [*accumulate(found[at] for at in range(iterations))]) for name, found in counts.items() if found
    ]
    text = "Laws by the iteration that proposed them first, added up, with their last verdict."
    text += " A dashed line is an expected law." if expected else ""
    across, marked = "iteration", "expected law found"
    return [Lines("Discovery timeline", text, lines, 1, sorted(expected), 0, across, marked)] if lines else []
