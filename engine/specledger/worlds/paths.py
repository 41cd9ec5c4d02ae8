"""Functions for finding ways: on a map that is still being explored, and past obstacles that move in a cycle.

As in `worlds.fields`, a field is a list of rows and nothing here changes its arguments. Unseen cells of a remembered
map count as free.

Sources: breadth-first search on 4-connected grids; optimistic search in unknown terrain (Koenig and Likhachev's
D* Lite); the viability kernel as the greatest fixpoint of Aubin's viability theory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.digest import tagger
from specledger.core.identity import ByIdentity
from specledger.core.weight import check_weight
from specledger.expr import INT, STRING, IntType, ListType, Native
from specledger.expr.check.types import TypeVariable
from specledger.lang.declare import CELL, FIELD, FIELD_SIDE
from specledger.worlds.fields import Cell, Field, distances, field_at, mask
from specledger.worlds.natives import native

VALUE_TAG: Final = "specledger/value/v1"

MOST_PLACES: Final = 1_000_000
"""Pairs of a cell and a phase that one viability kernel may have."""

_MOST_ANSWERS: Final = 128  # questions about a field whose answers are kept: most steps ask what the last one asked


def field_paste(f: Field, g: Field, p: Cell, fill: int) -> Field:
    """The field with another laid over it, with its top left corner on a cell.

    The field grows to the right and below, holding `fill`, as far as the other reaches; what would lie to the left of
    it, above it, or beyond a field's greatest sides is left out. The field itself where nothing changes.
    """
    x, y = p["x"], p["y"]
    width = min(FIELD_SIDE, max([0, *map(len, f), *(x + len(row) for row in g)]))
    height = min(FIELD_SIDE, max(len(f), y + len(g)))
    if height > len(f) or any(len(row) < width for row in f):
        rows = [row + [fill] * (width - len(row)) for row in f]
        rows += [[fill] * width for _ in range(height - len(f))]
    else:
        rows = f
    pasted = rows[:]
    for index, row in enumerate(g, start=y):
        if 0 <= index < height:
            begin, piece = max(x, 0), row[max(-x, 0) : max(width - x, 0)]
            old = pasted[index]
            if piece and old[begin : begin + len(piece)] != piece:
                pasted[index] = [*old[:begin], *piece, *old[begin + len(piece) :]]
    return f if pasted == f else pasted


def field_count(f: Field, codes: list[int]) -> int:
    """How many cells hold one of `codes`."""
    return sum([row.count(a) for a in frozenset(codes) for row in f])


def open_distances(f: Field, codes: list[int], p: Cell) -> Field:
    """Steps from a cell to every cell of an unfinished map, by moves N, E, S, W; -1 where no way leads.

    A way leads over cells that hold none of `codes`; beyond its right and lower edges the map counts as open. The
    result reaches one cell beyond the map and the start, as no shortest way need lead farther out.
    """
    x, y = p["x"], p["y"]
    if not (0 <= x < FIELD_SIDE and 0 <= y < FIELD_SIDE):
        return [[-1] * len(row) for row in f]
    return _spread_open(ByIdentity(f), tuple(codes), x, y)


@lru_cache(maxsize=_MOST_ANSWERS)
def _spread_open(same: ByIdentity[Field], codes: tuple[int, ...], x: int, y: int) -> Field:
    f, shut = same.value, frozenset(codes)
    width = min(FIELD_SIDE, max([x + 1, *map(len, f)]) + 1)
    height = min(FIELD_SIDE, max(y + 1, len(f)) + 1)
    blocked = [[1 if a in shut else 0 for a in row] + [0] * (width - len(row)) for row in f]
    blocked += [[0] * width for _ in range(height - len(f))]
    return distances(blocked, {"x": x, "y": y})


def path_length(f: Field, codes: list[int], p: Cell, q: Cell) -> int:
    """Steps of a shortest way N, E, S, W between two cells over cells that hold none of `codes`; -1 without one.

    The first cell may hold anything; outside of the field there is no way.
    """
    for cell in (p, q):
        if not (0 <= cell["y"] < len(f) and 0 <= cell["x"] < len(f[cell["y"]])):
            return -1
    if p == q:
        return 0
    if f[q["y"]][q["x"]] in codes:
        return -1
    ways = _spread_closed(ByIdentity(f), tuple(codes), q["x"], q["y"])
    x, y = p["x"], p["y"]
    if f[y][x] not in codes:
        return ways[y][x]
    beside: list[Cell] = [{"x": x, "y": y - 1}, {"x": x + 1, "y": y}, {"x": x, "y": y + 1}, {"x": x - 1, "y": y}]
    near = [steps for cell in beside if (steps := field_at(ways, cell, -1)) >= 0]
    return 1 + min(near) if near else -1


@lru_cache(maxsize=_MOST_ANSWERS)
def _spread_closed(same: ByIdentity[Field], codes: tuple[int, ...], x: int, y: int) -> Field:
    return distances(mask(same.value, [*codes]), {"x": x, "y": y})


def viability(f: Field, phases: list[list[Cell]]) -> list[Field]:
    """The viability kernel of a cycle of dangers: per phase 1 for each cell in it, else 0.

    It is the greatest set of pairs (cell, phase) outside of danger from each of which a step N, E, S, W, or none, leads
    to a pair of the set in the next phase; after the last phase comes the first. The same question is answered once.

    Args:
        f: 0 where one may be at all.
        phases: Per phase the cells in which it is deadly to be.

    Raises:
        ValueError: If there are no phases, or more than `MOST_PLACES` pairs.
    """
    if not phases or len(phases) * sum(map(len, f)) > MOST_PLACES:
        raise ValueError(f"a viability kernel has at least one phase and at most {MOST_PLACES} pairs of cell and phase")
    deadly = tuple(tuple((cell["x"], cell["y"]) for cell in cells) for cells in phases)
    return _kernel(tuple(map(tuple, f)), deadly)


@lru_cache(maxsize=32)
def _kernel(f: tuple[tuple[int, ...], ...], deadly: tuple[tuple[tuple[int, int], ...], ...]) -> list[Field]:
    """Take away pairs from which every step leads out, and whatever that takes the last step from, until none is left.

    `ways` counts for each pair of a safe cell and a phase the steps that stay inside; it is 0 outside of the set.
    """
    width, height, period = max(map(len, f), default=0), len(f), len(deadly)
    stride = width + 2  # a wall stands around the cells, which are in one list
    free = [False] * stride
    for row in f:
        free += [False, *[not a for a in row], *[False] * (width + 1 - len(row))]
    free += [False] * stride
    near = (0, -stride, 1, stride, -1)
    inside = [free[:] for _ in deadly]
    for safe, cells in zip(inside, deadly, strict=True):
        for x, y in cells:
            if 0 <= y < height and 0 <= x < width:
                safe[(y + 1) * stride + x + 1] = False
    places = [cell for cell, open_ in enumerate(free) if open_]
    ways = [[0] * len(free) for _ in deadly]
    gone = []
    for phase, safe in enumerate(inside):
        following = inside[(phase + 1) % period]
        for cell in places:
            if safe[cell]:
                ways[phase][cell] = sum(following[cell + step] for step in near)
                if not ways[phase][cell]:
                    gone.append((phase, cell))
    while gone:
        phase, cell = gone.pop()
        inside[phase][cell] = False
        before = (phase - 1) % period
        for step in near:
            if inside[before][cell + step]:
                ways[before][cell + step] -= 1
                if not ways[before][cell + step]:
                    gone.append((before, cell + step))
    return [
        [[1 if safe[(y + 1) * stride + x + 1] else 0 for x in range(len(row))] for y, row in enumerate(f)]
        for safe in inside
    ]


_digest = tagger(VALUE_TAG)


def digest_of(value: Any) -> str:
    """The digest of any value without doubles: of its canonical JSON under `VALUE_TAG`, as lower-case hex.

    Raises:
        ValueError: If the value has no canonical form.
    """
    try:
        check_weight(value)
        return _digest(canonical_bytes(value))
    except NotCanonical as error:
        raise ValueError(str(error)) from None


_CODES: Final = ListType(INT)

PATH_FUNCTIONS: Final[Mapping[str, Native]] = {
    native.name: native
    for native in (
        native(field_paste, FIELD, FIELD, CELL, INT, result=FIELD, cost=FIELD_SIDE),
        native(field_count, FIELD, _CODES, result=IntType(low=0), cost=FIELD_SIDE),
        native(open_distances, FIELD, _CODES, CELL, result=FIELD, cost=1024),
        native(path_length, FIELD, _CODES, CELL, CELL, result=IntType(low=-1), cost=1024),
        native(viability, FIELD, ListType(ListType(CELL)), result=ListType(FIELD), cost=65_536),
        native(digest_of, TypeVariable("T"), result=STRING, cost=FIELD_SIDE),
    )
}
"""Name -> native function, beside those of `worlds.natives`."""
