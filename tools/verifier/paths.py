"""Functions for finding ways: breadth-first search by steps N, E, S, W; the viability kernel; walls and reaches."""

from tools.verifier.fields import LONGEST_SIDE, around, inside, unfit
from tools.verifier.values import BUDGET, checked_size

MOST_PAIRS, LONGEST_RING, LONGEST_BALL, LONGEST_EDIT, MOST_LISTED = 1_000_000, 512, 64, 4, 65_536
KERNELS = {}


def spread(start, free, most=None):
    """The steps from a cell to every cell that is reached over free ones; the start counts whatever it holds.

    `free` says of a cell (x, y) whether it is.
    """
    steps, front, count = {start: 0}, [start], 0
    while front and (most is None or count < most):
        count += 1
        met = []
        for x, y in front:
            for near in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                if near not in steps and free(near):
                    steps[near] = count
                    met.append(near)
        BUDGET.spend(4 * len(front))
        front = met
    return steps


def distances_over(blocked, p):
    """Steps from a cell over cells that are 0, -1 where none lead."""
    start = (p["x"], p["y"])
    free = {(x, y) for y, row in enumerate(blocked) for x, a in enumerate(row) if not a}
    steps = spread(start, free.__contains__) if inside(blocked, *start) else {}
    return [[steps.get((x, y), -1) for x in range(len(row))] for y, row in enumerate(blocked)]


def open_map_distances(f, codes, p):
    """As `distances_over`, on a map that is not finished: beyond its right and lower edge all is open."""
    x, y = p["x"], p["y"]
    if not (0 <= x < LONGEST_SIDE and 0 <= y < LONGEST_SIDE):
        return [[-1] * len(row) for row in f]
    width = min(LONGEST_SIDE, max([x + 1, *(len(row) for row in f)]) + 1)
    height = min(LONGEST_SIDE, max(y + 1, len(f)) + 1)

    def free(cell):
        a, b = cell
        return 0 <= a < width and 0 <= b < height and not (inside(f, a, b) and f[b][a] in codes)

    steps = spread((x, y), free)
    return [[steps.get((a, b), -1) for a in range(width)] for b in range(height)]


def length_of_way(f, codes, p, q):
    """Steps of a shortest way between two cells over cells without a code, -1 if none; the first may hold any."""
    start, end = (p["x"], p["y"]), (q["x"], q["y"])
    if not (inside(f, *start) and inside(f, *end)):
        return -1
    free = {(x, y) for y, row in enumerate(f) for x, a in enumerate(row) if a not in codes}
    return spread(start, free.__contains__).get(end, -1)


def viability_kernel(f, phases):
    """For each phase of a cycle, 1 where some step (N, E, S, W, none) stays out of harm for ever.

    It is found by taking away, again and again, what every step leads out of.
    """
    cells = sum(len(row) for row in f)
    if not phases or len(phases) * cells > MOST_PAIRS:
        unfit()
    question = (str(f), str(phases))
    if question not in KERNELS:
        KERNELS.clear()
        KERNELS[question] = greatest_kernel(f, [{(one["x"], one["y"]) for one in deadly} for deadly in phases])
    return KERNELS[question]


def greatest_kernel(f, phases):
    """The kernel itself: what loses its last step is looked at no more, but what led to it is, again."""
    free = {(x, y) for y, row in enumerate(f) for x, a in enumerate(row) if not a}
    held = [free - deadly for deadly in phases]
    BUDGET.spend(50 * len(phases) * (len(free) + 1))
    todo = [(phase, place) for phase, places in enumerate(held) for place in places]
    while todo:
        phase, place = todo.pop()
        after = held[(phase + 1) % len(phases)]
        if place in held[phase] and not any(near in after for near in (place, *around(*place))):
            held[phase].discard(place)
            todo += [((phase - 1) % len(phases), near) for near in (place, *around(*place))]
    return [[[int((x, y) in places) for x in range(len(row))] for y, row in enumerate(f)] for places in held]


def ring_around(p, n):
    """The cells at a distance, row by row; those of negative coordinates are left out."""
    checked_size(n, LONGEST_RING)
    x, y = p["x"], p["y"]
    found = []
    for b in range(max(y - n, 0), y + n + 1):
        wide = n - abs(b - y)
        found += [{"x": a, "y": b} for a in ([x - wide, x + wide] if wide else [x]) if a >= 0]
    return found


