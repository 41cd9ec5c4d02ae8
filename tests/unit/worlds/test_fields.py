"""The field functions against slow references, their identities, and what they refuse."""

import copy
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.worlds import fields
from specledger.worlds.fields import (
    beside,
    cells_at_least,
    cells_at_most,
    distances,
    field_add,
    field_at,
    field_clamp,
    field_combine,
    field_erode,
    field_floor,
    field_max,
    field_min,
    field_over,
    field_put,
    field_scale,
    field_sub,
    grad_energy,
    laplacian,
    mask,
    mask_or,
    sum_sq,
    window,
)
from specledger.worlds.natives import FIELD_FUNCTIONS

SIDES = st.integers(1, 5)
VALUES = st.integers(-(10**6), 10**6)
SMALL = st.integers(-3, 3)
STEPS = st.integers(0, 3) | st.integers(-3, 7)  # mostly inside, some at the edges and beyond
CELLS = st.builds(lambda x, y: {"x": x, "y": y}, STEPS, STEPS)


def shaped(values, height, width):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(row, min_size=height, max_size=height)


def rectangles(values=VALUES):
    return st.tuples(SIDES, SIDES).flatmap(lambda shape: shaped(values, *shape))


def pairs_of_rectangles(values=VALUES):
    """Two fields of one shape."""
    return st.tuples(SIDES, SIDES).flatmap(lambda shape: st.tuples(*[shaped(values, *shape)] * 2))


def cell(x, y):
    return {"x": x, "y": y}


def places(f):
    """Value by (x, y): the form in which the references compute."""
    return {(x, y): a for y, row in enumerate(f) for x, a in enumerate(row)}


def pairs(known):
    """Each pair of neighbouring places once."""
    for x, y in known:
        for neighbour in ((x + 1, y), (x, y + 1)):
            if neighbour in known:
                yield (x, y), neighbour


CELLWISE = {
    "field_add": (field_add, lambda a, b: a + b),
    "field_sub": (field_sub, lambda a, b: a - b),
    "field_scale": (lambda f, g: field_scale(-7, f), lambda a, b: -7 * a),
    "field_clamp": (lambda f, g: field_clamp(f, -1, 2), lambda a, b: sorted([-1, a, 2])[1]),
    "field_floor": (lambda f, g: field_floor(f, 1), lambda a, b: max(1, a)),
    "field_over": (lambda f, g: field_over(f, 0), lambda a, b: int(a > 0)),
    "mask": (lambda f, g: mask(f, [2, -1, 2]), lambda a, b: int(a in (-1, 2))),
    "mask nothing": (lambda f, g: mask(f, []), lambda a, b: 0),
    "mask_or": (mask_or, lambda a, b: int(a != 0 or b != 0)),
}


@given(both=pairs_of_rectangles(SMALL))
def test_cell_by_cell(both):
    f, g = both
    first, second = places(f), places(g)
    for name, (function, reference) in CELLWISE.items():
        found = function(f, g)
        assert [len(row) for row in found] == [len(row) for row in f], name
        assert places(found) == {place: reference(first[place], second[place]) for place in first}, name


@given(f=rectangles())
def test_extremes_and_squares(f):
    values = list(places(f).values())
    assert (field_min(f), field_max(f)) == (min(values), max(values))
    assert sum_sq(f) == sum(value**2 for value in values)


@given(f=rectangles())
def test_erosion_is_the_least_of_a_cell_and_its_neighbours(f):
    known = places(f)
    expected = dict(known)
    for here, there in pairs(known):
        expected[here] = min(expected[here], known[there])
        expected[there] = min(expected[there], known[here])
    assert places(field_erode(f)) == expected


@given(f=rectangles())
def test_laplacian_is_the_flow_between_neighbours(f):
    known = places(f)
    expected = dict.fromkeys(known, 0)
    for here, there in pairs(known):
        flow = known[there] - known[here]
        expected[here] += flow
        expected[there] -= flow
    found = places(laplacian(f))
    assert found == expected
    assert sum(found.values()) == 0


@given(f=rectangles())
def test_gradient_energy_is_that_of_all_pairs_of_neighbours(f):
    known = places(f)
    energy = grad_energy(f)
    assert energy == sum((known[there] - known[here]) ** 2 for here, there in pairs(known))
    curved = places(laplacian(f))
    assert energy == -sum(known[place] * curved[place] for place in known)  # Green's identity for free edges


