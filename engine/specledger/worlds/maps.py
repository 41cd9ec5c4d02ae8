"""Maps: the characters of a drawing, or of generator steps that draw from a random stream.

The world's legend (`worlds.start`) gives each character its meaning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from specledger.core.rng import Stream
from specledger.spec.scenario import Connect, Fill, Generator, Map, Maze, Place, Scatter, Stamp

ATTEMPTS: Final = 1000
"""How often a generated map is drawn again until its `connect` steps hold; less often where it is large."""

CELLS_DRAWN: Final = 4_194_304
"""Cells of all attempts together, which bounds the time of an impossible request."""

FAR: Final = 1024
"""A distance longer than any on the largest map."""

STAYS: Final = " "
"""In a stamp, what leaves a cell as it is."""

MAX_SIDE: Final = 256
"""Lines of a drawing at most, and characters of a line."""

Grid = list[list[str]]


Stretch = tuple[int, int, int]
"""Characters of a drawing: the first one's column and row, from 0, and how many there are."""


class MapError(ValueError):
    """A map that cannot be made: ragged lines, no rectangle, too little room, or nothing connected in `ATTEMPTS`.

    `at` says where in a drawing, if it is there.
    """

    def __init__(self, message: str, at: Stretch | None = None) -> None:
        self.at = at
        super().__init__(message)


class NoRoomError(MapError):
    """A step found too little room on what the steps before it drew; another drawing may have more."""


def read_drawing(drawing: str) -> Grid:
    """Split a drawing into rows of characters.

    Raises:
        MapError: If the drawing is empty, larger than 256 x 256, or its lines differ in length.
    """
    rows = [list(line) for line in drawing.rstrip("\n").split("\n")]
    width = len(rows[0])
    if not width or width > MAX_SIDE:
        raise MapError(f"line 1 of the drawing has {width} characters, and a line has 1 to {MAX_SIDE}", (0, 0, width))
    if len(rows) > MAX_SIDE:
        message = f"line {MAX_SIDE + 1} of the drawing is one too many, and a drawing has 1 to {MAX_SIDE}"
        raise MapError(message, (0, MAX_SIDE, len(rows[MAX_SIDE])))
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            message = f"line {number} of the drawing has {len(row)} characters, line 1 has {width}"
            raise MapError(message, (0, number - 1, len(row)))
    return rows


