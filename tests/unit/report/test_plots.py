"""Plots: what they show, their text alternatives, and the table behind each."""

import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.report.formats.html.plots import WIDTH, Scale, draw, render_plots
from specledger.report.plots import (
    MOST_ROWS,
    Counted,
    Counts,
    Line,
    Lines,
    Matrix,
    Rate,
    Rates,
    figure_rates,
    side_by_side,
)
from specledger.report.step_series import MOST_EPISODES, StepSeries
from tests.unit.report.rendering import report_of, subject_of, text_of

HOSTILE = "</svg><script>alert(1)</script>"
PLOTS: dict[str, Any] = {
    "rates": Rates(
        "Rates",
        "d",
        [("p5", [Rate("honest", 0, 0, 113_000, "0 of 30"), Rate(HOSTILE, 10**6, 887_000, 10**6, "30 of 30")])],
    ),
    "matrix": Matrix("Matrix", "d", ["honest", HOSTILE], ["a", "b"], [[0, None], [500_000, 10**6]]),
    "a line": Lines("budget", "d", [Line("budget", [3_000_000, None])], 1_000_000, [(1, HOSTILE)]),
    "lines with bands": Lines("two", "d", [Line("a", [1, 5], [0, 2], [3, 9]), Line(HOSTILE, [2, 2])], first=-1),
    "a constant": Lines("c", "d", [Line("c", [5, 5])]),
    "nothing known": Lines("n", "d", [Line("n", [None, None])]),
    "counts": Counts("Counts", "d", [("", [Counted(HOSTILE, 7), Counted("wall", 2)])]),
}


def svg_of(plot) -> Any:
    """The drawing of a plot."""
    return ElementTree.fromstring(render_plots([plot])).find(".//svg")


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_a_plot_has_a_title_a_description_and_its_numbers_in_a_table(plot):
    root = ElementTree.fromstring(render_plots([plot]))
    (svg,) = root.iter("svg")
    title, description = svg.findall("title")[0], svg.findall("desc")[0]
    assert (title.text, description.text, svg.get("role")) == (plot.title, "d", "img")
    assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    (table,) = root.iter("table")
    assert len(table.findall("tbody/tr")) == 2
    assert not [*root.iter("script")]


def test_a_matrix_shows_its_numbers_and_leaves_what_was_not_made_empty():
    svg = svg_of(PLOTS["matrix"])
    assert [each.get("class") for each in svg.iter("rect")] == ["heat h0", "heat hnone", "heat h5", "heat h10"]
    assert [each.text for each in svg.iter("text") if "cell" in each.get("class")] == ["0", "50", "100"]


def test_intervals_lie_in_the_order_of_their_ends():
    svg = svg_of(PLOTS["rates"])
    ends = [
        [*map(int, re.findall(r"[ML](\d+) ", each.get("d")))]
        for each in svg.iter("path")
        if each.get("class") == "interval"
    ]
    points = [int(each.get("cx")) for each in svg.iter("circle")]
    assert all(low <= at <= high for (low, high), at in zip(ends, points, strict=True))
    assert points[0] < points[1]


def test_a_long_plot_says_how_many_rows_are_in_its_table():
    rates = [Rate(f"r{number}", 0, 0, 1, "0 of 1") for number in range(MOST_ROWS + 3)]
    text = render_plots([Rates("Rates", "d", [("", rates)])])
    assert "and 3 more in the table" in text
    assert text.count("<circle") == MOST_ROWS


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9), st.integers(2, 9))
def test_ticks_are_few_round_and_inside_their_scale(low, span, most):
    scale = Scale(low, low + span, 0, 100)
    ticks = scale.ticks(most)
    assert len(ticks) <= most
    assert str(ticks.step).rstrip("0") in ("1", "2", "5")
    assert all(0 <= scale.at(tick) <= 100 for tick in ticks)
    wide = scale.widened(most)
    assert wide.low <= low <= low + span <= wide.high
    assert wide.low % ticks.step == wide.high % ticks.step == 0


def steps(series, episode, values, drifts=()):
    """Add an episode whose potential has these values, with drifts before some steps."""
    for t, value in enumerate(values):
        if t in drifts:
            series.add("drift", {"episode": episode, "drift": "shift"})
        series.add("step", {"episode": episode, "record": {"b": 30 - t}, "potentials": {"W": {"from": 9, "to": value}}})
    series.add("episode_end", {"episode": episode})


def test_figures_of_one_episode_have_gaps_and_drifts():
    series = StepSeries({"budget": ("b", 10)})
    for t, record in enumerate(({"b": 30}, None, {"b": 10})):
        series.add("step", {"episode": 0, "record": record, "potentials": {"W": {"from": 9, "to": t}}})
    series.add("drift", {"episode": 0, "drift": "shift"})
    budget, potential = series.plots()
    assert budget.lines == [Line("budget", [30, None, 10])]
    assert (budget.title, budget.unit, budget.marks) == ("budget", 10, [(3, "shift")])
    assert (potential.title, potential.lines[0].values) == ("potential W", [0, 1, 2])