KERNEL = {  # f, laplacian, gradient energy
    "a peak in the middle": ([[0, 0, 0], [0, 9, 0], [0, 0, 0]], [[0, 9, 0], [9, -36, 9], [0, 9, 0]], 324),
    "no rows": ([], [], 0),
    "empty rows": ([[], []], [[], []], 0),
}


@pytest.mark.parametrize(("f", "curved", "energy"), KERNEL.values(), ids=KERNEL)
def test_kernel(f, curved, energy):
    assert laplacian(f) == curved
    assert grad_energy(f) == energy


@given(f=rectangles(), p=CELLS, default=VALUES)
def test_at(f, p, default):
    assert field_at(f, p, default) == places(f).get((p["x"], p["y"]), default)


@given(terms=st.lists(st.integers(-9, 9), min_size=1, max_size=4), both=pairs_of_rectangles())
def test_combination_is_scaling_and_adding(terms, both):
    fields_of_terms = [both[index % 2] for index in range(len(terms))]
    expected = field_scale(terms[0], fields_of_terms[0])
    for weight, f in list(zip(terms, fields_of_terms, strict=True))[1:]:
        expected = field_add(expected, field_scale(weight, f))
    assert field_combine(terms, fields_of_terms) == expected


ROWS = st.lists(st.lists(st.integers(0, 1), max_size=5), min_size=1, max_size=5)


@pytest.mark.parametrize("x", [1, 2, 3])
def test_beside_looks_one_cell_to_the_left(x):
    row = [7 if at == x - 1 else 0 for at in range(5)]
    assert beside([[0] * 5, row, [0] * 5], {"x": x, "y": 1}, 7) == 1


@given(f=ROWS, p=CELLS, value=st.integers(0, 1))
def test_beside_counts_neighbours_on_any_rows(f, p, value):
    known, (x, y) = places(f), (p["x"], p["y"])
    assert beside(f, p, value) == [
        known.get(place) for place in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))
    ].count(value)


@given(f=rectangles(), p=CELLS, value=VALUES)
def test_put_replaces_one_value_and_leaves_the_argument_alone(f, p, value):
    before = copy.deepcopy(f)
    found = field_put(f, p, value)
    known, place = places(before), (p["x"], p["y"])
    assert f == before
    assert places(found) == (known | {place: value} if place in known else known)
    assert [len(row) for row in found] == [len(row) for row in before]


@given(f=rectangles(), p=CELLS, radius=st.integers(0, 4), outside=VALUES)
def test_window(f, p, radius, outside):
    known, found = places(f), window(f, p, radius, outside)
    reach = range(-radius, radius + 1)
    assert found == [[known.get((p["x"] + dx, p["y"] + dy), outside) for dx in reach] for dy in reach]


GRID = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_the_widest_window():
    found = window(GRID, cell(0, 0), 64, -1)
    assert [len(row) for row in found] == [129] * 129
    assert [row[64:67] for row in found[64:67]] == GRID


def relaxed(blocked, start):
    """Distances by relaxing every pair of neighbours until nothing changes."""
    known = places(blocked)
    unreached = len(known)  # further than any place
    far = {place: 0 if place == start else unreached for place in known}
    changed = True
    while changed:
        changed = False
        for here, there in [way for pair in pairs(known) for way in (pair, pair[::-1])]:
            if not known[there] and far[here] + 1 < far[there]:
                far[there], changed = far[here] + 1, True
    return {place: -1 if steps == unreached else steps for place, steps in far.items()}


@given(f=rectangles(st.sampled_from([0, 0, 1, -2])), p=CELLS)
def test_distances(f, p):
    assert places(distances(f, p)) == relaxed(f, (p["x"], p["y"]))


MAZES = {
    "from a blocked cell": ([[0, 1, 0]], cell(1, 0), [[1, 0, 1]]),
    "rows of different lengths": ([[0, 0, 0], [0], [0, 0]], cell(2, 0), [[2, 1, 0], [3], [4, 5]]),
    "nowhere": ([], cell(0, 0), []),
}


@pytest.mark.parametrize(("blocked", "p", "expected"), MAZES.values(), ids=MAZES)
def test_distances_of_mazes(blocked, p, expected):
    assert distances(blocked, p) == expected


@given(f=rectangles(SMALL), bound=SMALL)
def test_cells_by_value_come_row_by_row(f, bound):
    known = sorted(places(f).items(), key=lambda item: item[0][::-1])
    assert cells_at_least(f, bound) == [cell(x, y) for (x, y), a in known if a >= bound]
    assert cells_at_most(f, bound) == [cell(x, y) for (x, y), a in known if a <= bound]


