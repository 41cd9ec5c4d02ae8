"""A start from which the antecedent of a law holds at some step, looked for when it holds in none of the cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from msgspec import Struct

from specledger.core.rng import Stream
from specledger.wings.laws.claim import Binary, Node, reads
from specledger.wings.laws.generators import Case
from specledger.wings.laws.harness import first_violation
from specledger.wings.laws.judge import judge
from specledger.wings.laws.law import Law
from specledger.wings.laws.preconditions import Repair, lengths_of
from specledger.wings.laws.run import Run, State

MAX_CELLS: Final = 500_000
"""Most cells, times steps, of the short rings that are all tried."""

MAX_REPAIRED: Final = 40
"""Cases that are changed towards the antecedent."""


class Witness(Struct, frozen=True):
    """A start from which the antecedent holds.

    Attributes:
        t: The first step at which it does.
        violated: Whether the law is violated from there.
    """

    start: State
    t: int
    violated: bool = False


def find_witness(law: Law, cases: Sequence[Case]) -> Witness | None:
    """A witness: on the shortest rings, all of which are tried as far as the work goes, or a case that is changed.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    goal = law.where if law.antecedent is None else Binary("and", law.where, law.antecedent)
    for starts in _short_rings(law, goal):
        witness = _first(law, starts)
        if witness is not None:
            return witness
    repaired = _repaired(law, goal, cases)
    return _first(law, repaired) if repaired else None


def _short_rings(law: Law, goal: Node) -> Iterator[list[State]]:
    """All starts of each length at which the goal can hold, from the shortest, as long as the work allows."""
    cells = 0
    for length in lengths_of(law.universe, goal, law.observables):
        cells += len(law.starts) ** length * length * (law.on(length).steps + 1)
        if cells > MAX_CELLS:
            return
        yield list(product(law.starts, repeat=length))


def _repaired(law: Law, goal: Node, cases: Sequence[Case]) -> list[State]:
    """The shortest and the longest cases in turn, changed until the goal holds at the law's first step."""
    if any(name not in law.observables for name, _ in reads(goal)):  # single cells
        return []
    repair = Repair(law, Stream.named(law.seed, "witness", law.universe.name), goal)
    starts = sorted({case.start for case in cases}, key=lambda start: (len(start), start))
    ends = [start for pair in zip(starts, reversed(starts), strict=True) for start in pair]
    repaired = (repair.start(start, law.starts) for start in ends[:MAX_REPAIRED])
    return [start for start in repaired if start is not None]


def _first(law: Law, starts: list[State]) -> Witness | None:
    """The shortest of some starts that violates the law, else the first from which the antecedent holds."""
    judged = judge(law, starts)
    violation = first_violation(starts, judged)
    if violation is not None:
        return Witness(*violation, violated=True)
    hits = judged.hits.nonzero()[0].tolist()
    if not hits:
        return None
    start = starts[hits[0]]
    return Witness(start, next(t for t, counts, _ in Run(law, start).instances() if counts))
