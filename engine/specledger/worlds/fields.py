"""Functions over integer matrices (`field`) and cells, as plain Python on plain lists.

A field is a list of rows, row y first, so `f[y][x]` is the value at cell {x, y}. Nothing here changes its arguments.
Sources: the coherence kernel's field arithmetic (forward differences, 4-neighbour Laplacian with free edges) and
breadth-first search on 4-connected grids.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from operator import add, sub
from typing import Final, TypedDict

Field = list[list[int]]

_RAGGED = "the rows of the field differ in length"
_MOST_CELLS_KEPT: Final = 4_096  # of a map whose distances are kept, so that those of 128 maps take 5 MB


class Cell(TypedDict):
    """A place on a grid: column x, row y, from 0 at the top left."""

    x: int
    y: int


def _together(combine: Callable[[int, int], int], f: Field, g: Field) -> Field:
    """Combine two fields cell by cell; written for small fields, where every call counts."""
    if len(f) != len(g):
        raise ValueError("the two fields differ in shape")
    result = []
    for p, q in zip(f, g):  # noqa: B905 - as long as each other, and `strict` costs a third of the call
        if len(p) != len(q):
            raise ValueError("the two fields differ in shape")
        result.append([*map(combine, p, q)])
    return result


def _rectangular(f: Field) -> None:
    width = len(f[0]) if f else 0
    for row in f:
        if len(row) != width:
            raise ValueError(_RAGGED)


def field_add(f: Field, g: Field) -> Field:
    """f + g, cell by cell.

    Raises:
        ValueError: If the shapes differ.
    """
    return _together(add, f, g)


def field_sub(f: Field, g: Field) -> Field:
    """f - g, cell by cell.

    Raises:
        ValueError: If the shapes differ.
    """
    return _together(sub, f, g)


def field_scale(k: int, f: Field) -> Field:
    """k * f."""
    return [[k * a for a in row] for row in f]


def field_combine(weights: list[int], terms: list[Field]) -> Field:
    """The sum of weight * field over all terms.

    Raises:
        ValueError: If there are no terms, not one weight for each, or the fields differ in shape.
    """
    if not terms or len(weights) != len(terms):
        raise ValueError("a combination has one weight for each of its fields, and at least one of them")
    result = field_scale(weights[0], terms[0])
    for k, f in zip(weights[1:], terms[1:], strict=True):
        if len(f) != len(result):
            raise ValueError("the two fields differ in shape")
        for y, row in enumerate(f):
            line = result[y]
            if len(row) != len(line):
                raise ValueError("the two fields differ in shape")
            if k:
                for x, a in enumerate(row):
                    line[x] += k * a
    return result


def field_clamp(f: Field, low: int, high: int) -> Field:
    """Every value moved into low..high; the field itself where all lie there, as they mostly do."""
    for row in f:
        for a in row:
            if a < low or a > high:
                return [[low if a < low else high if a > high else a for a in row] for row in f]
    return f


def field_floor(f: Field, low: int) -> Field:
    """Every value raised to at least `low`; the field itself where none is below."""
    for row in f:
        for a in row:
            if a < low:
                return [[low if a < low else a for a in row] for row in f]
    return f


def field_erode(f: Field) -> Field:
    """The least value of each cell and its four neighbours inside: grey-scale erosion.

    Raises:
        ValueError: If the rows differ in length.
    """
    _rectangular(f)
    across = [[*map(min, row, row[1:] + row[-1:], row[:1] + row[:-1])] for row in f]
    if len(f) < 2:
        return across
    above, below = [f[0], *f[:-1]], [*f[1:], f[-1]]
    return [[*map(min, *rows)] for rows in zip(across, above, below, strict=True)]


def field_over(f: Field, bound: int) -> Field:
    """1 where the value is above `bound`, else 0."""
    return [[1 if a > bound else 0 for a in row] for row in f]


def field_min(f: Field) -> int:
    """The least value.

    Raises:
        ValueError: If the field or one of its rows is empty.
    """
    return min(map(min, f))


def field_max(f: Field) -> int:
    """The greatest value.

    Raises:
        ValueError: If the field or one of its rows is empty.
    """
    return max(map(max, f))


def sum_sq(f: Field) -> int:
    """The sum of squares of all values."""
    return sum([a * a for row in f for a in row])


def grad_energy(f: Field) -> int:
    """The sum of squared forward differences along both axes.

    Raises:
        ValueError: If the rows differ in length.
    """
    total = 0
    above: list[int] | None = None
    for row in f:
        for a, b in pairwise(row):
            total += (b - a) * (b - a)
        if above is not None:
            if len(row) != len(above):
                raise ValueError(_RAGGED)
            for a, b in zip(row, above):  # noqa: B905 - as long as each other
                total += (a - b) * (a - b)
        above = row
    return total


def laplacian(f: Field) -> Field:
    """The 4-neighbour Laplacian with free edges: a neighbour outside contributes nothing.

    Raises:
        ValueError: If the rows differ in length.
    """
    _rectangular(f)
    height = len(f)
    result = []
    for y, row in enumerate(f):
        width = len(row)
        line = []
        for x, a in enumerate(row):
            total = 0
            if x:
                total += row[x - 1] - a
            if x + 1 < width:
                total += row[x + 1] - a
            if y:
                total += f[y - 1][x] - a
            if y + 1 < height:
                total += f[y + 1][x] - a
            line.append(total)
        result.append(line)
    return result


def field_at(f: Field, p: Cell, default: int) -> int:
    """The value at a cell, or `default` outside the field."""
    x, y = p["x"], p["y"]
    if x < 0 or y < 0:
        return default
    try:
        return f[y][x]
    except IndexError:
        return default


def beside(f: Field, p: Cell, value: int) -> int:
    """How many of the four neighbours of a cell hold a value; cells outside hold none."""
    x, y = p["x"], p["y"]
    if x > 0 and y > 0:
        try:
            row = f[y]
            return [row[x - 1], row[x + 1], f[y - 1][x], f[y + 1][x]].count(value)
        except IndexError:  # at an edge: look at what there is
            pass
    height = len(f)
    count = 0
    if 0 <= y < height:
        row = f[y]
        count += 1 if 0 < x <= len(row) and row[x - 1] == value else 0
        count += 1 if -1 <= x < len(row) - 1 and row[x + 1] == value else 0
    if 0 < y <= height and 0 <= x < len(f[y - 1]) and f[y - 1][x] == value:
        count += 1
    if -1 <= y < height - 1 and 0 <= x < len(f[y + 1]) and f[y + 1][x] == value:
        count += 1
    return count


def field_put(f: Field, p: Cell, value: int) -> Field:
    """The field with one value replaced; unchanged where the cell lies outside."""
    x, y = p["x"], p["y"]
    if not (0 <= y < len(f) and 0 <= x < len(f[y])):
        return f
    row = f[y][:]
    row[x] = value
    return [*f[:y], row, *f[y + 1 :]]


def window(f: Field, p: Cell, radius: int, outside: int) -> Field:
    """The square of side 2 * radius + 1 around a cell; `outside` where it leaves the field.

    Raises:
        ValueError: If the radius is not in 0..64.
    """
    if not 0 <= radius <= 64:
        raise ValueError("a window's radius is from 0 to 64")
    x0, x1 = p["x"] - radius, p["x"] + radius + 1
    height = len(f)
    blank = [outside] * (2 * radius + 1)
    left = blank[: max(-x0, 0)]
    result = []
    for y in range(p["y"] - radius, p["y"] + radius + 1):
        if not 0 <= y < height:
            result.append(blank)
            continue
        row = f[y]
        if x0 >= 0 and x1 <= len(row):
            result.append(row[x0:x1])
        else:
            line = left + row[max(x0, 0) : max(x1, 0)]
            result.append(line + blank[len(line) :])
    return result


def mask(f: Field, codes: list[int]) -> Field:
    """1 where the value is one of `codes`, else 0."""
    wanted = frozenset(codes)
    return [[1 if a in wanted else 0 for a in row] for row in f]


def mask_or(f: Field, g: Field) -> Field:
    """1 where either is not 0.

    Raises:
        ValueError: If the shapes differ.
    """
    return _together(_either, f, g)


def _either(a: int, b: int) -> int:
    return 1 if a or b else 0


def distances(blocked: Field, p: Cell) -> Field:
    """Steps from a cell to every cell by moves N, E, S, W over cells that are 0 in `blocked`; -1 where there is no way.

    The start counts as reachable even where it is blocked itself; a start outside the field reaches nothing.
    """
    x, y = p["x"], p["y"]
    if not (0 <= y < len(blocked) and 0 <= x < len(blocked[y])):
        return [[-1] * len(row) for row in blocked]
    stride = 1 + max(map(len, blocked))  # a shut cell ends each row, which is also the one before the next row
    free = bytearray(stride)
    for row in blocked:
        free += bytes([not a for a in row]) + bytes(stride - len(row))
    free += bytes(stride)
    spread = _known_spread if len(free) <= _MOST_CELLS_KEPT else _spread
    distance = spread(bytes(free), stride, (y + 1) * stride + x)
    return [distance[(y + 1) * stride : (y + 1) * stride + len(row)] for y, row in enumerate(blocked)]


def _spread(cells: bytes, stride: int, start: int) -> list[int]:
    """Steps from a cell to every cell that is 1; of the others -1."""
    free, distance, front = bytearray(cells), [-1] * len(cells), [start]
    steps = distance[start] = free[start] = 0
    while front:
        steps += 1
        reached = []
        for at in front:
            for near in (at - stride, at + 1, at + stride, at - 1):
                if free[near]:
                    free[near] = 0
                    distance[near] = steps
                    reached.append(near)
        front = reached
    return distance


_known_spread = lru_cache(maxsize=128)(_spread)  # an agent, its governor and a replay ask about equal maps


def cells_at_least(f: Field, bound: int) -> list[Cell]:
    """The cells whose value is `bound` or more, row by row."""
    return [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if a >= bound]


def cells_at_most(f: Field, bound: int) -> list[Cell]:
    """The cells whose value is `bound` or less, row by row."""
    return [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if a <= bound]
