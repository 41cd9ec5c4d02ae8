"""Universes: what they are refused for, and what the shipped ones measure and can do."""

from itertools import product

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.decision import decide
from specledger.wings.laws.generators import make_cases
from specledger.wings.laws.primitive import ArgumentError, measure_of, pattern_of
from specledger.wings.laws.transform import bind_call
from specledger.wings.laws.universe import check_universe

GOOD = """spec: universe/v1
name: small
alphabet: [a, b]
ring: {min: 3, max: 9}
transition: {number: 90}
observables:
  count: {args: {s: symbol}, window: [self], count: self == s}
generators:
  some: {make: sweep, weight: 1}
"""
COUNT = "count: {args: {s: symbol}, window: [self], count: self == s}"
BAD = {
    "a table with a missing entry": ("{number: 90}", "{table: {aaa: a, aab: b}}", "E_UNIVERSE_TABLE"),
    "a symbol outside the alphabet in a table": ("{number: 90}", "{table: {aaa: c}}", "E_UNIVERSE_SYMBOL"),
    "a symbol outside the alphabet in the rule": (
        "{number: 90}",
        "{next: \"left == 'c' ? left : right\"}",
        "E_UNIVERSE_SYMBOL",
    ),
    "a rule whose value is no symbol": ("{number: 90}", "{next: left + right}", "E_UNIVERSE_TABLE"),
    "a rule that reads what there is not": ("{number: 90}", "{next: above}", "E_EXPR_UNKNOWN_NAME"),
    "a neighbour beyond the radius": ("{number: 90}", "{next: left2}", "E_EXPR_UNKNOWN_NAME"),
    "a number for a radius of 2": ("transition:", "radius: 2\ntransition:", "E_UNIVERSE_TABLE"),
    "a window of another radius in a table": ("{number: 90}", "{table: {aaaaa: a}}", "E_UNIVERSE_TABLE"),
    "more than 65,536 windows": (
        "[a, b]\nring: {min: 3, max: 9}\ntransition: {number: 90}",
        "[a, b, c, d, e]\nring: {min: 3, max: 9}\nradius: 3\ntransition: {next: left3}",
        "E_UNIVERSE_WINDOWS",
    ),
    "a number for three symbols": ("[a, b]", "[a, b, c]", "E_UNIVERSE_TABLE"),
    "an observable with a reserved name": ("count: {args", "in: {args", "E_NAME_TAKEN"),
    "a repeated word with a foreign symbol": (
        "some: {make: sweep, weight: 1}",
        "some: {make: repeats, weight: 1, words: [ab, az]}",
        "E_UNIVERSE_SYMBOL",
    ),
    "a symbol twice": ("[a, b]", "[a, b, a]", "E_UNIVERSE_SYMBOL"),
    "nothing that is no symbol": ("ring:", "empty: z\nring:", "E_UNIVERSE_SYMBOL"),
    "a start with another symbol": ("ring:", "starts: {symbols: [a, z]}\nring:", "E_UNIVERSE_SYMBOL"),
    "starts without a choice": ("ring:", "starts: {symbols: [a]}\nring:", "E_UNIVERSE_GENERATOR"),
    "two cells of one name": ("window: [self]", "window: [self, self]", "E_UNIVERSE_OBSERVABLE"),
    "a window of cells that have other names": (COUNT, "n: {window: [a, b], count: 'true'}", "E_UNIVERSE_OBSERVABLE"),
    "a window of a neighbour and another name": ("window: [self]", "window: [self, next]", "E_UNIVERSE_OBSERVABLE"),
    "a window of a neighbour that is too far": ("window: [self]", "window: [self, left4]", "E_UNIVERSE_OBSERVABLE"),
    "a cell that is not in the window": (
        COUNT,
        "n: {window: [left, right], count: self == 'a'}",
        "E_EXPR_UNKNOWN_NAME",
    ),
    "a count that is no condition": ("count: self == s", "count: '3'", "E_EXPR_TYPE"),
    "a condition with an unknown symbol": ("count: self == s", "count: \"self == 'q'\"", "E_UNIVERSE_SYMBOL"),
    "a window without cells": (COUNT, "n: {window: '0', count: 'true'}", "E_UNIVERSE_OBSERVABLE"),
    "a window that cannot be measured": (COUNT, "n: {window: '1', count: \"w[3] == 'a'\"}", "E_UNIVERSE_OBSERVABLE"),
    "an argument that has a cell's name": (
        COUNT,
        "n: {args: {self: symbol}, window: [self], count: self == 'a'}",
        "E_UNIVERSE_OBSERVABLE",
    ),
    "a pattern of an unknown symbol": (COUNT, "n: {pattern: 'a?q'}", "E_UNIVERSE_SYMBOL"),
    "a pattern that is too long": (
        "[a, b]\nring: {min: 3, max: 9}\ntransition: {number: 90}\nobservables:\n"
        "  count: {args: {s: symbol}, window: [self], count: self == s}",
        "[a, b, c]\nring: {min: 3, max: 9}\ntransition: {next: left}\nobservables:\n  n: {pattern: aaaaaaaaaaa}",
        "E_UNIVERSE_OBSERVABLE",
    ),
    "a transform to no symbol": ("generators:", "transforms: {t: {map: {a: z}}}\ngenerators:", "E_UNIVERSE_SYMBOL"),
    "a default that is no argument": ("generators:", "transforms: {t: {default: {k: 1}}}\ngenerators:", "E_TRANSFORM"),
    "images of no transform": (
        "{make: sweep, weight: 1}",
        "{make: images, weight: 1, transforms: [flip]}",
        "E_UNIVERSE_GENERATOR",
    ),
    "images of no call": ("{make: sweep, weight: 1}", "{make: images, weight: 1, transforms: ['f(']}", "E_TRANSFORM"),
    "no weights": ("weight: 1", "first: 3", "E_UNIVERSE_GENERATOR"),
    "an interaction that is no observable": ("ring:", "interaction: clashes\nring:", "E_UNIVERSE_GENERATOR"),
    "an interaction with arguments": ("ring:", "interaction: count\nring:", "E_UNIVERSE_GENERATOR"),
}


