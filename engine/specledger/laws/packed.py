"""Rings evolved and measured in machine words, without access to single cells.

The weight of a window is a number whose bits are Boolean networks of the cells' bits; a sum counts the bits of each.
The results equal those of table lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from specledger.laws.automaton import Additive, Rule
from specledger.laws.evolve import Changes, Trajectory, evolve
from specledger.laws.layout import Array, Batch
from specledger.laws.planes import BITS, Network, derive, network_of, run
from specledger.laws.transform import Image
from specledger.laws.words import Words, evolve_words

MAX_WEIGHT_BITS: Final = 16

MAX_WORDS: Final = 1 << 23
"""Words of a trajectory at most; larger ones take less memory cell by cell."""


MAX_PIECE: Final = 1 << 14
"""Words of a plane that are worked on at once: they stay in the cache."""


@dataclass(frozen=True)
class PackedTrajectory(Trajectory):
    """The states of rings in words; `rows` is empty, and cells are made when somebody asks for them.

    Attributes:
        words: Where the rings lie.
        planes: uint64 of shape (steps + 1, bits, words).
    """

    words: Words = field(default_factory=lambda: Words(np.ones(1, dtype=np.int64)))
    planes: Array = field(default_factory=lambda: np.zeros((1, 1, 1), dtype=np.uint64))

    @property
    def steps(self) -> int:
        """Steps that were taken."""
        return len(self.planes) - 1

    @cached_property
    def whole(self) -> Trajectory:
        """The same states by cells."""
        rows = np.zeros((self.steps + 1, self.layout.width), dtype=np.uint8)
        rows[:, self.layout.columns] = self.words.unpack(self.planes)
        targets, sources = self.layout.repeats
        rows[:, targets] = rows[:, sources]
        return Trajectory(self.rule, self.layout, rows)

    def state(self, case: int, step: int) -> tuple[int, ...]:
        """One ring at one step."""
        return self.whole.state(case, step)

    def transformed(self, image: Image) -> Array:
        """All cells of the transformed states, ring by ring."""
        return self.whole.transformed(image)

    def cells(self) -> Array:
        """All cells, ring by ring."""
        return self.words.unpack(self.planes)

    def filled(self, empty: int) -> Array:
        """How many cells of each start hold something."""
        masks = self.words.masks
        parts = [plane ^ masks if empty >> bit & 1 else plane for bit, plane in enumerate(self.planes[0])]
        return self.words.added(np.bitwise_count(np.bitwise_or.reduce(parts)).astype(np.int64))

    def crossed(self, empty: int) -> Array:
        """Whether each ring has something in its first or last cell at some step."""
        words, rings, masks = self.words, self.cases, self.words.masks
        some, all_ = np.bitwise_or.reduce(self.planes, axis=0), np.bitwise_and.reduce(self.planes, axis=0)
        bits = range(self.planes.shape[1])
        ever = np.bitwise_or.reduce([all_[bit] ^ masks if empty >> bit & 1 else some[bit] for bit in bits])
        last = words.preceding[:rings]
        return np.asarray((ever[:rings] & np.uint64(1) | ever[last] >> (words.cells[last] - np.uint64(1))) != 0)

    def changed(self) -> Array:
        """Whether each ring changes at some step."""
        differing = np.bitwise_or.reduce(self.planes[1:] ^ self.planes[:-1], axis=(0, 1))
        return np.asarray(self.words.added((differing != 0).astype(np.int64)) > 0)

    def _summed(self, measure: Additive, dtype: Any) -> Array:
        network, least = weigher(measure), min(measure.weights)
        if network is None or dtype is object:
            return self.whole.total(measure, exact=dtype is object)
        reach = (max(measure.weights) - least + abs(least)) * self.longest + abs(measure.constant)
        dtype = np.int16 if reach < 1 << 15 else np.int64
        height, count = max(1, MAX_PIECE // self.planes.shape[2]), self.planes.shape[2]
        counts = np.zeros((self.steps + 1, count), dtype=dtype)
        for first in range(0, self.steps + 1, height):
            self._count(network, self.planes[first : first + height], counts[first : first + height])
        result = self.words.added(counts)
        if least or measure.constant:
            result += (least * self.layout.sizes + measure.constant).astype(dtype)
        return result

    def _count(self, network: Network, planes: Array, result: Array) -> None:
        """Write the sums of what a network gives of each word of some states."""
        bits, words = planes.shape[1], self.words
        inputs = [
            words.turned(planes[:, at % bits], at // bits) if at in network.used else None
            for at in range(network.inputs)
        ]
        for bit, plane in enumerate(run(network, inputs)):
            if plane is not None:
                counts = np.bitwise_count(plane & words.masks)
                if bit:
                    result += counts.astype(result.dtype) << bit
                else:
                    result[:] = counts


@lru_cache(maxsize=256)
def weigher(measure: Additive) -> Network | None:
    """The bits of a window's weight above the least one, as a network; None if that would be large."""
    least = min(measure.weights)
    spread = (max(measure.weights) - least).bit_length()
    if measure.symbols not in BITS or spread > MAX_WEIGHT_BITS:
        return None
    return network_of(measure.symbols, measure.width, [weight - least for weight in measure.weights], spread)


def evolve_best(
    batch: Batch, rule: Rule, steps: int, changes: Changes | None = None, *, cells: bool = False
) -> Trajectory:
    """The trajectories of all rings: in words where that is possible, else by look-up.

    Args:
        batch: The initial states.
        rule: The rule.
        steps: Steps to take.
        changes: See `evolve`.
        cells: Whether single cells will be asked for, which look-up has at hand.
    """
    if cells or changes is not None or derive(rule) is None:
        return evolve(batch, rule, steps, changes)
    words = batch.layout.words
    if (steps + 1) * BITS[rule.symbols] * len(words.cells) > MAX_WORDS:
        return evolve(batch, rule, steps)
    return evolve_packed(batch, rule, steps)


def evolve_packed(batch: Batch, rule: Rule, steps: int) -> PackedTrajectory:
    """The trajectories of rings over 2 or 4 symbols, in words.

    Raises:
        ValueError: The rule has no planes.
    """
    network = derive(rule)
    if network is None:
        raise ValueError(f"no planes for {rule.symbols} symbols")
    words = batch.layout.words
    planes = evolve_words(network, words.pack(batch.states, BITS[rule.symbols]), words, steps)
    return PackedTrajectory(rule, batch.layout, np.zeros((1, 0), dtype=np.uint8), words=words, planes=planes)
