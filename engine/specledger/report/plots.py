"""Plots of a report as data: rates with intervals, matrices, lines, and counts, each with the rows of its table.

The last functions make those of rates and counts: figures, probes by agent, confidence, rejections, laws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.statistics import ONE, divide, wilson
from specledger.report.agent_metrics import RunMetrics, totals
from specledger.report.figures import in_units, share

MOST_ROWS: Final = 40
"""Rows of a plot; the others are counted."""


class Rate(Struct, frozen=True):
    """A rate with its 95 % interval, in millionths; `cases` is `count of n`."""

    name: str
    value: int
    low: int
    high: int
    cases: str


class Rates(Struct, frozen=True):
    """Rates on one axis from 0 to 100 %, in named groups; the name of a group may be empty."""

    title: str
    description: str
    groups: Sequence[tuple[str, Sequence[Rate]]]


class Matrix(Struct, frozen=True):
    """Rates in millionths by row and column; None where there is no case."""

    title: str
    description: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[int | None]]
    row: str = "agent"


class Line(Struct, frozen=True):
    """A figure along an axis, None at places where there is none; `low` and `high` are the ends of a band, or empty."""

    name: str
    values: Sequence[int | None]
    low: Sequence[int | None] = ()
    high: Sequence[int | None] = ()


class Lines(Struct, frozen=True):
    """Lines over the same places, with marks.

    `unit` is the number that is shown as 1, `first` the place of the first value, `across` what the places count,
    `marked` what the marks are, and `upward` what the values count.
    """

    title: str
    description: str
    lines: Sequence[Line]
    unit: int = 1
    marks: Sequence[tuple[int, str]] = ()
    first: int = 1
    across: str = "step"
    marked: str = "drift after it"
    upward: str = ""


class Counted(Struct, frozen=True):
    """How often something was counted."""

    name: str
    number: int


class Counts(Struct, frozen=True):
    """Counts by name, in named groups; the name of a group may be empty."""

    title: str
    description: str
    groups: Sequence[tuple[str, Sequence[Counted]]]


Plot = Rates | Matrix | Lines | Counts


def percent(millionths: int | None) -> str:
    """A rate in whole per cent, for a cell of a matrix; empty for None."""
    return "" if millionths is None else f"{(millionths + 5000) // 10_000}"


def table_of(plot: Plot) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The heads and the rows of the table behind a plot."""
    match plot:
        case Rates():
            rates = [
                (
                    _grouped(group, entry.name),
                    share(entry.value),
                    entry.cases,
                    f"{share(entry.low)} to {share(entry.high)}",
                )
                for group, rates in plot.groups
                for entry in rates
            ]
            return ("rate", "value", "cases", "95 %"), rates
        case Matrix():
            rows = [(name, *map(percent, cells)) for name, cells in zip(plot.rows, plot.cells, strict=True)]
            return (plot.row, *plot.columns), rows
        case Lines():
            return _line_table(plot)
        case Counts():
            named = [(_grouped(group, entry.name), str(entry.number)) for group, rows in plot.groups for entry in rows]
            return ("name", "number"), named
    assert_never(plot)


def _grouped(group: str, name: str) -> str:
    return f"{group}: {name}" if group else name


def _line_table(plot: Lines) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    columns = [(name, values) for line in plot.lines for name, values in _columns(line)]
    marks: dict[int, str] = {}
    for position, name in plot.marks:
        marks[position] = f"{marks[position]}, {name}" if position in marks else name
    length = max(len(values) for _, values in columns)
    rows = []
    for index, position in enumerate(range(plot.first, plot.first + length)):
        cells = [None if index >= len(values) else values[index] for _, values in columns]
        shown = ["" if value is None else in_units(value, plot.unit) for value in cells]
        rows.append((str(position), *shown, *([marks.get(position, "")] if marks else [])))
    return (plot.across, *(name for name, _ in columns), *([plot.marked] if marks else [])), rows


def _columns(line: Line) -> Iterator[tuple[str, Sequence[int | None]]]:
    yield line.name, line.values
    if line.low:
        yield f"{line.name}, low", line.low
        yield f"{line.name}, high", line.high


def side_by_side(named: Sequence[tuple[str, Sequence[Plot]]]) -> list[Plot]:
    """The plots of several bundles, in which those with the same title are one, by the names of the bundles.

    Matrices stay apart: their numbers are already beside each other.
    """
    titles = dict.fromkeys(plot.title for _, plots in named for plot in plots)
    merged: list[Plot] = []
    for title in titles:
        same = [(name, plot) for name, plots in named for plot in plots if plot.title == title]
        merged += [same[0][1]] if len(same) == 1 else _together(same)
    return merged


def _together(same: Sequence[tuple[str, Plot]]) -> list[Plot]:
    first = same[0][1]
    match first:
        case Lines():
            drawn = [(name, plot) for name, plot in same if isinstance(plot, Lines) and plot.unit == first.unit]
            lines = [
                replace(line, name=name if line.name == plot.title else f"{name}: {line.name}")
                for name, plot in drawn
                for line in plot.lines
            ]
            marks = sorted(dict.fromkeys(chain.from_iterable(plot.marks for _, plot in drawn)))
            return [replace(first, lines=lines, marks=marks)]
        case Rates() | Counts():
            return [replace(first, groups=_rows_together(same))]
        case Matrix():
            return [replace(plot, title=f"{plot.title}, {name}") for name, plot in same if isinstance(plot, Matrix)]
    assert_never(first)


