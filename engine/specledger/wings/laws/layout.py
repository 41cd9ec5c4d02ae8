"""The layout of rings of mixed lengths in one row.

Each ring has `before` cells before it and `halo` cells after it that repeat its other end, so that every window is a
slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct

from specledger.wings.laws.transform import Image

Array = np.ndarray[Any, Any]


class Layout(Struct, frozen=True, dict=True):
    """Where the rings of a batch stand in a row.

    Attributes:
        sizes: Cells of each ring, int64.
        halo: Cells behind each ring that repeat its beginning.
        before: Cells before each ring that repeat its end.
    """

    sizes: Array
    halo: int = 1
    before: int = 1

    @cached_property
    def starts(self) -> Array:
        """Column of each ring's cell 0."""
        widths = self.sizes + self.before + self.halo
        return np.asarray(np.concatenate(([0], np.cumsum(widths)[:-1])) + self.before)

    @cached_property
    def width(self) -> int:
        """Columns of a row; the last one is spare."""
        return int((self.sizes + self.before + self.halo).sum()) + 1

    @cached_property
    def edges(self) -> Array:
        """For `reduceat`: the first column of each ring and the one behind its last, alternating."""
        return np.stack((self.starts, self.starts + self.sizes), axis=1).ravel()

    @cached_property
    def columns(self) -> Array:
        """The columns of all cells, ring by ring."""
        return np.repeat(self.starts, self.sizes) + self.places

    @cached_property
    def places(self) -> Array:
        """The place in its ring of each cell, ring by ring."""
        ends = np.cumsum(self.sizes)
        return np.asarray(np.arange(int(ends[-1])) - np.repeat(ends - self.sizes, self.sizes))

    @cached_property
    def ends(self) -> Array:
        """For `reduceat` over cells without the columns between: the first cell of each ring."""
        return np.concatenate(([0], np.cumsum(self.sizes)[:-1]))

    @cached_property
    def repeats(self) -> tuple[Array, Array]:
        """The columns that repeat cells, and the columns of those cells."""
        targets, sources = [], []
        for offset in range(self.before):
            targets.append(self.starts - 1 - offset)
            sources.append(self.starts + (self.sizes - 1 - offset) % self.sizes)
        for offset in range(self.halo):
            targets.append(self.starts + self.sizes + offset)
            sources.append(self.starts + offset % self.sizes)
        return np.concatenate(targets), np.concatenate(sources)

    @cached_property
    def owner(self) -> Array:
        """The ring of each column; the spare column belongs to the last."""
        return np.append(
            np.repeat(np.arange(len(self.sizes)), self.sizes + self.before + self.halo), len(self.sizes) - 1
        )


class Batch(Struct, frozen=True, dict=True):
    """Initial states of many rings.

    Attributes:
        layout: Where they stand.
        states: Their cells, a byte each.
    """

    layout: Layout
    states: tuple[bytes, ...]

    @classmethod
    def of(cls, states: Sequence[Sequence[int]], halo: int = 1, before: int = 1) -> Batch:
        """A batch of states, in their order."""
        encoded = tuple(map(bytes, states))
        return cls(Layout(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), halo, before), encoded)

    @cached_property
    def row(self) -> Array:
        """The cells as a row, uint8, with the repeated ones."""
        row = np.zeros(self.layout.width, dtype=np.uint8)
        row[self.layout.columns] = np.frombuffer(b"".join(self.states), dtype=np.uint8)
        targets, sources = self.layout.repeats
        row[targets] = row[sources]
        return row

    def transformed(self, image: Image) -> Batch:
        """The batch of the transformed states."""
        turn = -1 if image.reflect else 1
        mapping = bytes(image.symbol_map)
        images = []
        for state in self.states:
            mapped = state.translate(mapping.ljust(256, b"\0"))[::turn]
            shift = image.shift % len(state)
            images.append(mapped[-shift:] + mapped[:-shift] if shift else mapped)
        return Batch(self.layout, tuple(images))


def sources_of(layout: Layout, image: Image) -> Array:
    """The column whose symbol arrives at each cell, ring by ring."""
    sizes = np.repeat(layout.sizes, layout.sizes)
    turned = (layout.places - image.shift % sizes) % sizes
    return np.asarray(np.repeat(layout.starts, layout.sizes) + (sizes - 1 - turned if image.reflect else turned))
