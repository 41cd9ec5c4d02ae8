"""Maps of scenarios: a drawing's lines of characters, or generator steps that draw one from a stream."""

from tools.verifier.fields import around
from tools.verifier.stream import Stream
from tools.verifier.values import BUDGET, Failed

MOST_ATTEMPTS, MOST_DRAWN, FAR_AWAY = 1000, 4_194_304, 1024


class NoRoom(Exception):
    """A generator step found no room, or what it must connect is apart: all is drawn again."""


def map_of(data, seed, episode):
    """The rows of characters of a map."""
    if data.get("drawing") is not None:
        rows = [list(line) for line in data["drawing"].rstrip("\n").split("\n")]
        if len(rows) > 256 or not 0 < len(rows[0]) <= 256 or any(len(row) != len(rows[0]) for row in rows):
            raise Failed("E_MAP")
        return rows
    steps = data["generate"]
    if "fill" not in steps[0]:
        raise Failed("E_MAP")
    stream = Stream(seed, "map", episode if data.get("vary") == "episode" else 0)
    cells = steps[0]["width"] * steps[0]["height"]
    for _ in range(min(MOST_ATTEMPTS, MOST_DRAWN // cells)):
        BUDGET.spend(cells * (8 + 4 * len(steps)))
        try:
            return drawn_map(steps, stream)
        except NoRoom:
            continue
    raise Failed("E_MAP")


def drawn_map(steps, stream):
    """One attempt."""
    grid = []
    for step in steps:
        name = next(name for name in GENERATORS if name in step)
        grid = GENERATORS[name](step, grid, stream)
    return grid


def fill_map(step, grid, stream):
    width, height, border = step["width"], step["height"], step.get("border")
    edges = border if border is not None else step["fill"]
    middle = [edges, *[step["fill"]] * (width - 2), edges]
    return [[edges] * width, *[middle[:] for _ in range(height - 2)], [edges] * width]


def carve_maze(step, grid, stream):
    """A depth-first walk over the cells of odd coordinates, each next one drawn; then walls between ways are opened."""
    height, width, wall, way = len(grid), len(grid[0]), grid[0][0], step["maze"]
    if way == wall:
        raise Failed("E_MAP")
    made = [[wall] * width for _ in range(height)]
    made[1][1] = way
    path = [(1, 1)]
    while path:
        x, y = path[-1]
        near = [(x, y - 2), (x + 2, y), (x, y + 2), (x - 2, y)]
        ways = [(a, b) for a, b in near if 0 < a < width - 1 and 0 < b < height - 1 and made[b][a] == wall]
        if not ways:
            path.pop()
            continue
        a, b = stream.choice(ways)
        made[(y + b) // 2][(x + a) // 2] = made[b][a] = way
        path.append((a, b))
    between = [
        (x, y)
        for y in range(1, height - 1)
        for x in range(1, width - 1)
        if made[y][x] == wall and (made[y][x - 1] == made[y][x + 1] == way or made[y - 1][x] == made[y + 1][x] == way)
    ]
    for x, y in stream.shuffle(between)[: step.get("loops", 0)]:
        made[y][x] = way
    return made


def holding(grid, character):
    """The cells that hold a character, row by row."""
    return [(x, y) for y, row in enumerate(grid) for x, held in enumerate(row) if held == character]


def scatter_over(step, grid, stream):
    cells = holding(grid, step["over"])
    if len(cells) < step["count"]:
        raise NoRoom
    for x, y in stream.shuffle(cells)[: step["count"]]:
        grid[y][x] = step["scatter"]
    return grid


def lies_in(step, x, y):
    """Whether a cell lies in the columns and rows of a step."""
    ranges = ((step.get("columns"), x), (step.get("rows"), y))
    return all(held is None or held[0] <= at <= held[1] for held, at in ranges)


def place_one(step, grid, stream):
    cells = [(x, y) for x, y in holding(grid, step["over"]) if lies_in(step, x, y)]
    if step.get("of") is not None:
        others = holding(grid, step["of"])
        beyond, within = step.get("beyond"), step.get("within")
        beyond, within = -1 if beyond is None else beyond, FAR_AWAY - 1 if within is None else within
        BUDGET.spend(len(cells) * len(others))
        nearest = {(x, y): min((abs(x - a) + abs(y - b) for a, b in others), default=FAR_AWAY) for x, y in cells}
        cells = [cell for cell in cells if beyond < nearest[cell] <= within]
    if not cells:
        raise NoRoom
    x, y = stream.choice(cells)
    grid[y][x] = step["place"]
    return grid


def stamp_one(step, grid, stream):
    rows, width, height = step["stamp"], len(step["stamp"][0]), len(step["stamp"])
    picture = [(x, y, one) for y, row in enumerate(rows) for x, one in enumerate(row) if one != " "]
    corners = [
        (x, y)
        for y in range(len(grid) - height + 1)
        for x in range(len(grid[0]) - width + 1)
        if lies_in(step, x, y) and all(grid[y + b][x + a] == step["over"] for a, b, _ in picture)
    ]
    if not corners:
        raise NoRoom
    x, y = stream.choice(corners)
    for a, b, one in picture:
        grid[y + b][x + a] = one
    return grid


def connect_both(step, grid, stream):
    first, second = (holding(grid, one) for one in step["connect"])
    if not first or not second:
        raise NoRoom
    seen, todo = {first[0]}, [first[0]]
    while todo:
        for a, b in around(*todo.pop()):
            inside_grid = 0 <= b < len(grid) and 0 <= a < len(grid[b])
            if inside_grid and (a, b) not in seen and grid[b][a] not in step["blocked"]:
                seen.add((a, b))
                todo.append((a, b))
    if not seen.issuperset(first + second):
        raise NoRoom
    return grid


GENERATORS = {
    "fill": fill_map,
    "maze": carve_maze,
    "scatter": scatter_over,
    "place": place_one,
    "stamp": stamp_one,
    "connect": connect_both,
}
