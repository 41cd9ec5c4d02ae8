"""The power of a trial without a violation, and the content of a law.

The content is the share of the rules that differ in one entry of the table and break the law. A mutant that breaks it
only on rings or at steps that are not tried counts as keeping it, so the share is a lower bound. Sources: kinetic grid
facts, Verdicts; the rule of three for the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from specledger.core.rng import Stream
from specledger.wings.laws.evolve import evolve, windows
from specledger.wings.laws.generators import Case
from specledger.wings.laws.judge import Judged, Seen, judge, steps_of
from specledger.wings.laws.law import Law
from specledger.wings.laws.layout import Array, Batch
from specledger.wings.laws.spec.law import Trial
from specledger.wings.laws.transform import Image
from specledger.wings.laws.universe import Universe

ONE: Final = 1_000_000
"""Shares are counted in millionths."""

BINS: Final = 5


class Power(Struct, frozen=True):
    """What a trial saw.

    Attributes:
        cases: Starts that were made.
        usable: Those that meet the preconditions.
        hits: Steps, over all usable cases, at which the antecedent held.
        hit_cases: Usable cases in which it held at least once.
        families: Families of cases in which it held.
        interacting: Usable cases in which something happens; in a universe that does not say what, those that change.
        wrapping: Usable cases with something in the first or the last cell at some step.
        bins: Fifths of density that usable starts fell into.
        drawn: Of the cases in which the antecedent held, those that were drawn independently of all others.
        drawn_by: Their families.
    """

    cases: int
    usable: int
    hits: int
    hit_cases: int
    families: int
    interacting: int
    wrapping: int
    bins: int
    drawn: int = 0
    drawn_by: tuple[str, ...] = ()

    @property
    def coverage(self) -> int:
        """The weighted sum of the ratios, in millionths."""
        usable = max(1, self.usable)
        return (
            300_000 * self.usable // max(1, self.cases)
            + 200_000 * self.interacting // usable
            + 100_000 * self.wrapping // usable
            + 200_000 * self.bins // BINS
            + 200_000 * self.hit_cases // usable
        )

    @property
    def bound(self) -> dict[str, Any] | None:
        """The most, in millionths, that the share of violating cases can be (95 %), and of which cases; None of none.

        By the rule of three 3 / drawn, rounded up: the steps of one case are no independent trials.
        """
        if not self.drawn:
            return None
        return {"share": min(ONE, -(-3 * ONE // self.drawn)), "drawn": self.drawn, "families": list(self.drawn_by)}

    def weakness(self, needed: Trial) -> str | None:
        """The reason for saying nothing, if the trial shows less than is needed."""
        if self.usable < needed.usable:
            return "unmet_preconditions"
        if self.hits == 0:
            return "vacuous_pass"
        if self.hits < needed.hits or self.families < needed.families or self.coverage < needed.coverage:
            return "inconclusive_low_power"
        return None

    def to_json(self) -> dict[str, Any]:
        """The figures for a receipt."""
        names = ("cases", "usable", "hits", "hit_cases", "families", "interacting", "wrapping", "bins")
        return {**{name: getattr(self, name) for name in names}, "coverage": self.coverage}


def weigh(cases: Sequence[Case], judged: Judged, seen: Seen) -> Power:
    """The power of a trial in which these cases were judged."""
    usable, hit = judged.usable, judged.hits > 0
    drawn = [cases[index].family for index in np.flatnonzero(hit).tolist() if cases[index].drawn]
    sizes = np.array([len(case.start) for case in cases])
    bins = np.minimum(seen.filled * BINS // sizes, BINS - 1)
    return Power(
        cases=len(cases),
        usable=int(usable.sum()),
        hits=int(judged.hits.sum()),
        hit_cases=int(hit.sum()),
        families=len({cases[index].family for index in np.flatnonzero(hit).tolist()}),
        interacting=int((seen.active & usable).sum()),
        wrapping=int((seen.crossed & usable).sum()),
        bins=int(np.count_nonzero(np.bincount(bins[usable]))),
        drawn=len(drawn),
        drawn_by=tuple(sorted(set(drawn))),
    )


STARTS: Final = 64
STEPS: Final = 8
MOST_MUTANTS: Final = 4096
"""Mutants that are tried: all of an alphabet of up to eight symbols, else so many, spread evenly over the table."""

MAX_CELLS: Final = 10
"""Of a ring that mutants are tried on, where the universe has rings as short as that."""


def content_of(law: Law) -> dict[str, int]:
    """How many of the mutants of its universe's rule break a law; `share` in millionths.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    universe, rule = law.universe, law.universe.rule
    starts = universe.once(_starts, law.starts)
    every = len(rule.table) * (rule.symbols - 1)
    tried = min(every, MOST_MUTANTS)
    changes = np.array([rule.change(number * every // tried) for number in range(tried)])
    last = min(law.on(MAX_CELLS).last, STEPS)
    own = judge(law, starts, last=last)
    steps = steps_of(law, max(map(len, starts)), last)
    read = universe.once(_entries_read, law.starts, law.image, steps)[:, changes[:, 0]]
    # where the entry is not read, the rule is the universe's own
    broken = np.asarray((~read & (own.violated >= 0)[:, None]).any(axis=0))
    mutants, places = np.nonzero(read.T)
    if len(mutants):
        entries, symbols = changes[mutants].T
        judged = judge(law, [starts[index] for index in places.tolist()], (entries, symbols), last)
        broken[mutants[judged.violated >= 0]] = True
    count = int(broken.sum())
    return {"broken": count, "mutants": tried, "share": ONE * count // tried}


def _entries_read(universe: Universe, symbols: tuple[int, ...], image: Image | None, steps: int) -> Array:
    """Which entries of the table so many steps from each start read, its transformed state included."""
    rule, starts = universe.rule, universe.once(_starts, symbols)
    batch = Batch.of(starts, rule.radius, rule.radius)
    layout, entries = batch.layout, np.zeros((len(starts), len(rule.table)), dtype=bool)
    owner, columns = np.repeat(np.arange(len(starts)), layout.sizes), layout.columns - rule.radius
    for ring_batch in (batch, *([] if image is None else [batch.transformed(image)])):
        rows = evolve(ring_batch, rule, steps).rows
        entries[owner, windows(rows, rule.width, rule.symbols)[:steps, columns]] = True
    return entries


def _starts(universe: Universe, symbols: tuple[int, ...]) -> list[tuple[int, ...]]:
    stream = Stream.named(0, "content", universe.name)
    sizes = range(universe.shortest, max(universe.shortest, min(universe.longest, MAX_CELLS)) + 1)
    return [tuple(stream.choice(symbols) for _ in range(sizes[number % len(sizes)])) for number in range(STARTS)]
