"""Evolution of many rings at once, by table lookup in numpy arrays.

One row holds all rings at one step, arranged by a `Layout`. The results equal those of `Rule.step` and of the measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.layout import Array, Batch, Layout, sources_of
from specledger.wings.laws.primitive import SCANS, Measure, Scan, bounds_of
from specledger.wings.laws.transform import Image

MAX_ELEMENTS: Final = 1 << 20
"""Array elements that are worked on at once, so that a long run needs little memory."""


Changes = tuple[Array, Array]
"""Of each ring the entry of the table in which its rule differs, and the symbol that it has there."""


def _mapping(image: Image) -> Array:
    return np.array(image.symbol_map, dtype=np.uint8)


@dataclass(frozen=True)
class Trajectory:
    """The states of all rings of a batch at 0, 1, … steps.

    Attributes:
        rule: The automaton (one of them, where rings have rules of their own).
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
        occupied: Array = self.rows[0] != empty
        return np.asarray(np.add.reduceat(occupied, self.layout.edges, dtype=np.int64)[::2])

    def crossed(self, empty: int) -> Array:
        """Whether each ring has something in its first or last cell at some step."""
        starts, ends = self.layout.starts, self.layout.starts + self.layout.sizes - 1
        crossings = (self.rows[:, starts] != empty) | (self.rows[:, ends] != empty)
        return np.asarray(crossings.any(axis=0))

    def changed(self) -> Array:
        """Whether each ring changes at some step."""
        if self.steps == 0:
            return np.zeros(self.cases, dtype=bool)
        differs = (self.rows[1:] != self.rows[:-1]).any(axis=0)
        return np.asarray(np.logical_or.reduceat(differs, self.layout.edges)[::2])

    def cells(self) -> Array:
        """All cells, ring by ring, of shape (steps + 1, cells)."""
        return self.rows[:, self.layout.columns]

    def transformed(self, image: Image) -> Array:
        """All cells of the transformed states, ring by ring."""
        return np.asarray(_mapping(image)[self.rows[:, sources_of(self.layout, image)]])

    def measure(self, measure: Measure, *, exact: bool = False) -> Array:
        """A measure of all states, of shape (steps + 1, cases): int64, or Python integers where `exact`."""
        values = self._scan(measure) if isinstance(measure, Scan) else self.total(measure, exact=exact)
        return values.astype(object) if exact and values.dtype != object else values

    def total(self, measure: Additive, *, exact: bool = False) -> Array:
        """An additive measure of all states; `exact` where a sum may leave 64 bits."""
        low, high = bounds_of(measure, self.longest)
        wide = exact and not -(2**63) <= low <= high < 2**63
        return self._summed(measure, object if wide else np.int64)

    def _summed(self, measure: Additive, dtype: Any) -> Array:
        if measure.width - 1 > self.layout.halo:
            raise ValueError(f"windows of {measure.width} cells need a halo of {measure.width - 1}")
        low, high = min(measure.weights), max(measure.weights)
        small = dtype if dtype is object else np.int8 if -128 <= low <= high < 128 else np.int64
        weights = np.array(measure.weights, dtype=small)
        result = np.empty((self.steps + 1, self.cases), dtype=dtype)
        for part in self._parts():
            values = weights.take(windows(self.rows[part], measure.width, measure.symbols), mode="clip")
            result[part] = np.add.reduceat(values, self.layout.edges, axis=1, dtype=dtype)[:, ::2]
        return result + measure.constant if measure.constant else result

    def _parts(self) -> list[slice]:
        """The rows in pieces of bounded size."""
        height = max(1, MAX_ELEMENTS // self.layout.width)
        return [slice(first, first + height) for first in range(0, self.steps + 1, height)]

    def _scan(self, scan: Scan) -> Array:
        value, ends = SCANS[scan.form], np.cumsum(self.layout.sizes).tolist()
        rings = list(zip([0, *ends], ends, strict=False))
        rows = (row.tobytes().translate(scan.table) for row in self.cells())
        return np.array([[value(marks, start, end) for start, end in rings] for marks in rows], dtype=np.int64)


def windows(rows: Array, width: int, symbols: int) -> Array:
    """The code of the window that starts at each column; meaningless where it leaves the ring and its halo."""
    codes = np.zeros(rows.shape, dtype=code_type(symbols, width))
    window_codes(rows, symbols, width, codes[:, : rows.shape[1] - width + 1])
    return codes


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
        entries, others = (change[layout.owner][near:-near] for change in changes)
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