def checked(text, folder):
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    (bundle,) = load(path)
    found = Diagnostics()
    return check_universe(bundle.main, bundle, found), found.sorted()


@pytest.mark.parametrize(("old", "new", "code"), BAD.values(), ids=BAD)
def test_a_bad_universe_is_refused_where_it_is_bad(tmp_path, old, new, code):
    assert old in GOOD
    universe, found = checked(GOOD.replace(old, new), tmp_path)
    assert universe is None
    assert {code} <= {one.code for one in found} <= {code, "E_UNIVERSE_TABLE"}
    assert all(one.span is not None for one in found)


def test_the_radius_of_a_neighbour_is_the_hint(tmp_path):
    _, found = checked(GOOD.replace("{number: 90}", "{next: left3}"), tmp_path)
    assert [(one.code, one.hint) for one in found] == [("E_EXPR_UNKNOWN_NAME", "write `radius: 3`")]


def test_the_good_one_is_rule_90(tmp_path):
    universe, found = checked(GOOD, tmp_path)
    assert universe is not None
    assert found == ()
    assert [universe.rule.step(ring) for ring in [(1, 0, 0, 0), (1, 1, 0, 0)]] == [(0, 1, 0, 1), (1, 1, 1, 1)]
    assert universe.sizes == (3, 4, 6, 9)


@pytest.mark.parametrize(("radius", "cells"), [(1, "lcr"), (2, "LlcrR"), (3, "<LlcrR>")])
def test_a_rule_names_the_neighbours_within_its_radius(tmp_path, radius, cells):
    names = {"<": "left3", "L": "left2", "l": "left", "c": "self", "r": "right", "R": "right2", ">": "right3"}
    for place, name in enumerate(cells):
        rule = f"radius: {radius}\ntransition: {{next: {names[name]}}}"
        universe, found = checked(GOOD.replace("transition: {number: 90}", rule), tmp_path)
        assert universe is not None, found
        assert universe.rule.table == tuple(window[place] for window in product((0, 1), repeat=len(cells)))


