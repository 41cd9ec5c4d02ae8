"""Graphs of too many windows for lists: potentials by numeric sweeps over all windows at once.

The potential of a certificate is not written out, since it has a number for each of up to millions of nodes. It is the
least one that is nowhere below 0, which synchronous sweeps reach from 0; the certificate says after how many. Weights
are kept over the cells that they depend on, in the smallest type that holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct

from specledger.wings.laws.automaton import Additive, Rule

Array: TypeAlias = np.ndarray[Any, Any]

ONE: Final = np.ones(1, dtype=np.int8)
"""The weight of every window in the number of cells, as a table over no cells."""
_BLOCK: Final = 1 << 20  # windows that are worked on at once, at most
_SMALL: Final = (1 << 31) - 1
_LARGE: Final = (1 << 63) - 1


class TooManySweeps(Exception):  # noqa: N818 - a limit that was met, not an error of the engine
    """The budget of sweeps is used up, or heights would leave 64 bits."""


class Weights:
    """The weight of each window as a sum of multiples of tables over its first cells, and of single windows."""

    def __init__(self, symbols: int, width: int, tables: Iterable[tuple[int, int, Array]]) -> None:
        """Take tables, each with its multiple and the number of first cells that it reads."""
        self.tables = [(times, symbols ** (width - cells), table) for times, cells, table in tables]
        self.single: dict[int, int] = {}

    def __getitem__(self, code: int) -> int:
        summed = sum(times * int(table[code // rest]) for times, rest, table in self.tables)
        return summed + self.single.get(code, 0)

    def largest(self) -> int:
        """A bound of the absolute values."""
        tables = sum(abs(times) * max(abs(int(t.max())), abs(int(t.min()))) for times, _, t in self.tables)
        return tables + max(map(abs, self.single.values()), default=0)

    def add_to(self, block: Array, times: int, first: int) -> None:
        """Add a multiple of the weights of the windows from a code on to a block."""
        for factor, rest, table in self.tables:
            if rest >= block.size:
                block += times * factor * int(table[first // rest])
                continue
            part = table[first // rest : (first + block.size) // rest].astype(block.dtype)
            part *= times * factor
            block.reshape(-1, rest)[...] += part[:, None]
        for code, weight in self.single.items():
            if first <= code < first + block.size:
                block[code - first] += times * weight


class WideGraph(Struct, frozen=True):
    """The whole de Bruijn graph of windows of `width` cells.

    Attributes:
        left: The windows that sweeps may still visit, counted once for each sweep.
    """

    symbols: int
    width: int
    left: list[int]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.symbols ** (self.width - 1))

    @property
    def block(self) -> int:
        """Windows of a block: a power of the number of symbols."""
        size = self.symbols
        while size * self.symbols <= min(_BLOCK, self.nodes):
            size *= self.symbols
        return size

    def indicator(self, codes: Iterable[int], weight: int = 1) -> Weights:
        """A weight on some windows, 0 on all others."""
        weights = Weights(self.symbols, self.width, ())
        weights.single.update(dict.fromkeys(codes, weight))
        return weights

    def climb(self, weights: Sequence[tuple[int, Weights]]) -> tuple[int | None, list[int]]:
        """After how many sweeps no node rises, or a cycle of positive weight: the codes of its windows in order.

        Raises:
            TooManySweeps: The budget was used up before.
        """
        steepest, windows = sum(abs(times) * part.largest() for times, part in weights), self.nodes * self.symbols
        highest = steepest * (self.left[0] // windows + 2)
        if highest > _LARGE:
            raise TooManySweeps("the heights would leave 64 bits")
        heights = np.zeros(self.nodes, dtype=np.int32 if highest <= _SMALL else np.int64)
        before = np.full(self.nodes, -1, dtype=np.int8)
        sweeps = 0
        while True:
            self.left[0] -= windows
            if self.left[0] < 0:
                raise TooManySweeps(f"{sweeps} sweeps over {self.symbols}^{self.width} windows do not decide them")
            raised = self._sweep(heights, before, weights)
            if raised is None:
                return sweeps, []
            heights, sweeps = raised, sweeps + 1
            cycle = self._cycle(before, int(heights.argmax()))
            if cycle:
                return None, cycle

    def _sweep(self, heights: Array, before: Array, weights: Sequence[tuple[int, Weights]]) -> Array | None:
        """The heights after each node took the highest that a window leads to; None if none rose."""
        symbols, nodes, size = self.symbols, self.nodes, self.block
        raised, risen = heights.copy(), False
        for first in range(0, nodes, size):
            best, came = raised[first : first + size], before[first : first + size]
            for symbol in range(symbols):
                code = symbol * nodes + first
                block = np.repeat(heights[code // symbols : (code + size) // symbols], symbols)
                for times, part in weights:
                    part.add_to(block, times, code)
                higher = block > best
                if higher.any():
                    risen = True
                    np.copyto(best, block, where=higher)
                    came[higher] = symbol
        return raised if risen else None

    def _cycle(self, before: Array, node: int) -> list[int]:
        """The windows of the cycle that a node's predecessors lead to, in walking order; none if they end."""
        seen: dict[int, int] = {}
        codes: list[int] = []
        while node not in seen:
            seen[node] = len(codes)
            symbol = int(before[node])
            if symbol < 0:
                return []
            codes.append(symbol * self.nodes + node)
            node = codes[-1] // self.symbols
        return codes[seen[node] :][::-1]

    def way(self, tail: int, head: int) -> list[int]:
        """The windows of a shortest walk between two nodes: their words overlap as far as they can."""
        cells, known = self.width - 1, 0
        for known in range(cells, -1, -1):
            if tail % self.symbols**known == head // self.symbols ** (cells - known):
                break
        codes = []
        for shift in range(cells - known - 1, -1, -1):
            codes.append(tail * self.symbols + head // self.symbols**shift % self.symbols)
            tail = codes[-1] % self.nodes
        return codes


def later_weights(rule: Rule, observable: Additive, at: int) -> Array:
    """What each window that determines it adds to an observable `at` steps later."""
    weights = _smallest(np.array(observable.weights, dtype=np.int64))
    width = observable.width
    for _ in range(at):
        width += 2 * rule.radius
        weights = _before(rule, weights, width)
    return weights


def _before(rule: Rule, weights: Array, width: int) -> Array:
    """The weights of the windows of `width` cells by those of what they become in a step."""
    symbols, table = rule.symbols, np.array(rule.table, dtype=np.int32)
    shorter = table
    for _ in range(rule.width + 1, width):
        shorter = _longer(shorter, table, symbols)
    if width == rule.width:
        return weights[table]
    taken = np.empty(symbols**width, dtype=weights.dtype)
    size = max(1, _BLOCK // table.size) * table.size // symbols
    for first in range(0, shorter.size, size):
        part = _longer(shorter[first : first + size], table, symbols)
        taken[first * symbols : first * symbols + part.size] = weights[part]
    return taken


def _longer(after: Array, table: Array, symbols: int) -> Array:
    """What windows become that are one cell longer than those of a whole number of the rule's tables."""
    longer = np.repeat(after, symbols)
    longer *= symbols
    longer.reshape(-1, table.size)[...] += table
    return longer


def _smallest(values: Array) -> Array:
    """The values in the smallest type that holds them."""
    largest = int(np.abs(values).max(initial=0))
    for kind in (np.int8, np.int16, np.int32):
        if largest <= np.iinfo(kind).max:
            return values.astype(kind)
    return values
