"""Certificates over more windows than are listed one by one: their potentials are computed by sweeps over arrays.

docs/proofs.md says why the least potential that is nowhere below 0 proves what any other would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.verify.conditions import Json, alternatives, condition_of, fields, require
from specledger.wings.laws.verify.statements import MAX_WIDTH, Statement, integers

MAX_WINDOWS: Final = 3**16
MAX_SWEPT: Final = 1 << 31
"""Windows that the sweeps of a certificate visit, all together."""
MAX_TABLES: Final = 1 << 26
"""Bytes of the weights of all terms."""
_LEAST: Final = 1 << 14  # windows that a sweep counts for at least: calls of arrays take time, too
_BLOCK: Final = 1 << 18  # windows that a sweep visits at once
_PART: Final = 1 << 15  # windows whose later states are computed at once

Array: TypeAlias = np.ndarray[Any, Any]


def check_swept(statement: Statement, proof: Json) -> None:
    """No ring meets a clause of the negated claim, where every state is an initial state.

    Raises:
        InvalidCertificate: That is not shown.
    """
    _, width, trees = fields(proof, "kind", "width", "trees")
    clauses = alternatives(condition_of(statement.claim), True)
    read = [term["at"] for clause in clauses for atom in clause for term in atom[0]]
    require(statement.all_states and None not in read, "later steps are not covered")
    require(isinstance(trees, list) and len(trees) == len(clauses), "not one tree for each clause")
    swept = Swept(statement.rule, width)
    for tree, clause in zip(trees, clauses, strict=True):
        rows = swept.lengths(statement.shortest, statement.longest)
        for terms, equal, bound in clause:
            known = [(term["times"], statement.additive(term["observable"]), term["at"]) for term in terms]
            rows.append(swept.row(known, equal, bound))
        swept.check(tree, rows)


class Row(Struct, frozen=True):
    """A weight of each window, compared with a bound: tables over its first cells, and the weight of one window.

    Attributes:
        tables: Of each table its multiple and the windows that share one of its entries.
        single: The code and weight of one window; None for none.
    """

    tables: list[tuple[int, int, Array]]
    equal: bool
    bound: int
    single: tuple[int, int] | None = None

    def largest(self) -> int:
        """A bound of the absolute weights."""
        return sum(abs(times) * int(np.abs(table).max()) for times, _, table in self.tables) + (self.single is not None)


class Swept:
    """The windows of one width, two cells or more, and the work that may still be spent on them."""

    def __init__(self, rule: Rule, width: int) -> None:
        """Bound the windows before anything is computed."""
        require(type(width) is int and 2 <= width <= MAX_WIDTH, "the width is out of range")
        self.rule, self.width = rule, width
        self.windows = rule.symbols**width
        require(rule.symbols > 1 and self.windows <= MAX_WINDOWS, "too many windows, or too few")
        self.left, self.room = MAX_SWEPT, MAX_TABLES
        self.kept: dict[tuple[Additive, int], Array] = {}

    def lengths(self, shortest: int, longest: int | None) -> list[Row]:
        """The rows that every ring of the contract meets."""
        one = np.ones(1, dtype=np.int8)
        most = [] if longest is None else [Row([(-1, self.windows, one)], False, -longest)]
        return [Row([(1, self.windows, one)], False, shortest), *most]

    def row(self, terms: Sequence[tuple[int, Additive, int]], equal: bool, bound: int) -> Row:
        """A row of a clause: of each term its multiple, its observable, and how many steps later it is read."""
        tables = []
        for times, observable, at in terms:
            cells = observable.width + 2 * self.rule.radius * at
            require(cells <= self.width, "the width is too small")
            tables.append((times, self.rule.symbols ** (self.width - cells), self.table(observable, at, cells)))
        return Row(tables, equal, bound - sum(times * observable.constant for times, observable, _ in terms))

    def table(self, observable: Additive, at: int, cells: int) -> Array:
        """What each window of so many cells adds to an observable some steps later, cell by cell."""
        if (observable, at) in self.kept:
            return self.kept[observable, at]
        require(all(abs(weight) < 1 << 53 for weight in observable.weights), "a weight is too large")
        given = np.array(observable.weights, dtype=np.int64)
        kind = next(k for k in (np.int8, np.int16, np.int32, np.int64) if np.abs(given).max() <= np.iinfo(k).max)
        symbols, near, count = self.rule.symbols, self.rule.width, self.rule.symbols**cells
        self.room -= count * np.dtype(kind).itemsize
        require(self.room >= 0, "the weights of the certificate take too much memory")
        weights, rule = given.astype(kind), np.array(self.rule.table, dtype=np.int32)
        table = np.empty(count, dtype=kind)
        for first in range(0, count, _PART):
            codes = np.arange(first, min(count, first + _PART), dtype=np.int32)
            if at:
                shifts = range(cells - near, -1, -1)
                state = [rule[codes // symbols**shift % rule.size] for shift in shifts]
                for _ in range(at - 1):
                    state = [rule[_code(state[i : i + near], symbols)] for i in range(len(state) - near + 1)]
                codes = _code(state, symbols)
            table[first : first + codes.size] = weights[codes]
        self.kept[observable, at] = table
        return table

    def check(self, tree: Json, rows: list[Row]) -> None:
        """No ring meets the rows: by multipliers, or in each of the cases that cover all rings."""
        if "window" in tree:
            window, count, fewer, more = fields(tree, "window", "count", "fewer", "more")
            integers([window, count], 2)
            self.check(fewer, [*rows, Row([], False, -count, (window, -1))])
            self.check(more, [*rows, Row([], False, count + 1, (window, 1))])
            return
        multipliers, sweeps = fields(tree, "multipliers", "sweeps")
        factors = integers(multipliers, len(rows))
        pairs = list(zip(factors, rows, strict=True))
        require(all(factor >= 0 or row.equal for factor, row in pairs), "a negative multiplier")
        require(sum(factor * row.bound for factor, row in pairs) > 0, "the multiples refute nothing")
        integers([sweeps], 1)
        # The least potential of a node is the weight of a path that visits no node twice.
        require(0 <= sweeps < self.windows // self.rule.symbols, "the number of sweeps is out of range")
        self.left -= (sweeps + 1) * max(self.windows, _LEAST)
        require(self.left >= 0, "the certificate takes too much work")
        used = [(factor, row) for factor, row in pairs if factor]
        require(self.settles(used, sweeps), f"the potential still rises after {sweeps} sweeps")

    def settles(self, used: list[tuple[int, Row]], sweeps: int) -> bool:
        """Whether so many sweeps from 0 end at heights with which no window weighs more than they rise along it.

        A sweep here uses what it has raised already. Where there is a least potential, it reaches it no later, and no
        height is ever above it, so none above `most`. Where there is none, heights may rise in each block of a sweep:
        what exceeds `most` ends the check before it is kept, so that no sum leaves its type.
        """
        steepest = sum(abs(factor) * row.largest() for factor, row in used)
        most, highest = steepest * sweeps, steepest * (sweeps + 2)
        require(highest < 1 << 63, "the potential leaves 64 bits")
        symbols, nodes = self.rule.symbols, self.windows // self.rule.symbols
        heights = np.zeros(nodes, dtype=np.int32 if highest < 1 << 31 else np.int64)
        size = symbols
        while size * symbols <= min(nodes, _BLOCK):
            size *= symbols
        for _ in range(sweeps + 1):
            risen = False
            for code in range(0, self.windows, size):
                reached = np.repeat(heights[code // symbols : (code + size) // symbols], symbols)
                for factor, row in used:
                    _add(reached, code, factor, row)
                if int(reached.max()) > most:
                    return False
                heads = heights[code % nodes : code % nodes + size]
                if (reached > heads).any():
                    risen = True
                    np.maximum(heads, reached, out=heads)
            if not risen:
                return True
        return False


def _add(reached: Array, first: int, factor: int, row: Row) -> None:
    """Add a multiple of a row's weights to those of the windows from a code on."""
    for times, rest, table in row.tables:
        codes = slice(first // rest, max(first // rest + 1, (first + reached.size) // rest))
        weights = table[codes].astype(reached.dtype) * (factor * times)
        reached += np.repeat(weights, min(rest, reached.size))
    if row.single is not None and first <= row.single[0] < first + reached.size:
        reached[row.single[0] - first] += factor * row.single[1]


def _code(cells: Sequence[Array], symbols: int) -> Array:
    """The code of the windows whose cells these are."""
    code = cells[0]
    for cell in cells[1:]:
        code = code * symbols + cell
    return code
