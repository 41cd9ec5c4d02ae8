"""Minimising: from a start that violates a law to a small one.

Decides in which order a start is made smaller: fewer cells, then fewer things in them; the horizon is the first step of
the violation, whatever the start. Refuses to know what a law says. Halves go first, then quarters, and single cells
last; all candidates of a round are judged at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from specledger.laws.judge import judge
from specledger.laws.law import Law

State = tuple[int, ...]

BUDGET: Final = 300
"""Candidates that are judged at most."""


def minimise(law: Law, start: State, t: int, budget: int = BUDGET) -> tuple[State, int]:
    """A start at least as small that violates the law no later.

    Args:
        law: The law.
        start: A start that violates it.
        t: The first step of the violation.
        budget: Candidates to judge at most.

    Returns:
        The start, and how many candidates were judged.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    spent = 0
    for shrink in (_shorter, _emptier, _shorter):
        chunk = len(start) // 2
        while chunk and spent < budget:
            candidates = list(dict.fromkeys(shrink(law, start, chunk)))[: budget - spent]
            spent += len(candidates)
            found = _first(law, candidates, t) if candidates else None
            if found is None:
                chunk //= 2
            else:
                start, t = found
                chunk = min(chunk, len(start) // 2)
    return start, spent


def _first(law: Law, candidates: Sequence[State], t: int) -> tuple[State, int] | None:
    """The candidate that violates the law earliest, of those no later than `t`."""
    violated = judge(law, candidates, last=t).violated.tolist()
    found = [(at, place) for place, at in enumerate(violated) if at >= 0]
    return None if not found else (candidates[min(found)[1]], min(found)[0])


def _shorter(law: Law, start: State, chunk: int) -> Iterator[State]:
    """Some neighbouring cells less."""
    if len(start) - chunk >= law.universe.shortest:
        for place in range(0, len(start), chunk):
            yield (*start[:place], *start[place + chunk :])


def _emptier(law: Law, start: State, chunk: int) -> Iterator[State]:
    """Some neighbouring things less."""
    empty = law.universe.empty
    if empty in law.starts:
        for place in range(0, len(start), chunk):
            cells = start[place : place + chunk]
            if any(cell != empty for cell in cells):
                yield (*start[:place], *[empty] * len(cells), *start[place + chunk :])
