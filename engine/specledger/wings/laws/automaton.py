"""Ring automata of any radius, and additive observables, evaluated exactly and slowly.

Fast evolution and every proof are tested against this module. Source: Hattori and Takesue, Physica D 49 (1991), for
additive observables.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace


def codes(cells: Sequence[int], symbols: int, width: int, first: int = 0) -> list[int]:
    """The code of a window at each place of a ring; a window wider than the ring goes around it more than once.

    Args:
        cells: The ring.
        symbols: Size of the alphabet.
        width: Cells of a window, the digits of its code in base `symbols`, most significant first.
        first: Where the window begins, in cells from its place; 0 or less.
    """
    size, count = len(cells), symbols**width
    around: Sequence[int]
    if size >= width:
        around = (*cells[size + first :], *cells, *cells[: width - 1 + first])
    else:
        around = [cells[position % size] for position in range(first, first + size + width - 1)]
    code, window_codes = 0, []
    for cell in around[: width - 1]:
        code = code * symbols + cell
    for cell in around[width - 1 :]:
        code = (code * symbols + cell) % count
        window_codes.append(code)
    return window_codes


class Rule(Struct, frozen=True):
    """A ring automaton over the symbols 0 … symbols-1.

    Attributes:
        table: The next symbol of each window of a cell and its neighbours, at the window's code; of radius 1 at
            `(left * symbols + self) * symbols + right`. Its length says how wide the window is.
    """

    symbols: int
    table: tuple[int, ...]

    @property
    def width(self) -> int:
        """Cells of the window that decides the next symbol of its middle cell: three or more."""
        width = 3
        while self.symbols**width < len(self.table):
            width += 2
        return width

    @property
    def radius(self) -> int:
        """How far a cell looks to either side."""
        return self.width // 2

    def step(self, cells: Sequence[int]) -> tuple[int, ...]:
        """All cells of a ring after one synchronous step."""
        width = self.width
        return tuple(map(self.table.__getitem__, codes(cells, self.symbols, width, -(width // 2))))

    def run(self, cells: Sequence[int], steps: int) -> list[tuple[int, ...]]:
        """The states at 0, 1, … `steps`."""
        states = [tuple(cells)]
        for _ in range(steps):
            states.append(self.step(states[-1]))
        return states

    def change(self, number: int) -> tuple[int, int]:
        """The entry and the symbol in which a mutant differs; mutants are in the order of entries, then of symbols."""
        entry, other = divmod(number, self.symbols - 1)
        return entry, other + (other >= self.table[entry])

    def mutant(self, number: int) -> Rule:
        """A rule that differs in one entry of the table."""
        entry, other = self.change(number)
        return replace(self, table=(*self.table[:entry], other, *self.table[entry + 1 :]))


class Additive(Struct, frozen=True):
    """A constant plus a sum, over all cells, of the weight of the window that starts there.

    Attributes:
        width: Cells of a window; it may be wider than the ring, which it then goes around more than once.
        weights: One for every window, whose symbols are the digits of its index in base `symbols`, most significant
            first.
    """

    symbols: int
    width: int
    weights: tuple[int, ...]
    constant: int = 0

    def total(self, cells: Sequence[int]) -> int:
        """The observable's value on a ring."""
        if self.width == 1:
            return self.constant + sum(map(self.weights.__getitem__, cells))
        return self.constant + sum(map(self.weights.__getitem__, codes(cells, self.symbols, self.width)))