def test_figures_of_several_episodes_are_their_median_and_band():
    series = StepSeries({})
    for episode, values in enumerate(([1, 9], [5, 2, 7], [3, 4])):
        steps(series, episode, values, drifts=(1,) if episode else ())
    plot = series.plots()[0]
    assert plot.lines == [Line("3 episodes", [3, 4, 7], [1, 2, 7], [5, 9, 7])]
    assert plot.marks == [(1, "shift")]


def test_more_episodes_than_are_drawn_are_counted():
    series = StepSeries({})
    for episode in range(MOST_EPISODES + 2):
        steps(series, episode, [1, 2])
    assert "2 more episodes are not drawn" in series.plots()[0].description


def test_recovery_begins_at_each_drift_and_ends_at_the_next_one():
    series = StepSeries({"budget": ("b", 1)})
    steps(series, 0, [2, 0, 6, 4, 0, 8, 3], drifts=(2, 5))
    steps(series, 1, [1, 1, 9, 8, 7])
    (plot,) = series.recoveries()  # the budget only falls, so it does not recover
    (line,) = plot.lines
    assert (plot.title, plot.first, plot.marks, line.name) == ("Recovery: potential W", -4, [(0, "drift")], "2 drifts")
    assert line.values == [2, 0, 6, 2, 0, 6, 3, 0]
    assert (line.low[5:], line.high[5:]) == ([6, 3, 0], [8, 4, 0])


def test_plots_of_several_bundles_are_side_by_side():
    one: Any
    other: Any
    rates: Any
    one, other = (
        [
            Lines("W", "d", [Line("W", [number])], marks=[(number, "shift")]),
            Counts("Rejections", "d", [("", [Counted("wall", number)])]),
            Rates("Rates", "d", [("", [Rate("reached", number, 0, 10, "1 of 2")])]),
            *([Matrix("M", "d", ["a"], ["b"], [[number]])] if number == 1 else []),
        ]
        for number in (1, 2)
    )
    lines, counts, rates, matrix = side_by_side([("first", one), ("second", other)])
    assert lines == Lines("W", "d", [Line("first", [1]), Line("second", [2])], marks=[(1, "shift"), (2, "shift")])
    assert counts == Counts("Rejections", "d", [("wall", [Counted("first", 1), Counted("second", 2)])])
    assert [(name, [rate.name for rate in group]) for name, group in rates.groups] == [("reached", ["first", "second"])]
    assert matrix == one[-1]


@pytest.mark.medium
def test_pages_of_runs_and_suites_have_their_plots(trap, heights, read):
    run = [plot.title for plot in subject_of(trap).reading.plots()]
    over_steps = ["budget", "distance", "potential W", "potential known"]
    assert run == [*over_steps, "Recovery: distance", "Recovery: potential W", "Rejections by gate"]
    rates: Any
    (rates,) = figure_rates(subject_of(heights).reading.figures, {"arrives": "how often the top is reached"})
    assert [name for name, _ in rates.groups] == ["how often the top is reached", ""]
    figures = [
        each["body"] for each in read(heights) if each["type"] == "figure" and each["body"]["statistic"] == "rate"
    ]
    assert [rate.name for _, group in rates.groups for rate in group] == [one["figure"] for one in figures]
    for place in (trap, heights):
        page = text_of("html", report_of(place))
        plots = subject_of(place).reading.plots()
        assert page.count('class="plot"') == len(plots) > 0
        assert page.index('href="#plots"') < page.index('id="plots"')


@pytest.mark.parametrize("columns", [1, 4, 7, 10])
def test_the_numbers_and_headings_of_a_matrix_fit(columns):
    names = [f"p{at}-predictions" for at in range(columns)]
    plot = Matrix("m", "", ["consistent-narrator", "honest"], names, [[1_000_000] * columns, [0] * columns])
    drawn, _ = draw(plot)
    wide = int(str(next(one for one in drawn if one.startswith("<rect"))).partition('width="')[2].partition('"')[0])
    tight = any("tight" in one for one in drawn)
    assert len("100") * (6 if tight else 8) <= wide + 2
    for one in drawn:
        if "rotate(" in one:
            x, angle = map(int, re.findall(r"translate\(([0-9]+) .*rotate\(-([0-9]+)\)", one)[0])
            assert x + len("p0-predictions") * 6.5 * math.cos(math.radians(angle)) <= WIDTH + 6


@pytest.mark.parametrize("plot", [Rates, Counts], ids=["rates", "counts"])
def test_a_long_heading_of_a_group_ends_within_the_plot(plot):
    row = Rate("a", 0, 0, 1, "0 of 1") if plot is Rates else Counted("a", 1)
    shown = str(draw(plot("t", "d", [("abcdefgh " * 12, [row])])))
    heading = next(word for word in re.findall(r"abcdefgh[^\n]*?\u2026", shown))
    assert len(heading) * 8 <= WIDTH
