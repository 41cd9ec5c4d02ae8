"""Plots of rates and counts: figures of a suite, probes by agent, confidence, rejections by gate, laws by iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from specledger.report.agent_metrics import RunMetrics, totals
from specledger.report.figures import share
from specledger.report.plots import Counted, Counts, Line, Lines, Matrix, Plot, Rate, Rates
from specledger.suites.statistics import ONE, divide, wilson


def figure_rates(figures: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """The rates of a suite's figures, one group for each figure."""
    groups = []
    for figure in figures:
        if figure["statistic"] != "rate" or figure["error"] is not None:
            continue
        known = (group for group in figure["groups"] if "value" in group)
        rates = [_rate(group["name"] or figure["figure"], group) for group in known]
        if rates:
            groups.append((figure["figure"] if figure["groups"][0]["name"] else "", rates))
    text = "Each rate with its 95 % interval (Wilson), which assumes independent episodes."
    return [Rates("Rates of the figures", text, groups)] if groups else []


def _rate(name: str, counts: Mapping[str, Any]) -> Rate:
    """A rate from its count, its number of cases, its value and its interval."""
    ends, cases = counts["wilson"], f"{counts['count']} of {counts['of']}"
    return Rate(name, counts["value"], ends["low"], ends["high"], cases)


def probe_plots(agents: Mapping[str, Sequence[RunMetrics]]) -> list[Plot]:
    """How often each probe failed for each agent: rates side by side for each probe, and a matrix."""
    sums = {agent: found["probes"] for agent, found in totals(agents).items()}
    probes = list(dict.fromkeys(probe for found in sums.values() for probe in found))
    failed = {
        (agent, probe): found[probe]["failed"]
        for agent, found in sums.items()
        for probe in probes
        if probe in found and found[probe]["verdicts"]
    }
    plots: list[Plot] = []
    if len(sums) > 1 and len(probes) > 1:
        cells = [
            [failed[agent, probe]["value"] if (agent, probe) in failed else None for probe in probes] for agent in sums
        ]
        text = "Episodes in which a probe failed, in per cent, by agent. An empty cell: the probe was never made."
        plots.append(Matrix("Detections by agent and probe, %", text, list(sums), probes, cells))
    groups = [
        (probe, [_rate(agent, failed[agent, probe]) for agent in sums if (agent, probe) in failed]) for probe in probes
    ]
    text = "Episodes in which a probe failed, with the 95 % interval (Wilson); the agents of a probe are side by side."
    groups = [group for group in groups if group[1]]
    if groups:
        plots.append(Rates("Failures of probes", text, groups))
    stated = [
        (f"{agent}: {probe}", _calibrated(one["calibration"]))
        for agent, found in sums.items()
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


def rejection_counts(rejections: Mapping[str, int]) -> list[Plot]:
    """The rejected proposals by gate, the most frequent first; nothing if there are none."""
    counts = sorted(((gate, count) for gate, count in rejections.items() if count), key=lambda one: (-one[1], one[0]))
    text = "Proposals that each gate rejected; one proposal may be rejected by several gates."
    return [Counts("Rejections by gate", text, [("", [Counted(*each) for each in counts])])] if counts else []


ACCEPTED_STATUSES: Final = ("PROVED", "PASS")
"""The statuses of a law that a discovery keeps."""


def timeline(iterations: int, laws: Sequence[tuple[int, str]], expected: Sequence[tuple[int, str]]) -> list[Plot]:
    """The plot of the laws of a discovery, by first iteration and last status; nothing without laws."""
    counts = {name: Counter[int]() for name in ("accepted", "refuted", "undecided")}
    for iteration, status in laws:
        name = "accepted" if status in ACCEPTED_STATUSES else "refuted" if status == "FAIL" else "undecided"
        counts[name][iteration] += 1
    lines = [
        Line(name, [*accumulate(found[at] for at in range(iterations))]) for name, found in counts.items() if found
    ]
    text = "Laws by the iteration that proposed them first, added up, with their last verdict."
    text += " A dashed line is an expected law." if expected else ""
    across, marked = "iteration", "expected law found"
    marks = sorted(expected)
    return [Lines("Discovery timeline", text, lines, 1, marks, 0, across, marked, "laws")] if lines else []
