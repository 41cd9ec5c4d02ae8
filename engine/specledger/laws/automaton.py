"""Ring automata of radius 1 and additive observables, evaluated exactly and slowly.

Fast evolution and every proof are tested against this module. Source: Hattori and Takesue, Physica D 49 (1991), for
additive observables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rule:
    """A radius-1 ring automaton over the symbols 0 … symbols-1.

    Attributes:
        symbols: Size of the alphabet.
        table: The next symbol of (left, self, right), at `(left * symbols + self) * symbols + right`.
    """

    symbols: int
    table: tuple[int, ...]

    def step(self, cells: Sequence[int]) -> tuple[int, ...]:
        """All cells of a ring after one synchronous step."""
        symbols, table = self.symbols, self.table
        lefts, rights = (*cells[-1:], *cells[:-1]), (*cells[1:], *cells[:1])
        around = zip(lefts, cells, rights, strict=True)
        return tuple([table[(left * symbols + cell) * symbols + right] for left, cell, right in around])

    def run(self, cells: Sequence[int], steps: int) -> list[tuple[int, ...]]:
        """The states at 0, 1, … `steps`."""
        states = [tuple(cells)]
        for _ in range(steps):
            states.append(self.step(states[-1]))
        return states

    def mutants(self) -> Iterator[Rule]:
        """Every rule that differs in exactly one entry of the table, in the order of entries, then of symbols."""
        return map(self.mutant, range(len(self.table) * (self.symbols - 1)))

    def mutant(self, number: int) -> Rule:
        """One of them, by its place in that order."""
        entry, other = divmod(number, self.symbols - 1)
        other += other >= self.table[entry]
        return replace(self, table=(*self.table[:entry], other, *self.table[entry + 1 :]))


@dataclass(frozen=True, slots=True)
class Additive:
    """A constant plus a sum, over all cells, of the weight of the window that starts there.

    Attributes:
        symbols: Size of the alphabet.
        width: Cells of a window; it may be wider than the ring, which it then goes around more than once.
        weights: One for every window, whose symbols are the digits of its index in base `symbols`, most significant
            first.
        constant: What is added once.
    """

    symbols: int
    width: int
    weights: tuple[int, ...]
    constant: int = 0

    def total(self, cells: Sequence[int]) -> int:
        """The observable's value on a ring."""
        if self.width == 1:
            return self.constant + sum(map(self.weights.__getitem__, cells))
        size, symbols, windows = len(cells), self.symbols, len(self.weights)
        total, index = self.constant, 0
        for offset in range(self.width - 1):
            index = index * symbols + cells[offset % size]
        for end in range(self.width - 1, self.width - 1 + size):
            index = (index * symbols + cells[end % size]) % windows
            total += self.weights[index]
        return total
