"""Rings of mixed lengths in 64-bit words, evolved by a Boolean network.

Bit i of a ring's word in plane b is bit b of the symbol in cell i; bits above the ring are 0. A neighbour is a rotation
by the ring's own length. A ring of more than 64 cells spans several words of nearly equal length, so that each is at
least half full and a rotation by less than that takes its missing bits from one other word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np

from specledger.laws.planes import Network, run

Array = np.ndarray[Any, Any]

WORD: Final = 64

_ONES: Final = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Words:
    """Where rings lie: first a word of each ring, then the further words of those that have more, ring by ring.

    Attributes:
        sizes: Cells of each ring, int64.
    """

    sizes: Array
    _known: dict[int, tuple[Any, Array]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def long(self) -> Array:
        """The rings that have more than one word."""
        return np.flatnonzero(self.sizes > WORD)

    @cached_property
    def more(self) -> Array:
        """How many further words each of them has."""
        return np.asarray((self.sizes[self.long] - 1) // WORD)

    @cached_property
    def firsts(self) -> Array:
        """The first further word of each of them."""
        return np.asarray(len(self.sizes) + np.cumsum(self.more) - self.more)

    @cached_property
    def owner(self) -> Array:
        """The ring of each word."""
        return np.concatenate((np.arange(len(self.sizes)), np.repeat(self.long, self.more)))

    @cached_property
    def cells(self) -> Array:
        """How many cells each word holds, uint64."""
        if not len(self.long):
            return self.sizes.astype(np.uint64)
        owner = self.owner
        place = np.zeros_like(owner)
        place[len(self.sizes) :] = np.arange(len(self.sizes), len(owner)) - np.repeat(self.firsts, self.more) + 1
        least, rest = np.divmod(self.sizes, (self.sizes + WORD - 1) // WORD)
        return (least[owner] + (place < rest[owner])).astype(np.uint64)

    @cached_property
    def masks(self) -> Array:
        """The bits of each word that are cells."""
        return np.asarray(_ONES >> (np.uint64(WORD) - self.cells))

    @cached_property
    def following(self) -> Array:
        """The word that holds the cells after those of each word: its own, where it holds the whole ring."""
        found = np.arange(len(self.cells))
        found[len(self.sizes) :] += 1
        found[self.long], found[self.firsts + self.more - 1] = self.firsts, self.long
        return found

    @cached_property
    def preceding(self) -> Array:
        """The word that holds the cells before those of each word."""
        found = np.empty_like(self.following)
        found[self.following] = np.arange(len(found))
        return found

    def pack(self, states: Sequence[bytes], bits: int) -> Array:
        """States as planes: uint64 of shape (bits, words)."""
        if len(self.long):
            long = {place: _cut(states[place]) for place in self.long.tolist()}
            parts = [
                long[place][0] if place in long else state.ljust(WORD, b"\0") for place, state in enumerate(states)
            ]
            parts += [part for cut in long.values() for part in cut[1:]]
        else:
            parts = [state.ljust(WORD, b"\0") for state in states]
        cells = np.frombuffer(b"".join(parts), dtype=np.uint8)
        planes = np.empty((bits, len(self.cells)), dtype=np.uint64)
        for bit in range(bits):
            planes[bit] = np.packbits(cells & np.uint8(1 << bit), bitorder="little").view("<u8")
        return planes

    def unpack(self, planes: Array) -> Array:
        """The cells of planes of shape (steps, bits, words), ring by ring: uint8 of shape (steps, cells)."""
        steps, bits, count = planes.shape
        held = np.ascontiguousarray(planes).astype("<u8", copy=False).view(np.uint8).reshape(steps, bits, count * 8)
        found = np.unpackbits(held[:, 0], axis=1, bitorder="little")
        for bit in range(1, bits):
            found |= np.unpackbits(held[:, bit], axis=1, bitorder="little") << bit
        return found[:, self._places]

    @cached_property
    def _places(self) -> Array:
        """The bit of each cell, ring by ring."""
        order = np.argsort(self.owner, kind="stable")
        cells = self.cells[order].astype(np.int64)
        ends = np.cumsum(cells)
        return np.repeat(order * WORD - (ends - cells), cells) + np.arange(int(ends[-1]))

    def turned(self, plane: Array, offset: int) -> Array:
        """The cell `offset` places on, or back, at most 32, at the place of each; bits above the ring are arbitrary."""
        if offset == 0:
            return plane
        near, far = self._shifts(offset)
        other = self.following if offset > 0 else self.preceding
        beyond = plane.take(other, axis=-1) if len(self.long) else plane
        found: Array = plane >> near | beyond << far if offset > 0 else plane << near | beyond >> far
        return found

    def _shifts(self, offset: int) -> tuple[Any, Array]:
        """By how many bits a word is shifted, and the one that what is missing comes from."""
        if offset not in self._known:
            near: Any = np.uint64(abs(offset))
            if near >= self.cells.min():
                near = near % self.cells
            self._known[offset] = near, (self.cells if offset > 0 else self.cells[self.preceding]) - near
        return self._known[offset]

    def added(self, counts: Array) -> Array:
        """What the words of each ring have together: from (…, words) to (…, rings)."""
        rings = len(self.sizes)
        if not len(self.long):
            return counts
        found = counts[..., :rings].copy()
        found[..., self.long] += np.add.reduceat(counts[..., rings:], self.firsts - rings, axis=-1, dtype=counts.dtype)
        return found


def _cut(state: bytes) -> list[bytes]:
    """The cells of each word of a long ring, filled up."""
    count = -(-len(state) // WORD)
    least, more = divmod(len(state), count)
    firsts = [level * least + min(level, more) for level in range(count + 1)]
    return [state[first:last].ljust(WORD, b"\0") for first, last in pairwise(firsts)]


def evolve_words(network: Network, first: Array, words: Words, steps: int) -> Array:
    """The planes at 0, 1, … `steps`: uint64 of shape (steps + 1, bits, words).

    Args:
        network: Of a rule.
        first: The first planes.
        words: Where the rings lie.
        steps: Steps to take.
    """
    bits, count = first.shape
    history = np.empty((steps + 1, bits, count), dtype=np.uint64)
    history[0] = first
    near = network.inputs // bits // 2
    for step in range(steps):
        planes = history[step]
        inputs = [
            words.turned(planes[at % bits], at // bits - near) if at in network.used else None
            for at in range(network.inputs)
        ]
        for bit, found in enumerate(run(network, inputs)):
            np.bitwise_and(words.masks, 0 if found is None else found, out=history[step + 1, bit])
    return history
