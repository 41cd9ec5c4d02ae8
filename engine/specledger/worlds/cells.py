"""Functions over cells and lists of cells, for worlds that keep their walls and things as lists.

They compute rings, balls and reaches on a 4-connected grid, and the walls to add or remove for a wanted reach.
Distances are Manhattan distances. Nothing here changes its arguments, and every size is checked before work begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specledger.expr import INT, EvaluationError, IntType, ListType, Native, Signature
from specledger.expr.check.types import STRING
from specledger.expr.errors import E_EVAL_ARGUMENT
from specledger.expr.limits import MAX_LIST
from specledger.lang.declare import CELL, FIELD, FIELD_SIDE
from specledger.worlds.fields import Cell, Field

MOST_RING: Final = 512
"""The greatest radius of a ring: the longest Manhattan distance on the largest field is 510."""

MOST_BALL: Final = 64
"""The greatest radius of a ball, which then holds 8321 cells."""

MOST_REACH: Final = 64
"""The greatest number of steps of a reach."""

MOST_EDITED: Final = 4
"""The greatest number of steps for which walls are edited; the work grows with the sixth power of it."""

Place = tuple[int, int]


def ring(p: Cell, n: int) -> list[Cell]:
    """The cells at distance n from a cell, row by row; those of negative coordinates are left out.

    Raises:
        EvaluationError: If n is not in 0..512.
    """
    _within("ring", n, MOST_RING)
    x, y = p["x"], p["y"]
    cells: list[Cell] = []
    for b in range(max(y - n, 0), y + n + 1):
        dx = n - abs(b - y)
        cells += [{"x": a, "y": b} for a in (x - dx, x + dx)[: 2 if dx else 1] if a >= 0]
    return cells


def cells_by_distance(p: Cell, n: int) -> list[Cell]:
    """The cells at distance 0 to n from a cell, nearer ones first, each distance row by row as in a ring.

    Raises:
        EvaluationError: If n is not in 0..64.
    """
    _within("cells_by_distance", n, MOST_BALL)
    return [cell for radius in range(n + 1) for cell in ring(p, radius)]


def cells_mask(cells: list[Cell], width: int, height: int) -> Field:
    """A field of a width and a height, 1 at the listed cells and 0 elsewhere; cells outside are left out.

    Raises:
        EvaluationError: If a side is not in 0..256.
    """
    _within("cells_mask", width, FIELD_SIDE)
    _within("cells_mask", height, FIELD_SIDE)
    field = [[0] * width for _ in range(height)]
    for cell in cells:
        x, y = cell["x"], cell["y"]
        if 0 <= x < width and 0 <= y < height:
            field[y][x] = 1
    return field


def dilate(f: Field, n: int) -> Field:
    """1 at distance n or less from a cell that is not 0, else 0; walls do not shield.

    Raises:
        EvaluationError: If n is not in 0..64.
    """
    _within("dilate", n, MOST_BALL)
    starts = [(x, y) for y, row in enumerate(f) for x, a in enumerate(row) if a]
    near = _reached([[0] * len(row) for row in f], starts, n)
    return [[1 if (x, y) in near else 0 for x in range(len(row))] for y, row in enumerate(f)]


def reach(blocked: Field, p: Cell, n: int) -> int:
    """How many cells are reached from a cell in at most n steps N, E, S, W over cells that are 0; itself is one.

    A start outside the field reaches nothing; a start that is blocked itself counts, as in `distances`.

    Raises:
        EvaluationError: If n is not in 0..64.
    """
    _within("reach", n, MOST_REACH)
    return len(_reached(blocked, [(p["x"], p["y"])], n))


def wall_edits(walls: list[Cell], blocked: Field, p: Cell, n: int, wanted: int, kept: list[Cell]) -> list[list[Cell]]:
    """Lists of walls, to be tried in order, with which a cell's reach in n steps should be `wanted`.

    Walls are opened nearest first until at least so many cells are reached, then reached cells are walled, farthest
    first, as long as enough stay reached. Each number of opened walls gives at most one list.

    Args:
        walls: The walls now, in the order to be kept.
        blocked: The field of what blocks: the walls, and anything that cannot be opened.
        p: The cell.
        n: The steps of the reach, 4 at most.
        wanted: The number of cells to be reached.
        kept: Cells that must not be walled, beside the cell itself.

    Raises:
        EvaluationError: If n is not in 0..4.
    """
    _within("wall_edits", n, MOST_EDITED)
    start = (p["x"], p["y"])
    ball = [(cell["x"], cell["y"]) for cell in cells_by_distance(p, n)]
    standing = {(wall["x"], wall["y"]) for wall in walls}
    openable = [candidate for candidate in ball if candidate in standing]
    spared = {start, *((cell["x"], cell["y"]) for cell in kept)}
    edits: list[list[Cell]] = []
    field = [row[:] for row in blocked]
    for opened in range(len(openable) + 1):
        if opened:
            x, y = openable[opened - 1]
            if 0 <= y < len(field) and 0 <= x < len(field[y]):
                field[y][x] = 0
        raised = _raised(field, start, n, wanted, spared)
        if raised is not None:
            gone = set(openable[:opened]) - set(raised)
            left: list[Cell] = [wall for wall in walls if (wall["x"], wall["y"]) not in gone]
            new: list[Cell] = [{"x": x, "y": y} for x, y in raised if (x, y) not in standing]
            if len(left) + len(new) <= MAX_LIST:
                edits.append(left + new)
    return edits


def fresh(prefix: str, taken: list[str]) -> str:
    """The first of `prefix-1`, `prefix-2`, … that is not taken.

    Raises:
        EvaluationError: If the prefix is longer than 65,000 characters.
    """
    _within("fresh", len(prefix), 65_000)
    known = set(taken)
    return next(name for number in range(1, len(taken) + 2) if (name := f"{prefix}-{number}") not in known)


def _within(name: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        raise EvaluationError(E_EVAL_ARGUMENT, f"{name}: a size is from 0 to {most}")


def _reached(blocked: Field, starts: list[Place], n: int) -> dict[Place, int]:
    """The cells that are reached in at most n steps from those of some cells that are inside, with the steps."""
    front = [(x, y) for x, y in starts if 0 <= y < len(blocked) and 0 <= x < len(blocked[y])]
    steps = dict.fromkeys(front, 0)
    for step in range(1, n + 1):
        met = []
        for x, y in front:
            for cell in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                a, b = cell
                if cell not in steps and 0 <= b < len(blocked) and 0 <= a < len(blocked[b]) and not blocked[b][a]:
                    steps[cell] = step
                    met.append(cell)
        front = met
    return steps


def _raised(field: Field, start: Place, n: int, wanted: int, spared: set[Place]) -> list[Place] | None:
    """The cells to wall so that exactly `wanted` are reached, or None where walling farthest first does not do it."""
    reached = _reached(field, [start], n)
    raised: list[Place] = []
    if len(reached) < wanted:
        return None
    trial = [row[:] for row in field]
    for cell in sorted(reached, key=lambda cell: (-reached[cell], cell)):
        if len(reached) == wanted:
            break
        if cell in spared:
            continue
        x, y = cell
        trial[y][x] = 1
        left = _reached(trial, [start], n)
        if len(left) < wanted:
            trial[y][x] = 0
            continue
        raised.append(cell)
        reached = left
    return raised if len(reached) == wanted else None


_CELLS = ListType(CELL)

CELL_FUNCTIONS: Final[Mapping[str, Native]] = {
    native.name: native
    for native in (
        Native("ring", (Signature((CELL, INT), ListType(CELL, 4 * MOST_RING)),), ring),
        Native("cells_by_distance", (Signature((CELL, INT), ListType(CELL, 8321)),), cells_by_distance),
        Native("cells_mask", (Signature((_CELLS, INT, INT), FIELD),), cells_mask, cost=16),
        Native("dilate", (Signature((FIELD, INT), FIELD),), dilate, cost=1024),
        Native("reach", (Signature((FIELD, CELL, INT), IntType(0, 8321)),), reach, cost=256),
        Native(
            "wall_edits",
            (Signature((_CELLS, FIELD, CELL, INT, INT, _CELLS), ListType(_CELLS, 42)),),
            wall_edits,
            cost=20,
        ),
        Native("fresh", (Signature((STRING, ListType(STRING)), STRING),), fresh),
    )
}
"""Name -> native function, for every world's environment beside the field functions."""