def generate(steps: list[Generator], stream: Stream) -> Grid:
    """Perform the generator steps in order, again from the first one while there is no room or no connection.

    Raises:
        MapError: If a step cannot be performed, or no attempt has room for all of them and connects.
    """
    first = steps[0] if steps else None
    cells = first.width * first.height if isinstance(first, Fill) else 1
    attempts = min(ATTEMPTS, CELLS_DRAWN // cells)
    failed = MapError(f"none of {attempts} drawn maps satisfies `connect`")
    for _ in range(attempts):
        try:
            grid = _attempt(steps, stream)
        except NoRoomError as error:
            failed = error
            continue
        if grid is not None:
            return grid
    raise failed


def make(spec: Map, stream: Stream) -> Grid:
    """The rows of characters that a map spec stands for; only `generate` draws from the stream.

    Raises:
        MapError: As `read_drawing` and `generate`.
    """
    return read_drawing(spec.drawing) if spec.drawing is not None else generate(spec.generate or [], stream)


def _attempt(steps: list[Generator], stream: Stream) -> Grid | None:
    if not steps or not isinstance(steps[0], Fill):
        raise MapError("the first generator step is `fill`, since the others need its rectangle")
    grid: Grid = []
    for step in steps:
        if isinstance(step, Connect):
            if not _connected(grid, step):
                return None
        else:
            grid = _PERFORM[type(step)](step, grid, stream)
    return grid


def _fill(step: Fill, _grid: Grid, _stream: Stream) -> Grid:
    grid = [[step.fill] * step.width for _ in range(step.height)]
    if step.border is not None:
        for y, row in enumerate(grid):
            for x in range(step.width):
                if x in (0, step.width - 1) or y in (0, step.height - 1):
                    row[x] = step.border
    return grid


def _maze(step: Maze, grid: Grid, stream: Stream) -> Grid:
    """Randomised depth-first search over the odd cells; all other cells become walls of the corner's character."""
    height, width = len(grid), len(grid[0])
    wall = grid[0][0]
    if step.maze == wall:
        raise MapError(f"a maze of {step.maze!r} cannot be told from its walls, which are {wall!r} as the corner is")
    carved = [[wall] * width for _ in range(height)]
    carved[1][1] = step.maze
    path = [(1, 1)]
    while path:
        x, y = path[-1]
        ways = [
            (x + dx, y + dy)
            for dx, dy in ((0, -2), (2, 0), (0, 2), (-2, 0))
            if 0 < x + dx < width - 1 and 0 < y + dy < height - 1 and carved[y + dy][x + dx] == wall
        ]
        if not ways:
            path.pop()
            continue
        a, b = stream.choice(ways)
        carved[(y + b) // 2][(x + a) // 2] = carved[b][a] = step.maze
        path.append((a, b))
    _open_loops(step, carved, wall, stream)
    return carved


def _open_loops(step: Maze, grid: Grid, wall: str, stream: Stream) -> None:
    """Open up to `loops` inner walls that separate two corridor cells."""
    walls = [
        (x, y)
        for y in range(1, len(grid) - 1)
        for x in range(1, len(grid[0]) - 1)
        if grid[y][x] == wall
        and (grid[y][x - 1] == grid[y][x + 1] == step.maze or grid[y - 1][x] == grid[y + 1][x] == step.maze)
    ]
    for x, y in stream.shuffle(walls)[: step.loops]:
        grid[y][x] = step.maze


def _scatter(step: Scatter, grid: Grid, stream: Stream) -> Grid:
    cells = _cells(grid, step.over)
    if len(cells) < step.count:
        raise NoRoomError(f"no room to scatter {step.count} of {step.scatter!r}: {len(cells)} cells hold {step.over!r}")
    for x, y in stream.shuffle(cells)[: step.count]:
        grid[y][x] = step.scatter
    return grid


def _place(step: Place, grid: Grid, stream: Stream) -> Grid:
    cells = [(x, y) for x, y in _cells(grid, step.over) if _inside(step, x, y)]
    if not cells:
        raise NoRoomError(f"no room to place {step.place!r}: no cell holds {step.over!r}")
    if step.of is not None:
        cells = _apart(cells, grid, step)
    x, y = stream.choice(cells)
    grid[y][x] = step.place
    return grid


def _apart(cells: list[tuple[int, int]], grid: Grid, step: Place) -> list[tuple[int, int]]:
    """The cells whose distance to the nearest cell of another character is as the step wants it."""
    nearest = _nearest(grid, step.of or "")
    beyond = -1 if step.beyond is None else step.beyond
    within = FAR - 1 if step.within is None else step.within
    candidates = [(x, y) for x, y in cells if beyond < nearest[y][x] <= within]
    if not candidates:
        raise NoRoomError(
            f"no room to place {step.place!r}: no cell of {step.over!r} is as far from {step.of!r} as wanted"
        )
    return candidates


def _nearest(grid: Grid, character: str) -> list[list[int]]:
    """Manhattan distances to the nearest cell that holds a character, by one pass forth and one back."""
    height, width = len(grid), len(grid[0])
    distance = [[0 if symbol == character else FAR for symbol in row] for row in grid]
    for y in range(height):
        for x in range(width):
            before = min(distance[y - 1][x] if y else FAR, distance[y][x - 1] if x else FAR)
            distance[y][x] = min(distance[y][x], before + 1)
    for y in reversed(range(height)):
        for x in reversed(range(width)):
            after = min(distance[y + 1][x] if y + 1 < height else FAR, distance[y][x + 1] if x + 1 < width else FAR)
            distance[y][x] = min(distance[y][x], after + 1)
    return distance


def _stamp(step: Stamp, grid: Grid, stream: Stream) -> Grid:
    picture = [(x, y, drawn) for y, row in enumerate(step.stamp) for x, drawn in enumerate(row) if drawn != STAYS]
    width, height = len(step.stamp[0]), len(step.stamp)
    corners = [
        (x, y)
        for y in range(len(grid) - height + 1)
        for x in range(len(grid[0]) - width + 1)
        if _inside(step, x, y) and all(grid[y + b][x + a] == step.over for a, b, _ in picture)
    ]
    if not corners:
        raise NoRoomError(f"no room for a stamp of {width} x {height} cells over {step.over!r}")
    x, y = stream.choice(corners)
    for a, b, drawn in picture:
        grid[y + b][x + a] = drawn
    return grid


def _inside(step: Place | Stamp, x: int, y: int) -> bool:
    """Whether a cell lies in the columns and rows of a step."""
    return all(part is None or part[0] <= at <= part[1] for part, at in ((step.columns, x), (step.rows, y)))


_PERFORM: Final[dict[type, Callable[..., Grid]]] = {
    Fill: _fill,
    Maze: _maze,
    Scatter: _scatter,
    Place: _place,
    Stamp: _stamp,
}


def _cells(grid: Grid, character: str) -> list[tuple[int, int]]:
    return [(x, y) for y, row in enumerate(grid) for x, symbol in enumerate(row) if symbol == character]


def _connected(grid: Grid, step: Connect) -> bool:
    """Whether both characters are there, and all cells that hold them are joined."""
    source, target = (_cells(grid, character) for character in step.connect)
    if not source or not target:
        return False
    seen = {source[0]}
    queue = deque(seen)
    while queue:
        x, y = queue.popleft()
        for a, b in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
            inside = 0 <= b < len(grid) and 0 <= a < len(grid[b])
            if inside and (a, b) not in seen and grid[b][a] not in step.blocked:
                seen.add((a, b))
                queue.append((a, b))
    return seen.issuperset(source) and seen.issuperset(target)
