"""Plots: what they show, their text alternatives, and the table behind each."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from specledger.report.formats.html.plots import render_plots
from specledger.report.plots import MOST_ROWS, Counts, EpisodeSeries, Matrix, Rate, Rates, Series, figure_rates
from tests.unit.report.rendering import report_of, subject_of, text_of

HOSTILE = "</svg><script>alert(1)</script>"
PLOTS: dict[str, Any] = {
    "rates": Rates(
        "Rates",
        "d",
        [("p5", [Rate("honest", 0, 0, 113_000, "0 of 30"), Rate(HOSTILE, 10**6, 887_000, 10**6, "30 of 30")])],
    ),
    "matrix": Matrix("Matrix", "d", ["honest", HOSTILE], ["a", "b"], [[0, None], [500_000, 10**6]]),
    "series": Series("budget", "d", [3_000_000, None, 1_000_000], 1_000_000, [(1, HOSTILE)]),
    "a constant": Series("c", "d", [5, 5]),
    "counts": Counts("Counts", "d", [(HOSTILE, 7), ("wall", 2)]),
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
    assert len(table.findall("tbody/tr")) == 2 + (plot is PLOTS["series"])
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


def test_series_are_of_the_first_episode_with_gaps_and_drifts():
    series = EpisodeSeries({"budget": ("b", 10)})
    for t, record in enumerate(({"b": 30}, None, {"b": 10})):
        series.add("step", {"episode": 0, "record": record, "potentials": {"W": {"from": 9, "to": t}}})
    series.add("drift", {"episode": 0, "drift": "shift"})
    series.add("step", {"episode": 1, "record": {"b": 99}, "potentials": {}})
    found: Any = series.plots()
    budget, potential = found
    assert (budget.title, budget.values, budget.unit, budget.marks) == ("budget", [30, None, 10], 10, [(3, "shift")])
    assert (potential.title, potential.values) == ("potential W", [0, 1, 2])


def test_pages_of_runs_and_suites_have_their_plots(trap, heights, read):
    run = [plot.title for plot in subject_of(trap).reading.plots()]
    assert run == ["budget", "distance", "potential W", "potential known", "Rejections by gate"]
    rates: Any
    (rates,) = figure_rates(subject_of(heights).figures)
    figures = [one["body"] for one in read(heights) if one["type"] == "figure" and one["body"]["statistic"] == "rate"]
    assert [rate.name for _, group in rates.groups for rate in group] == [one["figure"] for one in figures]
    for place in (trap, heights):
        page = text_of("html", report_of(place))
        plots = subject_of(place).reading.plots()
        assert page.count('class="plot"') == len(plots) > 0
        assert page.index('href="#plots"') < page.index('id="plots"')