def _rows_together(same: Sequence[tuple[str, Plot]]) -> list[tuple[str, Sequence[Any]]]:
    """A group for each rate or count, with a row for each bundle that has it."""
    groups: dict[str, list[Rate | Counted]] = {}
    for bundle, plot in same:
        for group, rows in plot.groups if isinstance(plot, Rates | Counts) else ():
            for row in rows:
                groups.setdefault(_grouped(group, row.name), []).append(replace(row, name=bundle))
    return [*groups.items()]


def figure_rates(
    figures: Sequence[Mapping[str, Any]], titles: Mapping[str, str], cases: str = "episodes"
) -> list[Plot]:
    """The rates of a suite's figures, one group for each figure, under what the figure is."""
    groups = []
    for figure in figures:
        if figure["statistic"] != "rate" or figure["error"] is not None:
            continue
        known = (group for group in figure["groups"] if "value" in group)
        rates = [_rate(group["name"] or figure["figure"], group) for group in known]
        if rates:
            groups.append((_heading(figure["figure"], titles, bool(figure["groups"][0]["name"])), rates))
    text = f"Each rate with its 95 % interval (Wilson), which assumes independent {cases}."
    return [Rates("Rates of the figures", text, groups)] if groups else []


def _heading(name: str, titles: Mapping[str, str], grouped: bool) -> str:
    """What a figure is, with its name where the rows below have names of their own."""
    title = titles.get(name, "").replace("`", "")
    title = "" if "(" in title else title  # an expression is no title
    return f"{name}: {title}" if grouped and title else title or (name if grouped else "")


def _rate(name: str, counts: Mapping[str, Any]) -> Rate:
    """A rate from its count, its number of cases, its value and its interval."""
    ends, cases = counts["wilson"], f"{counts['count']} of {counts['of']}"
    return Rate(name, counts["value"], ends["low"], ends["high"], cases)


def probe_plots(agents: Mapping[str, Sequence[RunMetrics]]) -> list[Plot]:
    """How often each probe failed for each agent: rates side by side for each probe, and a matrix."""
    sums = {agent: probe_sums["probes"] for agent, probe_sums in totals(agents).items()}
    probes = list(dict.fromkeys(probe for probe_sums in sums.values() for probe in probe_sums))
    failed = {
        (agent, probe): probe_sums[probe]["failed"]
        for agent, probe_sums in sums.items()
        for probe in probes
        if probe in probe_sums and probe_sums[probe]["failed"]["of"]
    }
    plots: list[Plot] = []
    if len(sums) > 1 and len(probes) > 1:
        cells = [
            [failed[agent, probe]["value"] if (agent, probe) in failed else None for probe in probes] for agent in sums
        ]
        text = "Episodes in which a probe failed, in per cent, by agent. An empty cell: the probe decided nothing."
        plots.append(Matrix("Detections by agent and probe, %", text, list(sums), probes, cells))
    groups = [
        (probe, [_rate(agent, failed[agent, probe]) for agent in sums if (agent, probe) in failed]) for probe in probes
    ]
    text = "Episodes in which a probe failed, with the 95 % interval (Wilson); the agents of a probe are side by side."
    groups = [group for group in groups if group[1]]
    if groups:
        plots.append(Rates("Failures of probes", text, groups))
    stated = [
        (f"{agent}: {probe}", _calibrated(counts["calibration"]))
        for agent, probe_sums in sums.items()
        for probe, counts in probe_sums.items()
        if "calibration" in counts
    ]
    if stated:
        plots.append(Rates("Stated confidence", _CALIBRATION, stated))
    return plots


_CALIBRATION: Final = (
    "Claims that came true, by how sure the agent said that it was, with the 95 % interval (Wilson). An agent is well "
    "calibrated if each rate is near its confidence."
)


def _calibrated(stated: Mapping[str, Any]) -> list[Rate]:
    """The share of claims that came true, for each tenth of confidence."""
    rates = []
    for tenth in stated["bins"]:
        low, high = wilson(tenth["held"], tenth["claims"])
        value = divide(tenth["held"] * ONE, tenth["claims"])
        name = f"said {share(tenth['confidence'])}"
        rates.append(Rate(name, value, low, high, f"{tenth['held']} of {tenth['claims']}"))
    return rates


def rejection_counts(rejections: Mapping[str, int]) -> list[Plot]:
    """The rejected proposals by gate, the most frequent first; nothing if there are none."""
    counts = sorted(
        ((gate, count) for gate, count in rejections.items() if count), key=lambda entry_: (-entry_[1], entry_[0])
    )
    text = "Proposals that each gate rejected; one proposal may be rejected by several gates."
    return [Counts("Rejections by gate", text, [("", [Counted(*entry) for entry in counts])])] if counts else []