RAGGED = [[1, 2], [3]]
REFUSED = {
    "add: more rows": lambda: field_add([[1]], [[1], [2]]),
    "add: longer rows": lambda: field_add([[1, 2]], [[1]]),
    "add: another row is longer": lambda: field_add([[1], [2, 3]], [[1], [2]]),
    "add: transposed": lambda: field_add([[1, 2]], [[1], [2]]),
    "subtract: more rows": lambda: field_sub([[1], [2]], [[1]]),
    "subtract: shorter rows": lambda: field_sub([[1]], [[1, 2]]),
    "or: more rows": lambda: mask_or([[1]], [[1], [2]]),
    "or: longer rows": lambda: mask_or([[1, 2]], [[1]]),
    "combine: nothing": lambda: field_combine([], []),
    "combine: a weight too few": lambda: field_combine([1], [[[1]], [[1]]]),
    "combine: a weight too many": lambda: field_combine([1, 2], [[[1]]]),
    "combine: more rows": lambda: field_combine([1, 1], [[[1]], [[1], [2]]]),
    "combine: fewer rows": lambda: field_combine([1, 1], [[[1], [2]], [[1]]]),
    "combine: longer rows": lambda: field_combine([1, 1], [[[1]], [[1, 2]]]),
    "combine: shorter rows": lambda: field_combine([1, 1], [[[1, 2]], [[1]]]),
    "least of no rows": lambda: field_min([]),
    "least of an empty row": lambda: field_min([[1], []]),
    "greatest of no rows": lambda: field_max([]),
    "greatest of an empty row": lambda: field_max([[], [1]]),
    "laplacian: last row shorter": lambda: laplacian(RAGGED),
    "laplacian: first row shorter": lambda: laplacian(RAGGED[::-1]),
    "laplacian: an empty row": lambda: laplacian([[1], []]),
    "gradient: last row shorter": lambda: grad_energy(RAGGED),
    "gradient: first row shorter": lambda: grad_energy(RAGGED[::-1]),
    "gradient: an empty row": lambda: grad_energy([[], [1]]),
    "window: negative radius": lambda: window(GRID, cell(1, 1), -1, 0),
    "window: too wide": lambda: window(GRID, cell(1, 1), 65, 0),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused(call):
    with pytest.raises(ValueError, match=r"shape|length|empty|radius|weight"):
        call()


CALLS: dict[Any, Any] = {
    field_add: lambda f, g, p: (f, g),
    field_sub: lambda f, g, p: (f, g),
    field_scale: lambda f, g, p: (3, f),
    field_combine: lambda f, g, p: ([2, -3, 1], [f, g, f]),
    field_clamp: lambda f, g, p: (f, -1, 1),
    field_floor: lambda f, g, p: (f, 0),
    field_erode: lambda f, g, p: (f,),
    field_over: lambda f, g, p: (f, 0),
    field_min: lambda f, g, p: (f,),
    field_max: lambda f, g, p: (f,),
    sum_sq: lambda f, g, p: (f,),
    grad_energy: lambda f, g, p: (f,),
    laplacian: lambda f, g, p: (f,),
    beside: lambda f, g, p: (f, p, 1),
    field_at: lambda f, g, p: (f, p, 0),
    field_put: lambda f, g, p: (f, p, 9),
    window: lambda f, g, p: (f, p, 2, 7),
    mask: lambda f, g, p: (f, [2, 1]),
    mask_or: lambda f, g, p: (f, g),
    distances: lambda f, g, p: (f, p),
    cells_at_least: lambda f, g, p: (f, 0),
    cells_at_most: lambda f, g, p: (f, 0),
}


def test_every_function_is_called_below():
    public = {
        name
        for name, function in inspect.getmembers(fields, inspect.isfunction)
        if function.__module__ == fields.__name__ and not name.startswith("_")
    }
    assert {function.__name__ for function in CALLS} == public == set(FIELD_FUNCTIONS)


@given(both=pairs_of_rectangles(SMALL), p=CELLS)
def test_no_function_changes_its_arguments(both, p):
    for function, choose in CALLS.items():
        arguments = choose(*both, p)
        before = copy.deepcopy(arguments)
        first = copy.deepcopy(function(*arguments))
        assert arguments == before, function.__name__
        assert function(*arguments) == first, function.__name__