WINDOWS = {
    "one cell": ("[self]", [0]),
    "the cells on both sides": ("[left, right]", [-1, 1]),
    "in another order": ("[right2, left]", [-1, 2]),
    "far apart": ("[left3, right3]", [-3, 3]),
    "on one side": ("[right, right3]", [1, 3]),
    "adjacent": ("[left2, left, self]", [-2, -1, 0]),
}


@pytest.mark.parametrize(("window", "offsets"), WINDOWS.values(), ids=WINDOWS)
def test_a_cell_of_a_window_is_where_its_name_says(tmp_path, window, offsets):
    names = dict(zip(range(-3, 4), ["left3", "left2", "left", "self", "right", "right2", "right3"], strict=True))
    ends = f"{names[offsets[0]]} == 'a' && {names[offsets[-1]]} == 'b' || {names[offsets[0]]} == {names[offsets[-1]]}"
    universe, found = checked(GOOD.replace(COUNT, f'n: {{window: {window}, count: "{ends}"}}'), tmp_path)
    assert universe is not None, found
    measure = universe.primitives["n"].bind(())
    for size in range(3, 8):
        for ring in product((0, 1), repeat=size):
            sides = [(ring[(cell + offsets[0]) % size], ring[(cell + offsets[-1]) % size]) for cell in range(size)]
            assert measure.total(ring) == sum(left <= right for left, right in sides)


def test_a_window_of_other_names_says_which_there_are(tmp_path):
    _, found = checked(GOOD.replace("window: [self]", "window: [self, next]"), tmp_path)
    (one,) = [one for one in found if one.code == "E_UNIVERSE_OBSERVABLE"]
    assert one.message == "`next` is not the name of a neighbouring cell"
    assert "left3, left2, left, self, right, right2, right3; `window: 2`" in one.hint


@pytest.mark.parametrize("radius", [0, 4, "2.5"])
def test_a_radius_is_1_2_or_3(tmp_path, radius):
    path = tmp_path / "small.yaml"
    path.write_text(GOOD.replace("ring:", f"radius: {radius}\nring:"), encoding="utf-8")
    with pytest.raises(Rejected) as refused:
        load(path)
    (one,) = refused.value.diagnostics
    assert str(one.span).endswith("small.yaml:4:9")


@pytest.mark.parametrize("alphabet", ["ab", "a?"])
def test_a_pattern_is_counted_at_each_of_its_places(alphabet):
    """`?` is any symbol, unless it is one itself; a pattern longer than a ring goes around it."""
    for pattern in ("a", "?", "a?a", "?a", "aa?a"):
        measure = pattern_of(pattern, alphabet)
        for size in range(1, 7):
            for ring in product((0, 1), repeat=size):
                shown = "".join(alphabet[cell] for cell in ring)
                places = [(shown * 5)[place : place + len(pattern)] for place in range(size)]
                fits = [
                    all(a == b or (a == "?" and alphabet == "ab") for a, b in zip(pattern, found, strict=True))
                    for found in places
                ]
                assert measure.total(ring) == sum(fits)


def test_a_universe_may_have_an_observable_that_is_called_pattern(tmp_path):
    universe, found = checked(GOOD.replace("  count: {", "  pattern: {"), tmp_path)
    assert universe is not None, found
    assert universe.measures["pattern"].args == {"s": "symbol"}


def test_capabilities_are_derived(kinetic):
    said = kinetic.capabilities()
    assert said["symbols"] == [".", ">", "<", "X"]
    assert {"count(symbol)", "grid_length", "incoming_collisions", "gap_pairs(symbol, symbol, int)"} <= set(
        said["primitive_observables"]
    )
    assert said["transforms"] == ["mirror_only", "mirror_swap", "shift_k(k)", "swap_only"]
    assert (said["grid_length_range"], said["boundary"], len(said["generator_families"])) == ([4, 200], "periodic", 7)


