"""Content: how much a law says about its universe and not about any.

Decides which share of the rules that differ in one entry of the table break a law. Refuses to know how the law was
found to hold. A mutant that breaks the law only on rings or at steps that are not tried here is counted as keeping it,
so the share is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from specledger.core.rng import Stream
from specledger.laws.judge import judge
from specledger.laws.law import Law

STARTS: Final = 64
STEPS: Final = 8
MOST_MUTANTS: Final = 4096
"""Mutants that are tried: all of an alphabet of up to eight symbols, else so many, spread evenly over the table."""

MAX_CELLS: Final = 10
"""Of a ring that mutants are tried on, where the universe has rings as short as that."""


@dataclass(frozen=True, slots=True)
class Content:
    """How many of the mutants of a rule break a law."""

    broken: int
    mutants: int

    def to_json(self) -> dict[str, Any]:
        """The figures for a receipt; `share` in millionths."""
        return {"broken": self.broken, "mutants": self.mutants, "share": 1_000_000 * self.broken // self.mutants}


def content_of(law: Law) -> Content:
    """Try a law on the mutants of its universe's rule.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    starts = _starts(law)
    rule = law.universe.rule
    every = len(rule.table) * (rule.symbols - 1)
    tried = min(every, MOST_MUTANTS)
    mutants = tuple(rule.mutant(number * every // tried) for number in range(tried))
    of_ring = np.repeat(np.arange(len(mutants)), len(starts))
    judged = judge(law, starts * len(mutants), mutants, of_ring, min(law.last, STEPS))
    broken = (judged.violated >= 0).reshape(len(mutants), len(starts)).any(axis=1)
    return Content(int(broken.sum()), len(mutants))


def _starts(law: Law) -> list[tuple[int, ...]]:
    universe = law.universe
    stream = Stream.named(0, "content", universe.name)
    sizes = range(universe.shortest, max(universe.shortest, min(universe.longest, MAX_CELLS)) + 1)
    return [tuple(stream.choice(law.starts) for _ in range(sizes[number % len(sizes)])) for number in range(STARTS)]