def ball_around(p, n):
    """The cells at a distance of 0 to n, nearest first."""
    checked_size(n, LONGEST_BALL)
    return [cell for radius in range(n + 1) for cell in ring_around(p, radius)]


def mask_of_cells(cells, width, height):
    """1 at the listed cells."""
    checked_size(width, LONGEST_SIDE)
    checked_size(height, LONGEST_SIDE)
    listed = {(cell["x"], cell["y"]) for cell in cells}
    return [[int((x, y) in listed) for x in range(width)] for y in range(height)]


def dilated(f, n):
    """1 at a distance of n or less from a cell that is not 0."""
    checked_size(n, LONGEST_BALL)
    made = [[int(bool(a)) for a in row] for row in f]
    front = [(x, y) for y, row in enumerate(made) for x, a in enumerate(row) if a]
    for _ in range(n):
        met = []
        for x, y in front:
            for a, b in around(x, y):
                if inside(made, a, b) and not made[b][a]:
                    made[b][a] = 1
                    met.append((a, b))
        BUDGET.spend(4 * len(front))
        front = met
    return made


def reached_cells(blocked, start, n):
    """The cells reached in at most n steps over cells that are 0, with the number of steps."""

    def free(cell):
        return inside(blocked, *cell) and not blocked[cell[1]][cell[0]]

    return spread(start, free, n) if inside(blocked, *start) else {}


def size_of_reach(blocked, p, n):
    """How many cells are reached in at most n steps."""
    checked_size(n, LONGEST_BALL)
    return len(reached_cells(blocked, (p["x"], p["y"]), n))


def edited_walls(walls, blocked, p, n, wanted, kept):
    """Lists of walls to be tried in order, with which a reach should have a size.

    For 0, 1, … walls opened, nearest first: reached cells are walled, farthest first (of those as far, by column and
    row), as long as enough stay reached. Each number of opened walls gives at most one list.
    """
    checked_size(n, LONGEST_EDIT)
    start, found = (p["x"], p["y"]), []
    standing = {(wall["x"], wall["y"]) for wall in walls}
    openable = [(cell["x"], cell["y"]) for cell in ball_around(p, n)]
    openable = [place for place in openable if place in standing]
    spared = {start, *((cell["x"], cell["y"]) for cell in kept)}
    field = [row[:] for row in blocked]
    for opened in range(len(openable) + 1):
        if opened and inside(field, *openable[opened - 1]):
            x, y = openable[opened - 1]
            field[y][x] = 0
        raised = walled_in([row[:] for row in field], start, n, wanted, spared)
        if raised is None:
            continue
        gone = set(openable[:opened]) - set(raised)
        left = [wall for wall in walls if (wall["x"], wall["y"]) not in gone]
        new = [{"x": x, "y": y} for x, y in raised if (x, y) not in standing]
        if len(left) + len(new) <= MOST_LISTED:
            found.append(left + new)
    return found


def walled_in(field, start, n, wanted, spared):
    """The cells to wall so that exactly so many are reached; None where walling farthest first does not do it."""
    reached, raised = reached_cells(field, start, n), []
    if len(reached) < wanted:
        return None
    for x, y in sorted(reached, key=lambda one: (-reached[one], one)):
        if len(reached) == wanted:
            break
        if (x, y) in spared:
            continue
        field[y][x] = 1
        left = reached_cells(field, start, n)
        if len(left) < wanted:
            field[y][x] = 0
        else:
            raised.append((x, y))
            reached = left
    return raised if len(reached) == wanted else None


def fresh_name(prefix, taken):
    """The first of `prefix-1`, `prefix-2`, … that is not taken."""
    checked_size(len(prefix), 65_000)
    known, count = set(taken), 1
    while f"{prefix}-{count}" in known:
        count += 1
    return f"{prefix}-{count}"


PATH_FUNCTIONS = {
    "distances": distances_over,
    "open_distances": open_map_distances,
    "path_length": length_of_way,
    "viability": viability_kernel,
    "ring": ring_around,
    "cells_by_distance": ball_around,
    "cells_mask": mask_of_cells,
    "dilate": dilated,
    "reach": size_of_reach,
    "wall_edits": edited_walls,
    "fresh": fresh_name,
}
