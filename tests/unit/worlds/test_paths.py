"""Functions for finding a way, against plain restatements: growing maps, optimistic ways, viability, digests."""

import copy
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import Environment, EvaluationError, check, compile_expression
from specledger.worlds import paths
from specledger.worlds.fields import Cell, distances
from specledger.worlds.paths import (
    PATH_FUNCTIONS,
    digest_of,
    field_count,
    field_paste,
    open_distances,
    path_length,
    viability,
)
from tests.conftest import examples

CODES = st.integers(-1, 3)
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))


@st.composite
def fields(draw, values=CODES, least=1, most=7):
    width, height = draw(st.integers(least, most)), draw(st.integers(least, most))
    return draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=height, max_size=height))


def cells(low=-3, high=9):
    return st.fixed_dictionaries({"x": st.integers(low, high), "y": st.integers(low, high)})


# --- maps


@given(f=fields(least=0), g=fields(), p=cells())
def test_a_pasted_field_holds_both_and_grows_right_and_down(f, g, p):
    kept = copy.deepcopy((f, g))
    found = field_paste(f, g, p, 9)
    assert (f, g) == kept
    for y, row in enumerate(found):
        for x, value in enumerate(row):
            a, b = x - p["x"], y - p["y"]
            if 0 <= b < len(g) and 0 <= a < len(g[0]):
                assert value == g[b][a]
            elif y < len(f) and x < len(f[y]):
                assert value == f[y][x]
            else:
                assert value == 9
    assert len(found) == max(len(f), p["y"] + len(g))
    assert {len(row) for row in found} <= {max([0, *map(len, f), p["x"] + len(g[0])])}


def test_a_map_stays_itself_where_nothing_is_new():
    f = [[1, 2], [3, 4]]
    assert field_paste(f, [[4]], {"x": 1, "y": 1}, 0) is f
    assert field_paste(f, [[7]], {"x": -1, "y": 0}, 0) is f
    assert f == [[1, 2], [3, 4]]


def test_a_map_ends_where_fields_end():
    assert field_paste([[1]], [[2]], {"x": 300, "y": 0}, 0)[0][255] == 0
    assert len(field_paste([[1]], [[2]], {"x": 0, "y": 300}, 0)) == 256


@given(f=fields(), codes=st.lists(st.integers(-1, 3), max_size=3))
def test_cells_are_counted(f, codes):
    assert field_count(f, codes) == sum(value in codes for row in f for value in row)


# --- ways


def wide(f, codes, margin):
    """The blocked cells of a map with much open ground to the right and below."""
    width = len(f[0]) + margin
    rows = [[1 if value in codes else 0 for value in row] + [0] * margin for row in f]
    return rows + [[0] * width for _ in range(margin)]


@given(f=fields(), p=cells(0, 9))
def test_an_optimistic_way_is_the_shortest_on_endless_open_ground(f, p):
    found = open_distances(f, [1, 2], p)
    full = distances(wide(f, [1, 2], 30), p)
    assert found == [row[: len(found[0])] for row in full[: len(found)]]
    assert len(found) == max(len(f), p["y"] + 1) + 1
    assert len(found[0]) == max(len(f[0]), p["x"] + 1) + 1


def test_distances_of_equal_maps_are_equal_and_lists_of_their_own():
    for side in (3, 70):  # kept, and too large to be kept
        first = distances([[0] * side for _ in range(side)], {"x": 0, "y": 0})
        expected = copy.deepcopy(first)
        first[0][1] = 99
        assert distances([[0] * side for _ in range(side)], {"x": 0, "y": 0}) == expected
        assert expected == [[x + y for x in range(side)] for y in range(side)]


def test_an_optimistic_way_begins_on_the_map_or_right_of_it_and_below():
    assert open_distances([[0, 1]], [1], {"x": -1, "y": 0}) == [[-1, -1]]
    assert open_distances([], [1], {"x": 0, "y": 0}) == [[0, 1], [1, 2]]


@given(f=fields(), p=cells(-1, 7), q=cells(-1, 7))
def test_the_length_of_a_path_is_that_of_the_distances(f, p, q):
    inside = all(0 <= cell["y"] < len(f) and 0 <= cell["x"] < len(f[0]) for cell in (p, q))
    expected = (
        distances([[1 if value in (1, 2) else 0 for value in row] for row in f], p)[q["y"]][q["x"]] if inside else -1
    )
    assert path_length(f, [1, 2], p, q) == expected


