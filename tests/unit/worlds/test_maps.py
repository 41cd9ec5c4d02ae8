"""Drawings that are read and refused, and generator steps: what they make, from what, and where they give up."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.rng import Stream
from specledger.spec.scenario import Connect, Fill, Map, Maze, Place, Scatter
from specledger.worlds.maps import ATTEMPTS, MapError, generate, make, read_drawing

SEEDS = st.integers(0, 2**32)
SIZES = st.integers(3, 18)  # even ones too
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
NO_LOOPS = Maze(maze=".")


def fill(width, height, inside="#", border=None):
    return Fill(fill=inside, width=width, height=height, border=border)


def stream(seed=0):
    return Stream.named(seed, "map", 0)


def cells(grid, wanted):
    return {(x, y) for y, row in enumerate(grid) for x, held in enumerate(row) if held in wanted}


def edges(open_cells):
    return [((x, y), next_to) for x, y in open_cells for next_to in ((x + 1, y), (x, y + 1)) if next_to in open_cells]


def groups(open_cells):
    """The sets of cells that are joined, by merging over every edge."""
    member = {place: {place} for place in open_cells}
    for here, there in edges(open_cells):
        if member[here] is not member[there]:
            merged = member[here] | member[there]
            member.update(dict.fromkeys(merged, merged))
    return member


DRAWINGS = {
    "one character": ("#", [["#"]]),
    "one line": ("#.G\n", [["#", ".", "G"]]),
    "no newline at the end": ("ab\ncd", [["a", "b"], ["c", "d"]]),
    "blank lines at the end": ("ab\ncd\n\n\n", [["a", "b"], ["c", "d"]]),
    "spaces are characters": ("  \n .\n", [[" ", " "], [" ", "."]]),
    "one character of four bytes": ("🌊a\nbc\n", [["🌊", "a"], ["b", "c"]]),
    "as large as can be": ("x" * 256 + ("\n" + "y" * 256) * 255, [["x"] * 256, *[["y"] * 256] * 255]),
}


@pytest.mark.parametrize(("drawing", "rows"), DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing(drawing, rows):
    assert read_drawing(drawing) == rows


@given(
    st.integers(1, 6).flatmap(lambda width: st.lists(st.text(CHARACTERS, min_size=width, max_size=width), min_size=1))
)
def test_a_drawing_is_its_lines(lines):
    assert ["".join(row) for row in read_drawing("\n".join(lines))] == lines


NO_DRAWINGS = {
    "nothing": ("", "line 1 .* 0 characters"),
    "only a newline": ("\n", "line 1 .* 0 characters"),
    "a blank line first": ("\n##\n", "line 1 .* 0 characters"),
    "a blank line between": ("##\n\n##\n", "line 2 .* 0 characters, line 1 has 2"),
    "the last line shorter": ("###\n###\n##\n", "line 3 .* 2 characters, line 1 has 3"),
    "the second line longer": ("##\n###\n##\n", "line 2 .* 3 characters, line 1 has 2"),
    "a space too many": ("##\n## \n", "line 2 .* 3 characters, line 1 has 2"),
    "too wide": ("#" * 257, "line 1 .* 257 characters"),
    "too wide further down": ("#\n" + "#" * 300, "line 2 .* 300 characters, line 1 has 1"),
    "too high": ("#\n" * 257, "line 257 .* too many"),
}


@pytest.mark.parametrize(("drawing", "message"), NO_DRAWINGS.values(), ids=NO_DRAWINGS)
def test_no_drawing(drawing, message):
    with pytest.raises(MapError, match=message):
        read_drawing(drawing)


def test_a_drawing_takes_nothing_from_the_stream():
    untouched = stream()
    assert make(Map(drawing="ab\ncd\n"), untouched) == [["a", "b"], ["c", "d"]]
    assert untouched.position == 0


@given(width=SIZES, height=SIZES, border=st.sampled_from([None, "#"]))
def test_a_rectangle_and_its_rim(width, height, border):
    drawn = stream()
    grid = generate([fill(width, height, ".", border)], drawn)
    inside = {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}
    everything = set(itertools.product(range(width), range(height)))
    assert cells(grid, ".#") == everything
    assert cells(grid, ".") == (everything if border is None else inside)
    assert drawn.position == 0


@given(width=SIZES, height=SIZES, seed=SEEDS)
def test_a_perfect_maze_has_one_way_between_any_two_cells(width, height, seed):
    grid = generate([fill(width, height), NO_LOOPS], stream(seed))
    corridor = cells(grid, ".")
    rooms = {(x, y) for x in range(1, width - 1, 2) for y in range(1, height - 1, 2)}
    assert rooms <= corridor
    assert len(corridor) == 2 * len(rooms) - 1  # a room and a passage for each but the first
    assert len(edges(corridor)) == len(corridor) - 1  # with the next line: a tree
    assert groups(corridor)[1, 1] == corridor
    assert cells(grid, "#") == set(itertools.product(range(width), range(height))) - corridor


@given(width=SIZES, height=SIZES, seed=SEEDS, loops=st.integers(1, 12))
def test_loops_open_walls_of_the_perfect_maze(width, height, seed, loops):
    perfect = cells(generate([fill(width, height), NO_LOOPS], stream(seed)), ".")
    opened = cells(generate([fill(width, height), Maze(maze=".", loops=loops)], stream(seed)), ".")
    between = {
        (x, y)
        for x, y in itertools.product(range(1, width - 1), range(1, height - 1))
        if (x, y) not in perfect and ({(x - 1, y), (x + 1, y)} <= perfect or {(x, y - 1), (x, y + 1)} <= perfect)
    }
    assert perfect <= opened <= perfect | between
    assert len(opened - perfect) == min(loops, len(between))
    assert groups(opened)[1, 1] == opened
    assert len(edges(opened)) - (len(opened) - 1) >= len(opened - perfect)  # every wall that goes adds a cycle


def test_walls_of_a_maze_are_what_the_corner_is():
    grid = generate([fill(7, 7, " ", "%"), NO_LOOPS], stream())
    assert {held for row in grid for held in row} == {"%", "."}
    assert cells(generate([fill(7, 7), NO_LOOPS], stream()), ".") == cells(grid, ".")
    corners = set()
    for seed in range(20):
        mixed = [fill(5, 5), Scatter(scatter="%", over="#", count=12)]
        corner = generate(mixed, stream(seed))[0][0]
        assert {held for row in generate([*mixed, NO_LOOPS], stream(seed)) for held in row} == {corner, "."}
        corners.add(corner)
    assert corners == {"#", "%"}


@given(width=SIZES, height=SIZES, seed=SEEDS, share=st.integers(0, 100))
def test_scattering_replaces_exactly_so_many(width, height, seed, share):
    room = (width - 2) * (height - 2)
    count = room * share // 100
    grid = generate([fill(width, height, ".", "#"), Scatter(scatter="!", over=".", count=count)], stream(seed))
    assert len(cells(grid, "!")) == count
    assert len(cells(grid, ".")) == room - count
    assert len(cells(grid, "#")) == width * height - room


@given(width=SIZES, height=SIZES, seed=SEEDS)
def test_placing_replaces_one_of_the_cells_it_names(width, height, seed):
    maze = [fill(width, height), NO_LOOPS]
    corridor = cells(generate(maze, stream(seed)), ".")
    grid = generate([*maze, Place(place="S", over=".")], stream(seed))
    assert cells(grid, "S") <= corridor
    assert len(cells(grid, "S")) == 1
    assert cells(grid, ".") == corridor - cells(grid, "S")


FULL = [
    fill(9, 9),
    Maze(maze=".", loops=3),
    Place(place="S", over="."),
    Place(place="G", over="."),
    Scatter(scatter="!", over=".", count=5),
    Connect(connect=["S", "G"], blocked=["#", "!"]),
]
ROOM = [
    fill(6, 5, "."),
    Place(place="S", over="."),
    Place(place="G", over="."),
    Scatter(scatter="#", over=".", count=12),
    Connect(connect=["S", "G"], blocked=["#"]),
]


PINNED = [
    "###########",
    "#.#..!#..!#",
    "#.#.#.#S..#",
    "#!..#.!!..#",
    "##.######.#",
    "#.G.......#",
    "###########",
]


def test_a_pinned_map():
    """Every golden with a generated map depends on these draws."""
    grid = generate([fill(11, 7), *FULL[1:]], stream(7))
    assert ["".join(row) for row in grid] == PINNED


def test_a_map_that_is_not_connected_is_drawn_again_from_the_first_step():
    """Without its last step the same stream gives the attempts one by one; the first connected one is taken."""
    redrawn = 0
    for seed in range(30):
        attempts, attempt = stream(seed), []
        for count in itertools.count():
            attempt = generate(ROOM[:-1], attempts)
            (start,), (goal,) = cells(attempt, "S"), cells(attempt, "G")
            if goal in groups(cells(attempt, ".SG"))[start]:
                redrawn += count
                break
        drawn = stream(seed)
        assert generate(ROOM, drawn) == attempt
        assert drawn.position == attempts.position
    assert redrawn


@given(seed=SEEDS)
def test_all_cells_that_hold_the_two_characters_are_joined(seed):
    steps = [*ROOM[:1], *[Place(place=place, over=".") for place in "SSGG"], *ROOM[3:]]
    grid = generate(steps, stream(seed))
    ends = cells(grid, "SG")
    assert len(ends) == 4
    assert ends <= groups(cells(grid, ".SG"))[next(iter(ends))]


class Counted(Stream):
    """A stream that counts the choices taken from it."""

    def __init__(self, key):
        super().__init__(key)
        self.choices = 0

    def choice(self, items):
        self.choices += 1
        return super().choice(items)


PLACED = [fill(4, 4, "."), Place(place="S", over=".")]
HOPELESS = {
    "the other character is nowhere": [*PLACED, Connect(connect=["S", "G"], blocked=[])],
    "the first character is nowhere": [*PLACED, Connect(connect=["G", "S"], blocked=[])],
    "every way is blocked": [
        *PLACED,
        *ROOM[2:3],
        Scatter(scatter="#", over=".", count=14),
        Connect(connect=["S", "G"], blocked=["#", "G"]),
    ],
}


@pytest.mark.parametrize("steps", HOPELESS.values(), ids=HOPELESS)
def test_what_cannot_be_connected_is_given_up(steps):
    drawn = Counted(stream().key)
    with pytest.raises(MapError, match=f"none of {ATTEMPTS} drawn maps"):
        generate(steps, drawn)
    assert drawn.choices == ATTEMPTS * sum(isinstance(step, Place) for step in steps)


IMPOSSIBLE = {
    "no steps": ([], "first generator step is `fill`"),
    "a maze of nothing": ([NO_LOOPS], "first generator step is `fill`"),
    "nothing scattered over nothing": ([Scatter(scatter="a", over="b", count=0)], "first generator step is `fill`"),
    "a place in nothing": ([Place(place="S", over=".")], "first generator step is `fill`"),
    "nothing connected": ([Connect(connect=["S", "G"], blocked=[])], "first generator step is `fill`"),
    "a maze of its own walls": ([fill(9, 9, "."), NO_LOOPS], "cannot be told from its walls"),
    "a maze of its own rim": ([fill(9, 9, "#", "."), NO_LOOPS], "cannot be told from its walls"),
    "no cell to place on": ([fill(3, 3), Place(place="S", over=".")], "no room to place 'S'"),
    "no cell left to place on": (
        [fill(3, 3), Scatter(scatter="!", over="#", count=9), Place(place="S", over="#")],
        "no room to place 'S'",
    ),
    "one cell too few": (
        [fill(3, 3), Scatter(scatter="!", over="#", count=10)],
        "no room to scatter 10 of '!': 9 cells",
    ),
    "far too few cells": ([fill(3, 3), Scatter(scatter="!", over="#", count=65536)], "no room to scatter 65536"),
}


@pytest.mark.parametrize(("steps", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_made_is_refused(steps, message):
    with pytest.raises(MapError, match=message):
        generate(steps, stream())


STEPS = st.lists(
    st.one_of(
        st.builds(fill, st.integers(3, 5), st.integers(3, 5), st.sampled_from(".#"), st.sampled_from([None, "#"])),
        st.builds(Maze, maze=st.sampled_from(".#"), loops=st.integers(0, 3)),
        st.builds(Scatter, scatter=st.sampled_from(".#!"), over=st.sampled_from(".#!"), count=st.integers(0, 6)),
        st.builds(Place, place=st.sampled_from("SG"), over=st.sampled_from(".#!")),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.medium
@given(steps=STEPS, seed=SEEDS)
def test_any_steps_make_a_rectangle_or_a_map_error(steps, seed):
    try:
        grid = generate(steps, stream(seed))
    except MapError:
        return
    last = [step for step in steps if isinstance(step, Fill)][-1]
    assert [len(row) for row in grid] == [last.width] * last.height


def test_a_drawing_without_room_is_drawn_again():
    """Where the first thing lands decides whether the second has room beside it."""
    steps = [fill(3, 3, "."), Place(place="S", over="."), Place(place="G", over=".", of="S", beyond=3)]
    drawn = {"".join("".join(row) for row in generate(steps, stream(seed))) for seed in range(60)}
    assert drawn == {"S.......G", "G.......S", "..S...G..", "..G...S.."}
