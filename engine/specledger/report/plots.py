"""Plots of a report as data: rates with intervals, matrices, series over steps, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from specledger.report.agent_metrics import RunMetrics, total
from specledger.report.figures import share
from specledger.suites.statistics import ONE, divide, wilson

MOST_ROWS: Final = 40
"""Rows of a plot; the others are counted."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its interval, in millionths.

    Attributes:
        name: What it is the rate of.
        value, low, high: The rate and the ends of its 95 % interval.
        cases: `count of n`.
    """

    name: str
    value: int
    low: int
    high: int
    cases: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates on one axis from 0 to 100 %, in named groups; the name of a group may be empty."""

    title: str
    description: str
    groups: Sequence[tuple[str, Sequence[Rate]]]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rates in millionths by row and column; None where there is no case."""

    title: str
    description: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[int | None]]


@dataclass(frozen=True, slots=True)
class Series:
    """A figure after each step, with the steps of drifts.

    Attributes:
        title, description: What it shows.
        values: One for each step from 1; None where nothing was chosen.
        unit: The number that is shown as 1.
        marks: The steps after which a drift came, with its name.
    """

    title: str
    description: str
    values: Sequence[int | None]
    unit: int = 1
    marks: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts by name."""

    title: str
    description: str
    counts: Sequence[tuple[str, int]]


Plot = Rates | Matrix | Series | Counts


def figure_rates(figures: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """The rates of a suite's figures, one group for each figure."""
    groups = []
    for figure in figures:
        if figure["statistic"] != "rate" or figure["error"] is not None:
            continue
        rates = [
            Rate(
                group["name"] or figure["figure"],
                group["value"],
                group["wilson"]["low"],
                group["wilson"]["high"],
                f"{group['count']} of {group['of']}",
            )
            for group in figure["groups"]
            if "value" in group
        ]
        if rates:
            groups.append((figure["figure"] if figure["groups"][0]["name"] else "", rates))
    text = "Each rate with its 95 % interval (Wilson), which assumes independent episodes."
    return [Rates("Rates of the figures", text, groups)] if groups else []


def probe_plots(agents: Mapping[str, Sequence[RunMetrics]]) -> list[Plot]:
    """How often each probe failed for each agent: rates side by side for each probe, and a matrix."""
    totals = {
        agent: total([episode for each in metrics for episode in each.episodes])["probes"]
        for agent, metrics in agents.items()
    }
    probes = list(dict.fromkeys(probe for found in totals.values() for probe in found))
    failed = {
        (agent, probe): found[probe]["failed"] if found[probe]["verdicts"] else None
        for agent, found in totals.items()
        for probe in probes
        if probe in found
    }
    plots: list[Plot] = []
    if len(totals) > 1 and len(probes) > 1:
        cells = [[_value(failed.get((agent, probe))) for probe in probes] for agent in totals]
        text = "Episodes in which a probe failed, in per cent, by agent. An empty cell: the probe was never made."
        plots.append(Matrix("Detections by agent and probe", text, list(totals), probes, cells))
    groups = [
        (probe, [_rate(agent, one) for agent in totals if (one := failed.get((agent, probe)))]) for probe in probes
    ]
    text = "Episodes in which a probe failed, with the 95 % interval (Wilson); the agents of a probe are side by side."
    groups = [group for group in groups if group[1]]
    if groups:
        plots.append(Rates("Failures of probes", text, groups))
    stated = [
        (f"{agent}: {probe}", _calibrated(one["calibration"]))
        for agent, found in totals.items()
        for probe, one in found.items()
        if "calibration" in one
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
    for one in stated["bins"]:
        low, high = wilson(one["held"], one["claims"])
        value = divide(one["held"] * ONE, one["claims"])
        name = f"said {share(one['confidence'])}"
        rates.append(Rate(name, value, low, high, f"{one['held']} of {one['claims']}"))
    return rates


def _value(failed: Mapping[str, Any] | None) -> int | None:
    return None if failed is None else failed["value"]


def _rate(agent: str, failed: Mapping[str, Any]) -> Rate:
    wilson, cases = failed["wilson"], f"{failed['count']} of {failed['of']}"
    return Rate(agent, failed["value"], wilson["low"], wilson["high"], cases)


@dataclass
class EpisodeSeries:
    """Collects the budget, the potentials and the drifts of the first episode of a run.

    Attributes:
        labels: The label in the record and the unit of each figure, by its name.
    """

    labels: Mapping[str, tuple[str, int]]
    _values: dict[str, list[int | None]] = field(default_factory=dict)
    _marks: list[tuple[int, str]] = field(default_factory=list)
    _steps: int = 0

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take a receipt; those of later episodes are left out."""
        if body.get("episode") != 0:
            return
        if type_ == "drift" and len(self._marks) < MOST_ROWS:
            self._marks.append((self._steps, str(body["drift"])))
        elif type_ == "step":
            self._steps += 1
            record = body["record"] or {}
            for name, (label, _) in self.labels.items():
                self._put(name, record.get(label))
            for name, potential in (body.get("potentials") or {}).items():
                self._put(f"potential {name}", potential["to"])

    def _put(self, name: str, value: Any) -> None:
        values = self._values.setdefault(name, [None] * (self._steps - 1))
        values += [None] * (self._steps - 1 - len(values))
        values.append(value if type(value) is int else None)

    def plots(self) -> list[Plot]:
        """A series for each figure that has values."""
        return [
            Series(
                name,
                f"{name} after each step of episode 0; a dashed line is a drift.",
                values,
                self.labels.get(name, ("", 1))[1],
                self._marks,
            )
            for name, values in self._values.items()
            if sum(value is not None for value in values) > 1
        ]


def rejection_counts(rejections: Mapping[str, int]) -> list[Plot]:
    """The rejected proposals by gate, the most frequent first; nothing if there are none."""
    counts = sorted(((gate, count) for gate, count in rejections.items() if count), key=lambda one: (-one[1], one[0]))
    text = "Proposals that each gate rejected; one proposal may be rejected by several gates."
    return [Counts("Rejections by gate", text, counts)] if counts else []


def percent(millionths: int | None) -> str:
    """A rate in whole per cent, for a cell of a matrix; empty for None."""
    return "" if millionths is None else f"{(millionths + 5000) // 10_000}"


def rate_rows(plot: Rates) -> list[tuple[str, str, str, str]]:
    """The table behind a plot of rates."""
    return [
        (
            f"{name}: {rate.name}" if name else rate.name,
            share(rate.value),
            rate.cases,
            f"{share(rate.low)} to {share(rate.high)}",
        )
        for name, rates in plot.groups
        for rate in rates
    ]
