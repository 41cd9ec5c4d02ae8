"""Numbers for the values of one generated function: two expressions with one number have one value.

Decides when two values are the same, what a record or a list is known to hold, which constants fold, and which local
holds a value. Refuses to know statements. Source: value numbering, as in Alpern, Wegman and Zadeck (1988).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MOST_CELLS: Final = 16
"""Cells of a matrix that is worth writing out."""


def small(value: Any) -> bool:
    """Whether a value is a rectangular matrix of integers that is worth writing out."""
    if type(value) is not list or not value or not all(type(row) is list and row for row in value):
        return False
    width = len(value[0])
    if len(value) * width > MOST_CELLS or any(len(row) != width for row in value):
        return False
    return all(type(cell) is int for row in value for cell in row)


def has_small(value: Any) -> bool:
    """Whether a value is such a matrix, or a record that holds one."""
    return any(map(has_small, value.values())) if isinstance(value, Mapping) else small(value)


def sizes(value: Any) -> object:
    """Height and width of each such matrix in a value: all of an expected value that anything here depends on."""
    if isinstance(value, Mapping):
        return tuple((key, sizes(each)) for key, each in value.items())
    return (len(value), len(value[0])) if small(value) else None


@dataclass(slots=True)
class Place:
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
        depth: Loops around the place that is looked at.
        constants: The values that are known.
        lists: The numbers of a list's elements.
        expected: What a value will probably be like; only its size is relied on, and that is checked.
        stale: Records that were changed after they got their number.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.constants: dict[int, Any] = {}
        self.lists: dict[int, tuple[int, ...]] = {}
        self.expected: dict[int, Any] = {}
        self.stale: set[int] = set()
        self._known: dict[tuple[object, ...], int] = {}
        self._levels: list[int] = []
        self._records: dict[int, tuple[dict[str, int], int | None]] = {}

    def fresh(self) -> int:
        """The number of a value of which nothing is known."""
        self._levels.append(self.depth)
        return len(self._levels) - 1

    def level(self, number: int) -> int:
        """How many of the loops around it a value depends on."""
        return self._levels[number]

    def of(self, form: str, *parts: int | str) -> int:
        """The number of a pure form of parts: numbers, or text that says more about the form."""
        key = (form, *((type(part), part) for part in parts))
        number = self._known.get(key)
        if number is None:
            self._levels.append(max((self._levels[part] for part in parts if type(part) is int), default=0))
            number = self._known[key] = len(self._levels) - 1
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
        if isinstance(expected, dict) and key in expected:
            self.expected[number] = expected[key]
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

    def merged(self, one: int, other: int) -> int:
        """The number of what is the one value or the other."""
        number = self.fresh()
        left, right = self._records.get(one), self._records.get(other)
        if left is not None and right is not None and left[1] == right[1]:
            fields = {}
            for key in {*left[0], *right[0]}:
                ours, theirs = left[0].get(key), right[0].get(key)
                fields[key] = ours if ours is not None and ours == theirs else self.fresh()
            self._records[number] = (fields, left[1])
        return number