def test_there_is_no_path_over_what_a_ragged_field_lacks():
    assert path_length([[0, 0, 0], [0], [0, 0, 0]], [], {"x": 2, "y": 0}, {"x": 2, "y": 2}) == 6
    assert path_length([[0, 0, 0], [], [0, 0, 0]], [], {"x": 2, "y": 0}, {"x": 2, "y": 2}) == -1


def test_there_is_no_path_from_a_closed_cell_without_an_open_neighbour():
    assert path_length([[0, 1, 1]], [1], {"x": 2, "y": 0}, {"x": 0, "y": 0}) == -1
    assert path_length([[0, 0, 1]], [1], {"x": 2, "y": 0}, {"x": 0, "y": 0}) == 2


# --- viability


def kernel(f, phases):
    """The greatest fixpoint, by taking away whatever has no safe next step until nothing changes."""
    held = {
        (x, y, phase)
        for phase, deadly in enumerate(phases)
        for y, row in enumerate(f)
        for x, value in enumerate(row)
        if not value and {"x": x, "y": y} not in deadly
    }
    while True:
        left = {
            (x, y, phase)
            for x, y, phase in held
            if any((x + a, y + b, (phase + 1) % len(phases)) in held for a, b in ((0, 0), *STEPS))
        }
        if left == held:
            return held
        held = left


@settings(max_examples=examples(60))
@given(
    f=fields(st.sampled_from([0, 0, 0, 1]), most=5),
    phases=st.lists(st.lists(cells(-1, 5), max_size=9), min_size=1, max_size=5),
)
def test_the_viability_kernel_is_the_greatest_fixpoint(f, phases):
    kept = copy.deepcopy((f, phases))
    found = viability(f, phases)
    assert (f, phases) == kept
    held = {(x, y, i) for i, g in enumerate(found) for y, row in enumerate(g) for x, value in enumerate(row) if value}
    assert held == kernel(f, phases)
    assert [len(g) for g in found] == [len(f)] * len(phases)


def test_who_waits_in_a_dead_end_is_not_viable():
    """A danger walks along a corridor of four cells and back; only the cell beside its middle is out of its way."""
    corridor = [[0, 0, 0, 0], [1, 0, 1, 1]]
    walk = [0, 1, 2, 3, 2, 1]
    phases: list[list[Cell]] = [
        [{"x": x, "y": 0}, {"x": walk[i - 1], "y": 0}] for i, x in enumerate(walk)
    ]  # and what it has just left
    found = viability(corridor, phases)
    assert [g[1][1] for g in found] == [1] * 6
    assert [g[0][3] for g in found] == [0] * 6  # it comes to the end whatever one does
    assert found[3][0][0] == 1  # far away: there is time to leave


def test_one_question_is_answered_once():
    f = [[0] * 5 for _ in range(5)]
    phases: list[list[Cell]] = [[{"x": i, "y": 2}] for i in range(5)]
    first = viability(f, phases)
    before = paths._kernel.cache_info()
    assert viability(copy.deepcopy(f), copy.deepcopy(phases)) is first
    after = paths._kernel.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)


@pytest.mark.parametrize(("f", "phases"), [([[0]], []), ([[0] * 256] * 256, [[]] * 16)], ids=["no phase", "too large"])
def test_a_kernel_has_phases_and_is_bounded(f, phases):
    with pytest.raises(ValueError, match="at least one phase and at most"):
        viability(f, phases)


# --- digests


@pytest.mark.parametrize("value", [[[1, 2], [3]], {"b": 1, "a": "é"}, 7, "text", True, []])
def test_a_digest_is_that_of_the_canonical_form_under_its_tag(value):
    data = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert digest_of(value) == hashlib.sha256(b"specledger/value/v1\x00" + data).hexdigest()


def call(text: str) -> Any:
    found = Diagnostics()
    checked = check(Text.inline(text), Environment(functions=PATH_FUNCTIONS), found)
    assert checked is not None, found.sorted()
    return compile_expression(checked, ())()


@pytest.mark.parametrize("text", ["digest_of(1.5)", "viability([[0]], [])"])
def test_what_cannot_be_answered_is_an_evaluation_error(text):
    with pytest.raises(EvaluationError, match=text.partition("(")[0]):
        call(text)


def test_what_is_remembered_of_a_field_is_not_taken_for_another():
    """Fields come and go, and their identities are used again; each gets its own answer, asked once or often."""
    for number in range(2000):
        f = [[0, number % 3, 0, number % 2]]
        expected = 3 if not (number % 3 == 1 or number % 2) else -1
        for _ in range(2):
            assert path_length(f, [1], {"x": 0, "y": 0}, {"x": 3, "y": 0}) == expected
            assert open_distances(f, [1], {"x": 0, "y": 0})[0][2] == (4 if number % 3 == 1 else 2)
