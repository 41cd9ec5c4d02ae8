"""Rings in 64-bit words, evolved by rules over 2 or 4 symbols as Boolean networks of `and`, `or`, `xor` and `not`.

Symbol s has bit b of its number in plane b. A network is found by splitting a truth table on one input after another:
f = f0 xor (x and (f0 xor f1)), with cheaper forms if a half is constant or the halves are complements; equal
subtables are computed once. Of several orders of inputs, the one with the fewest operations is used.

Bit i of a ring's word in plane b is bit b of the symbol in cell i; bits above the ring are 0. A neighbour is a rotation
by the ring's own length. A ring of more than 64 cells spans several words of nearly equal length, so that each is at
least half full and a rotation by less than that takes its missing bits from one other word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, pairwise, permutations
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

_ONES: Final[Any] = np.uint64(2**64 - 1)

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
def network_of_rule(rule: Rule) -> Network | None:
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


WORD: Final = 64


@dataclass(frozen=True)
class Words:
    """Where rings lie: first a word of each ring, then the further words of those that have more, ring by ring.

    Attributes:
        sizes: Cells of each ring, int64.
    """

    sizes: Array
    _known: dict[int, tuple[Any, Array]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def long(self) -> Array:
        """The rings that have more than one word."""
        return np.flatnonzero(self.sizes > WORD)

    @cached_property
    def more(self) -> Array:
        """How many further words each of them has."""
        return np.asarray((self.sizes[self.long] - 1) // WORD)

    @cached_property
    def firsts(self) -> Array:
        """The first further word of each of them."""
        return np.asarray(len(self.sizes) + np.cumsum(self.more) - self.more)

    @cached_property
    def owner(self) -> Array:
        """The ring of each word."""
        return np.concatenate((np.arange(len(self.sizes)), np.repeat(self.long, self.more)))

    @cached_property
    def cells(self) -> Array:
        """How many cells each word holds, uint64."""
        if not len(self.long):
            return self.sizes.astype(np.uint64)
        owner = self.owner
        place = np.zeros_like(owner)
        place[len(self.sizes) :] = np.arange(len(self.sizes), len(owner)) - np.repeat(self.firsts, self.more) + 1
        least, rest = np.divmod(self.sizes, (self.sizes + WORD - 1) // WORD)
        return (least[owner] + (place < rest[owner])).astype(np.uint64)

    @cached_property
    def masks(self) -> Array:
        """The bits of each word that are cells."""
        return np.asarray(_ONES >> (np.uint64(WORD) - self.cells))

    @cached_property
    def following(self) -> Array:
        """The word that holds the cells after those of each word: its own, where it holds the whole ring."""
        found = np.arange(len(self.cells))
        found[len(self.sizes) :] += 1
        found[self.long], found[self.firsts + self.more - 1] = self.firsts, self.long
        return found

    @cached_property
    def preceding(self) -> Array:
        """The word that holds the cells before those of each word."""
        found = np.empty_like(self.following)
        found[self.following] = np.arange(len(found))
        return found

    def pack(self, states: Sequence[bytes], bits: int) -> Array:
        """States as planes: uint64 of shape (bits, words)."""
        if len(self.long):
            long = {place: _cut(states[place]) for place in self.long.tolist()}
            parts = [
                long[place][0] if place in long else state.ljust(WORD, b"\0") for place, state in enumerate(states)
            ]
            parts += [part for cut in long.values() for part in cut[1:]]
        else:
            parts = [state.ljust(WORD, b"\0") for state in states]
        cells = np.frombuffer(b"".join(parts), dtype=np.uint8)
        planes = np.empty((bits, len(self.cells)), dtype=np.uint64)
        for bit in range(bits):
            planes[bit] = np.packbits(cells & np.uint8(1 << bit), bitorder="little").view("<u8")
        return planes

    def unpack(self, planes: Array) -> Array:
        """The cells of planes of shape (steps, bits, words), ring by ring: uint8 of shape (steps, cells)."""
        steps, bits, count = planes.shape
        held = np.ascontiguousarray(planes).astype("<u8", copy=False).view(np.uint8).reshape(steps, bits, count * 8)
        found = np.unpackbits(held[:, 0], axis=1, bitorder="little")
        for bit in range(1, bits):
            found |= np.unpackbits(held[:, bit], axis=1, bitorder="little") << bit
        return found[:, self._places]

    @cached_property
    def _places(self) -> Array:
        """The bit of each cell, ring by ring."""
        order = np.argsort(self.owner, kind="stable")
        cells = self.cells[order].astype(np.int64)
        ends = np.cumsum(cells)
        return np.repeat(order * WORD - (ends - cells), cells) + np.arange(int(ends[-1]))

    def turned(self, plane: Array, offset: int) -> Array:
        """The cell `offset` places on, or back, at most 32, at the place of each; bits above the ring are arbitrary."""
        if offset == 0:
            return plane
        near, far = self._shifts(offset)
        other = self.following if offset > 0 else self.preceding
        beyond = plane.take(other, axis=-1) if len(self.long) else plane
        found: Array = plane >> near | beyond << far if offset > 0 else plane << near | beyond >> far
        return found

    def _shifts(self, offset: int) -> tuple[Any, Array]:
        """By how many bits a word is shifted, and the one that what is missing comes from."""
        if offset not in self._known:
            near: Any = np.uint64(abs(offset))
            if near >= self.cells.min():
                near = near % self.cells
            self._known[offset] = near, (self.cells if offset > 0 else self.cells[self.preceding]) - near
        return self._known[offset]

    def added(self, counts: Array) -> Array:
        """What the words of each ring have together: from (…, words) to (…, rings)."""
        rings = len(self.sizes)
        if not len(self.long):
            return counts
        found = counts[..., :rings].copy()
        found[..., self.long] += np.add.reduceat(counts[..., rings:], self.firsts - rings, axis=-1, dtype=counts.dtype)
        return found


def _cut(state: bytes) -> list[bytes]:
    """The cells of each word of a long ring, filled up."""
    count = -(-len(state) // WORD)
    least, more = divmod(len(state), count)
    firsts = [level * least + min(level, more) for level in range(count + 1)]
    return [state[first:last].ljust(WORD, b"\0") for first, last in pairwise(firsts)]


def evolve_words(network: Network, first: Array, words: Words, steps: int) -> Array:
    """The planes at 0, 1, … `steps`: uint64 of shape (steps + 1, bits, words).

    Args:
        network: Of a rule.
        first: The first planes.
        words: Where the rings lie.
        steps: Steps to take.
    """
    bits, count = first.shape
    history = np.empty((steps + 1, bits, count), dtype=np.uint64)
    history[0] = first
    near = network.inputs // bits // 2
    for step in range(steps):
        planes = history[step]
        inputs = [
            words.turned(planes[at % bits], at // bits - near) if at in network.used else None
            for at in range(network.inputs)
        ]
        for bit, found in enumerate(run(network, inputs)):
            np.bitwise_and(words.masks, 0 if found is None else found, out=history[step + 1, bit])
    return history
