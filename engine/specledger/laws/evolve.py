"""Evolution of many rings at once, by table lookup in numpy arrays.

One row holds all rings of mixed lengths at one step. Each ring has `before` cells before it and `halo` cells after it
that repeat its other end, so that every window is a slice. The results equal those of `Rule.step` and of the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from msgspec import Struct

from specledger.laws.automaton import Additive, Rule
from specledger.laws.primitive import SCANS, Measure, Scan, bounds_of
from specledger.laws.transform import Image

MAX_ELEMENTS: Final = 1 << 20
"""Array elements that are worked on at once, so that a long run needs little memory."""

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
        for place in range(self.before):
            targets.append(self.starts - 1 - place)
            sources.append(self.starts + (self.sizes - 1 - place) % self.sizes)
        for place in range(self.halo):
            targets.append(self.starts + self.sizes + place)
            sources.append(self.starts + place % self.sizes)
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
        held = tuple(map(bytes, states))
        return cls(Layout(np.fromiter(map(len, held), dtype=np.int64, count=len(held)), halo, before), held)

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
        found = []
        for state in self.states:
            mapped = state.translate(mapping.ljust(256, b"\0"))[::turn]
            shift = image.shift % len(state)
            found.append(mapped[-shift:] + mapped[:-shift] if shift else mapped)
        return Batch(self.layout, tuple(found))


def _sources_of(layout: Layout, image: Image) -> Array:
    """The column whose symbol arrives at each cell, ring by ring."""
    sizes = np.repeat(layout.sizes, layout.sizes)
    turned = (layout.places - image.shift % sizes) % sizes
    return np.asarray(np.repeat(layout.starts, layout.sizes) + (sizes - 1 - turned if image.reflect else turned))


Changes = tuple[Array, Array]
"""Of each ring the entry of the table in which its rule differs, and the symbol that it has there."""


@dataclass(frozen=True)
class Trajectory:
    """The states of all rings of a batch at 0, 1, … steps.

    Attributes:
        rule: The automaton, or the one that the rings' own rules are mutants of.
        layout: Where the rings stand.
        rows: The cells, uint8, of shape (steps + 1, columns).
    """

    rule: Rule
    layout: Layout
    rows: Array

    @property
    def steps(self) -> int:
        """Steps that were taken."""
        return len(self.rows) - 1

    @property
    def cases(self) -> int:
        """Rings."""
        return len(self.layout.sizes)

    @cached_property
    def longest(self) -> int:
        """Cells of the longest ring."""
        return int(self.layout.sizes.max())

    def state(self, case: int, step: int) -> tuple[int, ...]:
        """One ring at one step."""
        start = int(self.layout.starts[case])
        return tuple(self.rows[step, start : start + int(self.layout.sizes[case])].tolist())

    def filled(self, empty: int) -> Array:
        """How many cells of each start hold something."""
        found: Array = self.rows[0] != empty
        return np.asarray(np.add.reduceat(found, self.layout.edges, dtype=np.int64)[::2])

    def crossed(self, empty: int) -> Array:
        """Whether each ring has something in its first or last cell at some step."""
        starts, ends = self.layout.starts, self.layout.starts + self.layout.sizes - 1
        found = (self.rows[:, starts] != empty) | (self.rows[:, ends] != empty)
        return np.asarray(found.any(axis=0))

    def changed(self) -> Array:
        """Whether each ring changes at some step."""
        if self.steps == 0:
            return np.zeros(self.cases, dtype=bool)
        found = (self.rows[1:] != self.rows[:-1]).any(axis=0)
        return np.asarray(np.logical_or.reduceat(found, self.layout.edges)[::2])

    def cells(self) -> Array:
        """All cells, ring by ring, of shape (steps + 1, cells)."""
        return self.rows[:, self.layout.columns]

    def transformed(self, image: Image) -> Array:
        """All cells of the transformed states, ring by ring."""
        return np.asarray(np.array(image.symbol_map, dtype=np.uint8)[self.rows[:, _sources_of(self.layout, image)]])

    def measure(self, measure: Measure, *, exact: bool = False) -> Array:
        """A measure of all states, of shape (steps + 1, cases): int64, or Python integers where `exact`."""
        found = self._scan(measure) if isinstance(measure, Scan) else self._total(measure, exact)
        return found.astype(object) if exact and found.dtype != object else found

    def _total(self, measure: Additive, exact: bool) -> Array:
        """An additive measure of all states; `exact` where a sum may leave 64 bits."""
        if measure.width - 1 > self.layout.halo:
            raise ValueError(f"windows of {measure.width} cells need a halo of {measure.width - 1}")
        least, most = bounds_of(measure, self.longest)
        dtype: Any = object if exact and not -(2**63) <= least <= most < 2**63 else np.int64
        low, high = min(measure.weights), max(measure.weights)
        small = dtype if dtype is object else np.int8 if -128 <= low <= high < 128 else np.int64
        weights = np.array(measure.weights, dtype=small)
        result = np.empty((self.steps + 1, self.cases), dtype=dtype)
        height = max(1, MAX_ELEMENTS // self.layout.width)
        for first in range(0, self.steps + 1, height):
            part = slice(first, first + height)
            values = weights.take(windows(self.rows[part], measure.width, measure.symbols), mode="clip")
            result[part] = np.add.reduceat(values, self.layout.edges, axis=1, dtype=dtype)[:, ::2]
        return result + measure.constant if measure.constant else result

    def _scan(self, scan: Scan) -> Array:
        value, ends = SCANS[scan.form], np.cumsum(self.layout.sizes).tolist()
        rings = list(zip([0, *ends], ends, strict=False))
        rows = (row.tobytes().translate(scan.table) for row in self.cells())
        return np.array([[value(marks, start, end) for start, end in rings] for marks in rows], dtype=np.int64)


def windows(rows: Array, width: int, symbols: int) -> Array:
    """The code of the window that starts at each column; meaningless where it leaves the ring and its halo."""
    found = np.zeros(rows.shape, dtype=code_type(symbols, width))
    window_codes(rows, symbols, width, found[:, : rows.shape[1] - width + 1])
    return found


def code_type(symbols: int, width: int) -> Any:
    """The smallest type of array that holds the code of a window."""
    contents = symbols**width
    return np.uint8 if contents <= 1 << 8 else np.uint16 if contents <= 1 << 16 else np.int64


def window_codes(rows: Array, symbols: int, width: int, out: Array) -> None:
    """Write the code of each window that lies within a row."""
    reach = rows.shape[-1] - width + 1
    np.copyto(out, rows[..., :reach])
    for offset in range(1, width):
        np.multiply(out, symbols, out=out)
        np.add(out, rows[..., offset : offset + reach], out=out, casting="unsafe")


def evolve(batch: Batch, rule: Rule, steps: int, changes: Changes | None = None) -> Trajectory:
    """The trajectories of all rings of a batch, each under the rule or a mutant of it."""
    symbols, width, layout = rule.symbols, rule.width, batch.layout
    near, reach = width // 2, layout.width - width + 1
    if min(layout.before, layout.halo) < near:
        raise ValueError(f"windows of {width} cells need {near} cells before and behind each ring")
    table = np.array(rule.table, dtype=np.uint8)
    index = np.empty(reach, dtype=code_type(symbols, width))
    changed = None
    if changes is not None:
        entries, others = (each[layout.owner][near:-near] for each in changes)
        changed = entries.astype(index.dtype), others.astype(np.uint8)
    rows = np.zeros((steps + 1, layout.width), dtype=np.uint8)
    rows[0] = batch.row
    targets, sources = layout.repeats
    for step in range(steps):
        row, after = rows[step], rows[step + 1]
        window_codes(row, symbols, width, index)
        table.take(index, out=after[near:-near], mode="clip")
        if changed is not None:
            np.copyto(after[near:-near], changed[1], where=index == changed[0])
        after[targets] = after[sources]
    return Trajectory(rule, layout, rows)
