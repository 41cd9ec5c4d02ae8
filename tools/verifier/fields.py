"""Functions of fields: lists of rows of ints, the value at a cell being `f[y][x]`. Nothing changes its arguments."""

from tools.verifier.values import Failed

LONGEST_SIDE = 256


def unfit():
    """An argument has a shape that a function cannot take."""
    raise Failed("E_EVAL_ARGUMENT")


def rectangle(f):
    """See that all rows are as long as the first."""
    if any(len(row) != len(f[0]) for row in f):
        unfit()


def both(f, g, combine):
    """Two fields of one shape, cell by cell."""
    if [len(row) for row in f] != [len(row) for row in g]:
        unfit()
    return [[combine(a, b) for a, b in zip(p, q)] for p, q in zip(f, g)]


def each_cell(f, change):
    """A field with every value changed."""
    return [[change(a) for a in row] for row in f]


def combined(weights, terms):
    """The weighted sum of fields."""
    if not terms or len(weights) != len(terms):
        unfit()
    made = each_cell(terms[0], lambda a: weights[0] * a)
    for k, f in zip(weights[1:], terms[1:]):
        made = both(made, f, lambda a, b, k=k: a + k * b)
    return made


def clamped(f, low, high):
    """Every value moved into a range; of an empty range, to its lower end where a value is below that."""
    return each_cell(f, lambda a: low if a < low else high if a > high else a)


def extreme_cell(f, choose):
    """The least or greatest value; there must be one in every row."""
    if not f or not all(f):
        unfit()
    return choose(choose(row) for row in f)


def gradient_energy(f):
    """The sum of squared differences of neighbours along both axes."""
    rectangle(f)
    across = sum((b - a) ** 2 for row in f for a, b in zip(row, row[1:]))
    return across + sum((b - a) ** 2 for p, q in zip(f, f[1:]) for a, b in zip(p, q))


def neighbours(f, x, y):
    """The values of the four neighbours that lie inside."""
    return [f[b][a] for a, b in around(x, y) if inside(f, a, b)]


def around(x, y):
    """The cells N, E, S, W."""
    return ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))


def inside(f, x, y):
    """Whether a cell lies in a field."""
    return 0 <= y < len(f) and 0 <= x < len(f[y])


def laplace(f):
    """For each cell the sum of neighbour minus cell over the neighbours inside."""
    rectangle(f)
    return [[sum(b - a for b in neighbours(f, x, y)) for x, a in enumerate(row)] for y, row in enumerate(f)]


def value_at(f, p, other):
    """The value at a cell, another one outside."""
    return f[p["y"]][p["x"]] if inside(f, p["x"], p["y"]) else other


def put_at(f, p, value):
    """The field with one value replaced; itself, if the cell lies outside."""
    made = [row[:] for row in f]
    if inside(f, p["x"], p["y"]):
        made[p["y"]][p["x"]] = value
    return made


def square_around(f, p, radius, other):
    """The square around a cell."""
    if not 0 <= radius <= 64:
        unfit()
    steps = range(-radius, radius + 1)
    return [[value_at(f, {"x": p["x"] + dx, "y": p["y"] + dy}, other) for dx in steps] for dy in steps]


def cells_where(f, wanted):
    """The cells whose values are wanted, row by row."""
    return [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if wanted(a)]


def pasted(f, g, p, fill):
    """`g` laid over `f`, its top left corner on a cell; `f` grows to the right and below, 256 by 256 at most."""
    x, y = p["x"], p["y"]
    width = min(LONGEST_SIDE, max([0, *(len(row) for row in f), *(x + len(row) for row in g)]))
    height = min(LONGEST_SIDE, max(len(f), y + len(g)))
    grows = height > len(f) or any(len(row) < width for row in f)
    made = [row + [fill] * (width - len(row) if grows else 0) for row in f]
    made += [[fill] * width for _ in range(height - len(f))]
    for dy, row in enumerate(g):
        for dx, value in enumerate(row):
            if 0 <= y + dy < height and 0 <= x + dx < width and inside(made, x + dx, y + dy):
                made[y + dy][x + dx] = value
    return made


FIELD_FUNCTIONS = {
    "field_add": lambda f, g: both(f, g, lambda a, b: a + b),
    "field_sub": lambda f, g: both(f, g, lambda a, b: a - b),
    "field_scale": lambda k, f: each_cell(f, lambda a: k * a),
    "field_combine": combined,
    "field_clamp": clamped,
    "field_floor": lambda f, low: each_cell(f, lambda a: max(a, low)),
    "field_over": lambda f, bound: each_cell(f, lambda a: int(a > bound)),
    "field_min": lambda f: extreme_cell(f, min),
    "field_max": lambda f: extreme_cell(f, max),
    "sum_sq": lambda f: sum(a * a for row in f for a in row),
    "grad_energy": gradient_energy,
    "laplacian": laplace,
    "field_at": value_at,
    "field_put": put_at,
    "window": square_around,
    "mask": lambda f, codes: each_cell(f, lambda a: int(a in codes)),
    "mask_or": lambda f, g: both(f, g, lambda a, b: int(bool(a or b))),
    "cells_at_least": lambda f, bound: cells_where(f, lambda a: a >= bound),
    "cells_at_most": lambda f, bound: cells_where(f, lambda a: a <= bound),
    "beside": lambda f, p, value: neighbours(f, p["x"], p["y"]).count(value),
    "field_count": lambda f, codes: sum(a in codes for row in f for a in row),
    "field_paste": pasted,
}
