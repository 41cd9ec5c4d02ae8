"""Search: starts that were changed to break a law.

Decides how a violation is looked for beyond the cases: starts at which the antecedent often holds are changed a little,
round after round. Refuses to know what a law says.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from specledger.core.rng import Stream
from specledger.laws.generators import Case, Maker
from specledger.laws.judge import Judged, judge
from specledger.laws.law import Law
from specledger.spec.universe import Generator

State = tuple[int, ...]

ROUNDS: Final = 5
POOL: Final = 48
"""Starts that are kept from round to round."""


def search(law: Law, cases: tuple[Case, ...], judged: Judged) -> tuple[State, int] | None:
    """A start that violates the law and the step at which it does, or None.

    Args:
        law: The law.
        cases: Cases that do not violate it.
        judged: What became of them.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    if law.mutations < ROUNDS:
        return None
    stream = Stream.named(law.seed, "search", law.universe.name)
    maker = Maker(law.universe, Generator(make="mutations"), law.starts, law.universe.sizes, stream)
    pool = _best([case.start for case in cases], judged)
    for number in range(ROUNDS):
        count = law.mutations // ROUNDS
        starts = [maker.mutate(pool[place % len(pool)], 1 + (number + place) % 3) for place in range(count)]
        judged = judge(law, starts)
        found = first_violation(starts, judged)
        if found is not None:
            return found
        pool = _best(starts, judged)[: POOL // 2] + pool[: POOL // 2]
    return None


def first_violation(starts: list[State], judged: Judged) -> tuple[State, int] | None:
    """The shortest start that violates the law; of those, the one that does so first."""
    found = [
        (len(starts[place]), int(judged.violated[place]), place)
        for place in np.nonzero(judged.violated >= 0)[0].tolist()
    ]
    if not found:
        return None
    _, t, place = min(found)
    return starts[place], t


def _best(starts: list[State], judged: Judged) -> list[State]:
    """Short starts at which the antecedent holds often; those that are not usable come last."""
    hits = judged.hits.tolist()
    usable = judged.usable.tolist()
    order = sorted(range(len(starts)), key=lambda at: (not usable[at], len(starts[at]) > 32, -hits[at], at))
    return [starts[at] for at in order[:POOL]]
