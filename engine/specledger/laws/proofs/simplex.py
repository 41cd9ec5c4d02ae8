"""A small exact simplex with columns on demand: whether non-negative multiples of columns can meet some rows.

Only the first phase is solved, in integers over one common denominator. Sources: Edmonds and Bareiss for integer
pivoting; Bland (1977) for a rule that does not cycle; Dantzig and Wolfe (1960) for columns on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


class Master:
    """Rows `sum(column * multiple) >= bound` or `== bound`, and the columns known so far.

    The columns of the tableau are one artificial for each row, one surplus for each inequality, then what `add`
    brings. Its last row is the objective, the sum of the artificials.
    """

    def __init__(self, bounds: Sequence[int], equal: Sequence[bool]) -> None:
        """Start with no columns: all artificials in the basis."""
        self._count = count = len(bounds)
        self._signs = [-1 if bound < 0 else 1 for bound in bounds]
        self._right = [abs(bound) for bound in bounds] + [-sum(map(abs, bounds))]
        self._columns = [[int(row == i) for row in range(count)] + [0] for i in range(count)]
        self._basis = list(range(count))
        self._scale = 1
        for i in range(count):
            if not equal[i]:
                self.add([-int(row == i) for row in range(count)])
        self._first = len(self._columns)

    def add(self, column: Sequence[int]) -> None:
        """Admit multiples of a column."""
        signed = [sign * value for sign, value in zip(self._signs, column, strict=True)]
        rows = range(self._count)
        entries = [sum(signed[i] * self._columns[i][row] for i in rows) for row in rows]
        duals = [self._scale - self._columns[i][-1] for i in rows]
        self._columns.append([*entries, -sum(d * value for d, value in zip(duals, signed, strict=True))])

    def settle(self) -> list[int] | None:
        """Go as far as the known columns lead.

        Returns:
            None if they meet the rows; else multipliers of the rows, not negative for inequalities, with which every
            known column sums to at most 0 and the bounds to more than 0.
        """
        while True:
            if self._right[-1] == 0:
                return None
            entering = next((j for j in range(self._count, len(self._columns)) if self._columns[j][-1] < 0), None)
            if entering is None:
                return [sign * (self._scale - self._columns[i][-1]) for i, sign in enumerate(self._signs)]
            self._pivot(entering)

    def _pivot(self, entering: int) -> None:
        column, leaving = self._columns[entering], -1
        for row in range(self._count):
            if column[row] > 0:
                if leaving < 0:
                    leaving = row
                    continue
                here, best = self._right[row] * column[leaving], self._right[leaving] * column[row]
                if here < best or (here == best and self._basis[row] < self._basis[leaving]):
                    leaving = row
        pivot, scale, entries = column[leaving], self._scale, list(column)
        for other in (*self._columns, self._right):
            value = other[leaving]
            for row in range(self._count + 1):
                if row != leaving:
                    other[row] = (other[row] * pivot - entries[row] * value) // scale
        self._scale = pivot
        self._basis[leaving] = entering

    def multiples(self) -> dict[int, Fraction]:
        """How often each added column is taken, by its number from 0, where that is not 0."""
        taken = ((column - self._first, self._right[row]) for row, column in enumerate(self._basis))
        return {number: Fraction(value, self._scale) for number, value in taken if number >= 0 and value}
