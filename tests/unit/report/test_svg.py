"""The picture of an episode: what it shows is what the receipts say, and nothing in it acts or comes from outside."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from specledger.core.diagnostics import Rejected
from specledger.report.formats.svg.episode import Episode
from specledger.report.formats.svg.map import Clock, cell_size, draw_map
from specledger.report.step_series import StepSeries
from tests.unit.report.rendering import read as read_bundle
from tests.unit.report.rendering import report_of, text_of

DOCS = Path(__file__).resolve().parents[3] / "docs"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {
    "svg",
    "title",
    "desc",
    "style",
    "rect",
    "path",
    "circle",
    "text",
    "g",
    "defs",
    "use",
    "animate",
    "animateTransform",
}
SCRIPT = "<script>alert(1)</script>\u202e\x1b[31m]]>&amp;\"'"


def draw(place):
    return text_of("svg", report_of(place))


def found(root, element, class_):
    return [one for one in root.iter(SVG + element) if class_ in one.get("class", "").split()]


def places(root):
    """Where each moving token is at each value of its animation, in pixels."""
    for group in found(root, "g", "moving"):
        moves = group.find(f"{SVG}animateTransform")
        if moves is None:
            continue
        yield moves, [tuple(map(int, value.split())) for value in moves.get("values").split(";")]


@pytest.fixture(scope="module")
def evidence(trap):
    return read_bundle(trap)


@pytest.fixture(scope="module")
def picture(evidence):
    return text_of("svg", report_of(evidence))


@pytest.fixture
def draw_changed(evidence, monkeypatch):
    """Draw the episode after a change of what its receipts tell; their chain was checked before it."""

    def changed(change):
        bodies = list(evidence.bodies())
        change(lambda type_: [body for one, body in bodies if one == type_])
        monkeypatch.setattr(type(evidence), "bodies", lambda self: iter(bodies))
        return text_of("svg", report_of(evidence))

    return changed


@pytest.fixture(scope="module")
def root(picture):
    return ET.fromstring(picture)


@pytest.fixture(scope="module")
def bodies(trap, read):
    bodies = read(trap)
    return lambda type_: [one["body"] for one in bodies if one["type"] == type_]


def test_the_picture_of_the_documentation_is_the_one_that_is_drawn(picture):
    """Its command stands in docs/reports.md."""
    assert (DOCS / "episode.svg").read_bytes() == picture.encode()


def harmless(text):
    root = ET.fromstring(text)
    for element in root.iter():
        assert element.tag in {SVG + name for name in ELEMENTS}, element.tag
        assert not [name for name in element.attrib if name.lower().startswith("on")]
        assert element.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import|javascript:|data:", text)
    assert text.count("http") == 1  # the name space
    return root


def test_nothing_in_it_acts_or_comes_from_outside(picture):
    assert found(harmless(picture), "text", "title")[0].text == "concave, seed 1, episode 0"


# Hostile evidence


def test_text_in_receipts_stays_text(draw_changed):
    def change(bodies):
        bodies("start")[0]["scenario"] = SCRIPT
        bodies("drift")[0]["drift"] = SCRIPT
        bodies("episode_end")[0]["ended"] = SCRIPT
        for failing in bodies("step")[0]["decisions"]:
            for one in failing["rejected"]:
                one |= {"gate": SCRIPT, "reason": SCRIPT, "witness": {"w": SCRIPT}}

    text = draw_changed(change)
    root = harmless(text)
    assert "<script" not in text
    assert not set(text) & set("\u202e\x1b")
    assert found(root, "text", "title")[0].text.startswith("<script>alert(1)</script>\\u202e\\x1b[31m")


@pytest.mark.parametrize("value", [None, True, "1", [], {}, {"x": 1}, {"x": 0, "y": False}, {"x": "0", "y": 0}])
def test_a_value_of_another_type_is_a_finding(value, draw_changed):
    def change(bodies):
        bodies("step")[5]["record"]["place"] = value

    with pytest.raises(Rejected, match="E_REPORT_RECEIPTS"):
        draw_changed(change)


@pytest.mark.parametrize("place", [-1, 2**53 - 1, 11, 11 * 256, {"x": -1, "y": 0}])
def test_a_place_outside_the_map_is_not_drawn(place, draw_changed):
    def change(bodies):
        bodies("step")[5]["record"]["place"] = place

    drawn = places(ET.fromstring(draw_changed(change)))
    [(_, shown)] = [one for one in drawn if one[0].get("calcMode") is None]
    assert [at for at in shown if min(at) < 0] == [shown[6]]


def test_many_steps_are_cut_with_a_note(evidence, monkeypatch):
    monkeypatch.setattr("specledger.report.formats.svg.episode.MOST_STEPS", 10)
    monkeypatch.setattr("specledger.report.formats.svg.MOST_STEPS", 10)
    text = text_of("svg", report_of(evidence))
    assert "Only the first 10 of 100 steps are drawn; the counts are of all." in text
    assert ">375<" in text
    [(_, shown)] = places(ET.fromstring(text))  # without a drift only the agent moves
    assert len(shown) == 11 + Clock(10).rest


@pytest.mark.parametrize(("columns", "rows", "width"), [(20, 2, 480 + 32), (2, 20, 400 + 32)])
def test_the_picture_is_as_wide_as_its_map(columns, rows, width, draw_changed):
    def change(bodies):
        bodies("episode")[0]["state"]["grid"] = [[0] * columns for _ in range(rows)]

    assert ET.fromstring(draw_changed(change)).get("width") == str(width)


def test_the_largest_map_is_drawn_in_bounds():
    cells = [[(x * 7 + y * 3 + x * y) % 4 for x in range(256)] for y in range(256)]
    episode = Episode({"cells": "grid", "tokens": []}, StepSeries({}), {}, {"grid": cells})
    drawn = draw_map(episode, {0: "m0", 1: "m1", 2: "m2"}, 0, 0)
    assert cell_size(episode) == 2
    assert len(drawn) < 1_200_000


@pytest.mark.parametrize("grid", [[], [[]], [[0] * 257], [[0]] * 257, [[None]], "x", [[[0]]]])
def test_a_map_that_is_none_is_a_finding(grid, draw_changed):
    def change(bodies):
        bodies("episode")[0]["state"]["grid"] = grid

    with pytest.raises(Rejected, match="E_REPORT_RECEIPTS"):
        draw_changed(change)


def test_a_drift_of_the_map_and_many_drifts_are_noted(draw_changed, monkeypatch):
    monkeypatch.setattr("specledger.report.formats.svg.MOST_ROWS", 1)

    def change(bodies):
        bodies("drift")[0]["changed"]["grid"] = {"from": [[0]], "to": [[1]]}

    text = draw_changed(change)
    assert "A drift changed the map, which is drawn as it was at the start." in text
    assert "Only the first 1 of 2 drifts are marked." in text


def test_where_nothing_was_chosen_everything_stays(draw_changed):
    def change(bodies):
        for step in bodies("step"):
            step["record"] = None

    root = ET.fromstring(draw_changed(change))
    [(_, shown)] = [one for one in places(root) if one[0].get("calcMode") is None]
    assert len(set(shown)) == 1
    assert not {"budget", "distance"} & {one.text for one in found(root, "text", "group")}


def test_an_episode_without_steps_does_not_move(evidence, monkeypatch):
    bodies = [one for one in evidence.bodies() if one[0] not in ("step", "drift")]
    monkeypatch.setattr(type(evidence), "bodies", lambda self: iter(bodies))
    root = ET.fromstring(text_of("svg", report_of(evidence)))
    assert not [one for one in root.iter() if one.tag.startswith(f"{SVG}animate")]
    assert root.findtext(f"{SVG}desc", "").startswith("0 steps")


# What is not drawn


def test_a_suite_is_not_drawn_but_its_runs_may_be(heights):
    with pytest.raises(Rejected) as rejected:
        draw(heights)
    [one] = rejected.value.diagnostics
    assert (one.code, one.hint) == ("E_REPORT_KIND", "draw one of its runs, such as runs/long.climb.3")
