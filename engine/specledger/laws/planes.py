"""Rules over 2 or 4 symbols as Boolean networks of `and`, `or`, `xor` and `not`.

Symbol s has bit b of its number in plane b. A network is found by splitting a truth table on one input after another:
f = f0 xor (x and (f0 xor f1)), with cheaper forms if a half is constant or the halves are complements; equal
subtables are computed once. Of several orders of inputs, the one with the fewest operations is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, permutations
from math import factorial
from typing import Any, Final

import numpy as np
from msgspec import Struct

from specledger.laws.automaton import Rule

Array = np.ndarray[Any, Any]

BITS: Final = {2: 1, 4: 2}
"""Planes of the alphabets that have them, by the number of symbols."""
MAX_INPUTS: Final = 8
"""Bits of a window that is worked on in words."""
ORDERS: Final = 24
"""Orders of inputs that are tried at most."""
MAX_ORDERED: Final = 6
"""Inputs beyond which the first order is taken."""

_ONES: Final = np.array(2**64 - 1, dtype=np.uint64)

APPLY: Final = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


class Operation(Struct, frozen=True):
    """`and`, `or` or `xor` of two signals, or `not` of one; signals are numbered, the inputs first."""

    op: str
    left: int
    right: int = -1


class Network(Struct, frozen=True, dict=True):
    """A Boolean network.

    Attributes:
        inputs: How many; of a rule they are the planes of the cells of its window, from the left, lowest bit first.
        operations: What each further signal is.
        outputs: The signal of each output; None for a constant 0, -1 for a constant 1.
    """

    inputs: int
    operations: tuple[Operation, ...]
    outputs: tuple[int | None, ...]

    @cached_property
    def used(self) -> frozenset[int]:
        """The inputs that something depends on."""
        read = {signal for each in self.operations for signal in (each.left, each.right)}
        return frozenset(at for at in range(self.inputs) if at in read or at in self.outputs)

    def evaluate(self, values: Sequence[int], mask: int) -> tuple[int, ...]:
        """The outputs for integers whose bits are instances, all within `mask`."""
        signals = list(values)
        for each in self.operations:
            left, right = signals[each.left], signals[each.right]
            found = {"and": left & right, "or": left | right, "xor": left ^ right, "not": ~left & mask}
            signals.append(found[each.op])
        return tuple(0 if out is None else mask if out == -1 else signals[out] for out in self.outputs)


@dataclass
class _Writer:
    """Writes the operations of truth tables; a table is an integer whose bit i is the value at input i."""

    inputs: int
    order: Sequence[int]
    operations: list[Operation] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = 1 << self.inputs
        self.ones = (1 << self.size) - 1
        self.columns = [sum(1 << row for row in range(self.size) if row >> at & 1) for at in range(self.inputs)]
        self.known = {column: at for at, column in enumerate(self.columns)}

    def signal(self, table: int) -> int:
        """The signal of a table that is not constant."""
        found = self.known.get(table)
        if found is None:
            found = self._negated(table) if self.ones ^ table in self.known else self._split(table)
            self.known[table] = found
        return found

    def _add(self, op: str, left: int, right: int = -1) -> int:
        self.operations.append(Operation(op, left, right))
        return self.inputs + len(self.operations) - 1

    def _negated(self, table: int) -> int:
        return self._add("not", self.known[self.ones ^ table])

    def _split(self, table: int) -> int:
        for at in self.order:
            low, high = self._halves(table, at)
            if low != high:
                break
        else:
            raise AssertionError("a constant has no signal")
        if low == 0:
            return self._add("and", at, self.signal(high)) if high != self.ones else at
        if high == self.ones:
            return self._add("or", at, self.signal(low))
        if low == self.ones ^ high:
            return self._add("xor", at, self.signal(low))
        if high == 0:
            inverse = self.signal(self.ones ^ self.columns[at])
            return self._add("and", inverse, self.signal(low)) if low != self.ones else inverse
        if low == self.ones:
            return self._add("or", self.signal(self.ones ^ self.columns[at]), self.signal(high))
        return self._add("xor", self.signal(low), self._add("and", at, self.signal(low ^ high)))

    def _halves(self, table: int, at: int) -> tuple[int, int]:
        """The table with one input 0, and with it 1, each as a table over all inputs."""
        column, shift = self.columns[at], 1 << at
        low, high = table & ~column & self.ones, table & column
        return low | low << shift, high | high >> shift


def build(inputs: int, tables: Sequence[int]) -> Network:
    """A network for truth tables, the smallest of those that some orders of inputs give."""
    ways = factorial(inputs) if inputs <= MAX_ORDERED else 1
    orders = islice(permutations(range(inputs)), 0, ways, -(-ways // ORDERS))
    return min((_written(tables, order) for order in orders), key=_operations)


def _operations(network: Network) -> int:
    return len(network.operations)


def _written(tables: Sequence[int], order: Sequence[int]) -> Network:
    writer = _Writer(len(order), order)
    outputs = [None if table == 0 else -1 if table == writer.ones else writer.signal(table) for table in tables]
    return Network(len(order), tuple(writer.operations), tuple(outputs))


@lru_cache(maxsize=64)
def derive(rule: Rule) -> Network | None:
    """The network of a rule, from its table; None if its alphabet has neither 2 nor 4 symbols, or it would be large."""
    bits = BITS.get(rule.symbols)
    return None if bits is None else network_of(rule.symbols, rule.width, rule.table, bits)


def network_of(symbols: int, width: int, values: Sequence[int], bits: int) -> Network | None:
    """The network whose outputs are the bits of a number given for each window; None if it would be large.

    Args:
        symbols: Size of the alphabet: 2 or 4.
        width: Cells of a window.
        values: The number of each window, by its code.
        bits: Of the numbers.
    """
    each = BITS[symbols]
    inputs = each * width
    if inputs > MAX_INPUTS:
        return None
    tables = [0] * bits
    for row in range(1 << inputs):
        window = 0
        for offset in range(width):
            window = window * symbols + (row >> each * offset & symbols - 1)
        for bit in range(bits):
            tables[bit] |= (values[window] >> bit & 1) << row
    return build(inputs, tables)


def run(network: Network, inputs: Sequence[Array | None]) -> list[Array | None]:
    """The outputs of a network on arrays of words of one shape; None for a constant 0.

    Args:
        network: The network.
        inputs: An array for each input that is used.
    """
    signals: list[Any] = list(inputs)
    for each in network.operations:
        left = signals[each.left]
        signals.append(~left if each.op == "not" else APPLY[each.op](left, signals[each.right]))
    return [None if out is None else _ONES if out == -1 else signals[out] for out in network.outputs]
