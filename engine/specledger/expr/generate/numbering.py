"""Value numbering for one generated function: two expressions with the same number have the same value.

It also tracks what a record or a list is known to hold, folds constants, and knows which local holds a value.
Source: Alpern, Wegman and Zadeck (1988).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

MOST_CELLS: Final = 16
"""Cells at most of a matrix whose calls are written over its cells."""


class Matrix(NamedTuple):
    """The size of a rectangular matrix of integers with at most `MOST_CELLS` cells."""

    height: int
    width: int


class Record(NamedTuple):
    """The shapes of those fields of a record that have one."""

    fields: tuple[tuple[str, Matrix | Record], ...]


Shape = Matrix | Record
"""All that generated code depends on of a value that is expected."""


def shape_of(value: Any) -> Shape | None:
    """The shape of a value; None when there is no small matrix in it."""
    if isinstance(value, Mapping):
        shapes = ((key, shape_of(member)) for key, member in value.items())
        fields = tuple((key, shape) for key, shape in shapes if shape is not None)
        return Record(fields) if fields else None
    if type(value) is not list or not value or not all(type(row) is list and row for row in value):
        return None
    width = len(value[0])
    if len(value) * width > MOST_CELLS or any(len(row) != width for row in value):
        return None
    return Matrix(len(value), width) if all(type(cell) is int for row in value for cell in row) else None


class Place(Struct):
    """What is known at one place of a function.

    Attributes:
        numbers: The number of the value that a local holds.
        holders: A local that was given the value of a number.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    holders: dict[int, str] = field(default_factory=dict)

    def copy(self) -> Place:
        """The same knowledge, to be changed apart."""
        return Place(dict(self.numbers), dict(self.holders))

    def holder(self, number: int) -> str | None:
        """A local that holds a value now."""
        name = self.holders.get(number)
        return name if name is not None and self.numbers.get(name) == number else None


class Numbers:
    """The values met so far.

    Attributes:
        expected: The shape that a value probably has; generated code checks it.
        stale: Records that were changed after they got their number.
    """

    def __init__(self) -> None:
        self.constants: dict[int, Any] = {}
        self.lists: dict[int, tuple[int, ...]] = {}
        self.expected: dict[int, Shape] = {}
        self.stale: set[int] = set()
        self._known: dict[tuple[object, ...], int] = {}
        self._count = 0
        self._records: dict[int, tuple[dict[str, int], int | None]] = {}

    def fresh(self) -> int:
        """The number of a value of which nothing is known."""
        self._count += 1
        return self._count

    def of(self, form: str, *parts: int | str) -> int:
        """The number of a pure form of parts: numbers, or text that says more about the form."""
        key = (form, *((type(part), part) for part in parts))
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self.fresh()
        return number

    def constant(self, value: Any) -> int:
        """The number of a constant."""
        number = self.of("constant", type(value).__name__, repr(value))
        self.constants[number] = value
        return number

    def unary(self, sign: str, operand: int) -> int:
        """The number of `-a`, folded, or of another sign's result."""
        value = self.constants.get(operand)
        return self.constant(-value) if sign == "USub" and type(value) is int else self.of(sign, operand)

    def binary(self, sign: str, left: int, right: int) -> int:
        """The number of `a sign b`; sums, differences and products of known integers are folded."""
        a, b = self.constants.get(left), self.constants.get(right)
        if type(a) is int and type(b) is int and sign in ("Add", "Sub", "Mult"):
            return self.constant(a + b if sign == "Add" else a - b if sign == "Sub" else a * b)
        return self.of(sign, left, right)

    def list(self, elements: Sequence[int]) -> int:
        """The number of a list with these elements; an empty one may still grow."""
        if not elements:
            return self.fresh()
        number = self.of("list", *elements)
        self.lists[number] = tuple(elements)
        return number

    def record(self, fields: dict[str, int], base: int | None, its_own: bool) -> int:
        """The number of a record that was just made: a copy of `base`, if there is one, with these fields."""
        if its_own or base is not None or not fields:
            number = self.fresh()
        else:
            number = self.of("record", *(part for key, value in fields.items() for part in (key, value)))
        self._records[number] = (fields, base)
        return number

    def member(self, record: int, key: Any) -> int:
        """The number of `record[key]`."""
        fields, base = self._records.get(record, ({}, None))
        if record in self.stale:
            return self.fresh()
        if key in fields:
            return fields[key]
        if base is not None:
            return self.member(base, key)
        number = self.of("member", record, type(key).__name__, repr(key))
        expected = self.expected.get(record)
        if isinstance(expected, Record):
            shape = dict(expected.fields).get(key)
            if shape is not None:
                self.expected[number] = shape
        return number

    def changed(self, record: int | None, key: str, value: int) -> int:
        """The number of a record after `record[key] = value`; with the key "", anything in it may have changed."""
        after = self.fresh()
        if record is None:
            return after
        known = self._records.get(record)
        if known is not None and key:
            self._records[after] = ({**known[0], key: value}, known[1])
        self.stale.add(record)
        return after

    def change_inside(self, record: int | None, keys: Sequence[str]) -> None:
        """Note that the records on the way from `record` along `keys` are changed."""
        for key in keys:
            record = None if record is None else self.member(record, key)
            if record is not None:
                self.stale.add(record)

    def merged(self, first: int, other: int) -> int:
        """The number of what is the one value or the other."""
        number = self.fresh()
        left, right = self._records.get(first), self._records.get(other)
        if left is not None and right is not None and left[1] == right[1]:
            fields = {}
            for key in {*left[0], *right[0]}:
                ours, theirs = left[0].get(key), right[0].get(key)
                fields[key] = ours if ours is not None and ours == theirs else self.fresh()
            self._records[number] = (fields, left[1])
        return number
