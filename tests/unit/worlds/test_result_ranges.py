"""The declared ranges of what functions over fields, cells and series give: as wide as they reach and no wider."""

import pytest

from specledger.core.statistics import ONE
from specledger.expr import IntType
from specledger.expr.limits import INT_MAX, INT_MIN, MAX_LIST
from specledger.suites.series import SERIES
from specledger.worlds.cells import CELL_FUNCTIONS, MOST_REACH
from specledger.worlds.paths import PATH_FUNCTIONS

FUNCTIONS = {**PATH_FUNCTIONS, **CELL_FUNCTIONS, **SERIES}
WALL, ALONE = [[1, 1, 1], [1, 0, 1], [1, 1, 1]], {"x": 1, "y": 1}
OPEN, MIDDLE = [[0] * (2 * MOST_REACH + 1)] * (2 * MOST_REACH + 1), {"x": MOST_REACH, "y": MOST_REACH}
RANGES = {  # the least value with arguments that give it; the greatest, and arguments that give it where some do
    "field_count": (0, ([[1]], [2]), INT_MAX, None),
    "path_length": (-1, (WALL, [1], ALONE, {"x": 0, "y": 0}), INT_MAX, None),
    "reach": (0, (WALL, {"x": 9, "y": 9}, 1), 2 * MOST_REACH * (MOST_REACH + 1) + 1, (OPEN, MIDDLE, MOST_REACH)),
    "trend": (INT_MIN, None, INT_MAX, None),
    "first": (-1, ([False],), MAX_LIST, None),
    "count": (0, ([],), MAX_LIST, ([True] * MAX_LIST,)),
    "distinct": (0, ([],), MAX_LIST, (list(range(MAX_LIST)),)),
    "power": (0, (0, ONE, 9), ONE, (ONE, ONE, 3)),
}


def declared():
    return {
        name: signature.result
        for name, native in FUNCTIONS.items()
        for signature in native.overloads
        if isinstance(signature.result, IntType)
    }


def test_every_function_that_gives_an_integer_has_a_row():
    assert declared().keys() == RANGES.keys()


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_declared_range_are_reached(name):
    least, lowest, greatest, highest = RANGES[name]
    assert (declared()[name].low, declared()[name].high) == (least, greatest)
    for value, args in ((least, lowest), (greatest, highest)):
        if args is not None:
            assert FUNCTIONS[name].call(*args) == value
