"""Refutation of linear rows by circulations: over the rationals first, then case by case.

A ring's windows are a circulation: as many enter a node as leave it. So a ring is a sum of cycles, and rows that no sum
of cycles meets are met by no ring. If a sum meets them, but in fractions or in disconnected parts, two or three cases
that cover all rings and exclude it are tried instead.

The rational problem is solved with cycles as columns on demand: the exact simplex of a few rows proposes multipliers,
and one search for a cycle of positive weight either finds the next column or yields the potentials of a Farkas
certificate. The simplex solves only the first phase, in integers over one common denominator. Sources: Edmonds and
Bareiss for integer pivoting; Bland (1977) for a rule that does not cycle; Dantzig and Wolfe (1960) for columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import Struct

from specledger.wings.laws.proofs.potentials import climb
from specledger.wings.laws.proofs.windows import Graph

if TYPE_CHECKING:
    from specledger.wings.laws.proofs.wide import Weights, WideGraph


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


Tree: TypeAlias = dict[str, Any]
Flow: TypeAlias = list[tuple[list[int], Fraction]]
Walk: TypeAlias = "Graph | WideGraph"


class Row(Struct, frozen=True):
    """`sum of weights over the ring's windows, and over those of its initial state, >= bound`, or `== bound`.

    Attributes:
        now: The weight of each window of the ring, by code.
        start: The weight of each window of the initial state, by code; empty if it takes no part.
        equal: Whether the sum must be the bound.
        bound: An integer.
    """

    now: Sequence[int] | Weights
    start: Sequence[int]
    equal: bool
    bound: int


class Met(Exception):  # noqa: N818 - an answer, not an error
    """Cycles that meet the rows: no proof, but perhaps a counterexample.

    Attributes:
        flow: Cycles of the ring's windows with their multiples.
        whole: Whether they are one ring: whole multiples of cycles that hang together.
    """

    def __init__(self, flow: Flow, whole: bool) -> None:
        super().__init__(flow, whole)
        self.flow = flow
        self.whole = whole


class Search:
    """The cases that may still be tried."""

    def __init__(self, cases: int) -> None:
        self._left = cases

    def refute(self, rows: list[Row], now: Walk, start: Graph | None) -> Tree:
        """A certificate that no ring over `now`, whose initial state is over `start`, meets the rows.

        Raises:
            Met: Some circulation meets them, and it is a ring or there are no cases left.
        """
        self._left -= 1
        answer = relax(rows, now, start)
        if isinstance(answer, dict):
            return answer
        loads = _loads(answer)
        parts = components(now, loads)
        if len(parts) == 1 and all(load.denominator == 1 for load in loads.values()):
            raise Met(answer, whole=True)
        if self._left < 2 + (len(parts) > 1):
            raise Met(answer, whole=False)
        if len(parts) > 1:
            if not isinstance(now, Graph):
                raise Met(answer, whole=False)
            return self._split_nodes(rows, now, start, min(parts, key=lambda nodes: (len(nodes), sorted(nodes))))
        code = min(code for code, load in loads.items() if load.denominator > 1)
        return self._split_count(rows, now, start, code, loads[code].numerator // loads[code].denominator)

    def _split_nodes(self, rows: list[Row], now: Graph, start: Graph | None, nodes: frozenset[int]) -> Tree:
        leaving = now.indicator(code for code, tail, head in now.arcs if tail in nodes and head not in nodes)
        return {
            "nodes": sorted(nodes),
            "inside": self.refute(rows, now.keep(nodes, inside=True), start),
            "outside": self.refute(rows, now.keep(nodes, inside=False), start),
            "crossing": self.refute([*rows, self._row(leaving, start, 1)], now, start),
        }

    def _split_count(self, rows: list[Row], now: Walk, start: Graph | None, code: int, count: int) -> Tree:
        more, fewer = now.indicator([code]), now.indicator([code], -1)
        return {
            "window": code,
            "count": count,
            "fewer": self.refute([*rows, self._row(fewer, start, -count)], now, start),
            "more": self.refute([*rows, self._row(more, start, count + 1)], now, start),
        }

    @staticmethod
    def _row(weights: Sequence[int] | Weights, start: Graph | None, bound: int) -> Row:
        return Row(weights, [0] * start.symbols**start.width if start else [], False, bound)


def relax(rows: Sequence[Row], now: Walk, start: Graph | None) -> Tree | Flow:
    """Multipliers and potentials that no circulation meets the rows, or one that does: multiples of cycles."""
    master = Master([row.bound for row in rows], [row.equal for row in rows])
    cycles: list[tuple[bool, list[int]]] = []
    while True:
        multipliers = master.settle()
        if multipliers is None:
            taken = master.multiples()
            return [(cycles[number][1], times) for number, times in sorted(taken.items()) if cycles[number][0]]
        shared = gcd(*multipliers) or 1
        multipliers = [value // shared for value in multipliers]
        leaf: Tree = {"multipliers": multipliers}
        for side, walk in ((True, now), (False, start)):
            if walk is None:
                continue
            potential, cycle = _climbed(rows, multipliers, walk, side)
            if potential is None:
                cycles.append((side, cycle))
                master.add([sum((row.now if side else row.start)[code] for code in cycle) for row in rows])
                break
            leaf |= potential
        else:
            return leaf


def _climbed(rows: Sequence[Row], multipliers: Sequence[int], walk: Walk, side: bool) -> tuple[Tree | None, list[int]]:
    """The potential of the multiples of all rows as a leaf says it, or a cycle of positive weight."""
    used = [(times, row.now if side else row.start) for row, times in zip(rows, multipliers, strict=True) if times]
    if isinstance(walk, Graph):
        heights, cycle = climb(walk, _summed(cast("list[tuple[int, Sequence[int]]]", used), walk))
        leaf: Tree = {"now": heights, "start": None} if side else {"start": heights}
        return None if heights is None else leaf, cycle
    sweeps, cycle = walk.climb(cast("list[tuple[int, Weights]]", used))
    return None if sweeps is None else {"sweeps": sweeps}, cycle


def _summed(rows: Sequence[tuple[int, Sequence[int]]], walk: Graph) -> list[int]:
    """The multiples of rows in one weight for each window."""
    weights = [0] * walk.symbols**walk.width
    for multiplier, row in rows:
        for code, value in enumerate(row):
            if value:
                weights[code] += multiplier * value
    return weights


def _loads(flow: Flow) -> dict[int, Fraction]:
    loads: dict[int, Fraction] = {}
    for cycle, times in flow:
        for code in cycle:
            loads[code] = loads.get(code, Fraction()) + times
    return loads


def components(walk: Walk, codes: Iterable[int]) -> list[frozenset[int]]:
    """The nodes that some arcs touch, in parts that hang together."""
    parts: list[set[int]] = []
    for code in codes:
        ends = {code // walk.symbols, code % walk.nodes}
        touching = [part for part in parts if part & ends]
        parts = [part for part in parts if not part & ends]
        parts.append(ends.union(*touching))
    return [frozenset(part) for part in parts]


def circuit(flow: Flow, walk: Walk, limit: int) -> tuple[int, ...] | None:
    """The ring of a flow that is whole: an Eulerian circuit by splicing (Hierholzer); None if it has too many cells."""
    loads = _loads(flow)
    if sum(loads.values()) > limit:
        return None
    leaving: dict[int, list[int]] = {}
    for code, load in sorted(loads.items()):
        leaving.setdefault(code // walk.symbols, []).extend([code] * int(load))
    path: list[tuple[int, int]] = [(min(leaving), -1)]
    done: list[int] = []
    while path:
        node, code = path[-1]
        if leaving.get(node):
            following = leaving[node].pop()
            path.append((following % walk.nodes, following))
        else:
            path.pop()
            done.append(code)
    return tuple(code % walk.symbols for code in reversed(done) if code >= 0)


def tours(flow: Flow, walk: Walk, limit: int) -> Iterable[tuple[int, ...]]:
    """Rings that go around the cycles of a flow ever more often, with ways between them, up to about `limit` cells.

    The ways matter less the longer the ring is, so that rows which bear multiples are met in the end.
    """
    scale = lcm(*(times.denominator for _, times in flow))
    while sum(len(cycle) * times for cycle, times in flow) * scale <= limit:
        codes: list[int] = []
        for cycle, times in flow:
            ways = walk.way(codes[-1] % walk.nodes, cycle[0] // walk.symbols) if codes else []
            if ways is None:
                return
            codes += [*ways, *cycle * int(times * scale)]
        ways = walk.way(codes[-1] % walk.nodes, codes[0] // walk.symbols)
        if ways is None:
            return
        yield tuple(code % walk.symbols for code in codes + ways)
        scale *= 2