@pytest.mark.parametrize(
    ("state", "reason"), [(">..", "4 to 200"), ("." * 201, "4 to 200"), (">.?.", "'?'"), ("", "4 to 200")]
)
def test_a_state_with_another_symbol_or_length_is_refused(kinetic, state, reason):
    with pytest.raises(ArgumentError, match=r"cells|alphabet") as refused:
        kinetic.cells(state)
    assert reason in str(refused.value)


MEASURES = {
    "count": (("X",), ".X>X", 2),
    "grid_length": ((), ".X>X.", 5),
    "incoming_collisions": ((), ">.<.X", 1),
    "adjacent_pairs": ((">", "<"), "<..>", 1),
    "gap_pairs": ((">", "<", 2), "..<.>..", 0),
    "leftmost": (("X",), "..X.X", 2),
    "rightmost": (("X",), "..X.X", 4),
    "max_gap": ((".",), "..X...X.", 3),
    "spread": (("X",), ".X..X.", 3),
}


@pytest.mark.parametrize(
    ("name", "args", "state", "value"), [(name, *row) for name, row in MEASURES.items()], ids=MEASURES
)
def test_observables_of_the_kinetic_grid(kinetic, name, args, state, value):
    assert measure_of(kinetic.primitives[name].bind(args), kinetic.cells(state)) == value


TRANSFORMS = {
    "mirror_swap": ("<X..", "..X>"),
    "mirror_only": (">X..", "..X>"),
    "swap_only": (">X<.", "<X>."),
    "shift_k": (">X..", ".>X."),
    "shift_k(3)": (">X..", "X..>"),
    "shift_k( -1 )": (">X..", "X..>"),
}


@pytest.mark.parametrize(
    ("call", "before", "after"), [(call, *row) for call, row in TRANSFORMS.items()], ids=TRANSFORMS
)
def test_transforms_of_the_kinetic_grid(kinetic, call, before, after):
    image = bind_call(kinetic.transforms, call)
    assert image is not None
    assert kinetic.text(image.of(kinetic.cells(before))) == after


@pytest.mark.parametrize("call", ["shift_k(1, 2)", "mirror_swap(1)", "shift_k(x)", "", "a b"])
def test_a_call_that_means_nothing_is_refused(kinetic, call):
    with pytest.raises(ArgumentError):
        bind_call(kinetic.transforms, call)


@pytest.mark.parametrize("family", ["{make: sweep, weight: 1, words: [ab]}", "{make: repeats, weight: 1}"])
def test_words_and_the_family_that_repeats_them_go_together(family, tmp_path):
    (tmp_path / "small.yaml").write_text(GOOD.replace("{make: sweep, weight: 1}", family), encoding="utf-8")
    with pytest.raises(Rejected, match="go together") as rejected:
        load(tmp_path / "small.yaml")
    (finding,) = rejected.value.diagnostics
    assert (finding.code, str(finding.span).rpartition("small.yaml:")[2]) == ("E_SPEC_VALUE", "9:3")


def test_the_length_of_the_ring_is_read_in_a_universe_that_does_not_define_it(tmp_path):
    """By a claim as it is, by an observable, by a precondition; each holds of every ring."""
    (tmp_path / "small.yaml").write_text(GOOD, encoding="utf-8")
    law = """spec: law/v1
name: whole
universe: ./small.yaml
template: implication_state
claim: "Size(t) == grid_length(t) => A(t) <= grid_length(t)"
observables: [{name: Size, expr: grid_length}, {name: A, expr: "count('a')"}]
preconditions: ["grid_length >= 4"]
quantifiers: {T: 5}
forbidden: more cells than the ring has
"""
    (tmp_path / "whole.yaml").write_text(law, encoding="utf-8")
    compiled = compile_law(load(tmp_path / "whole.yaml")[0]).law
    assert "grid_length" not in compiled.universe.primitives
    assert decide(compiled, make_cases(compiled)).status == "PROVED"
