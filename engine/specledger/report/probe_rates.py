"""The tables of probes: each probe, its failure rate for each agent with the interval, and the share of equal nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specledger.report.agent_metrics import RunMetrics, total
from specledger.report.figures import share
from specledger.report.sections import NOTHING, UNTESTED, Bar, Cell, Count, Joined, Quoted, Row, Section, Words

_HEADS = ("agent and probe", "episodes", "failed in", "95 % (Wilson)", "by answers alone", "causes")
_INTRO = (
    "Compare the rates of agents whose kind is known: the rate for an agent with true reasons is the probe's rate of "
    "false alarms, the rate for one with invented reasons is its rate of detection. Intervals assume independent "
    "episodes."
)


def probe_sections(agents: Mapping[str, Sequence[RunMetrics]], probes: Sequence[Row] = ()) -> Iterator[Section]:
    """The probes, and their rates by agent.

    Args:
        agents: The accounts of the runs of each agent.
        probes: A row for each probe of a single run.
    """
    yield Section("probes", "Probes", "", ("probe", "requirement", "made at", "times"), probes)
    rates = [row for agent, accounts in agents.items() for row in _rates(agent, accounts)]
    yield Section("calibration", "Probes by agent", _INTRO, _HEADS, rates)


def _rates(agent: str, accounts: Sequence[RunMetrics]) -> Iterator[Row]:
    found = total([episode for account in accounts for episode in account.episodes])
    for name, counts in found["probes"].items():
        failed = counts["failed"]
        mark = UNTESTED if not counts["verdicts"] else ""
        details: list[tuple[str, Cell]] = [(verdict, Count(times)) for verdict, times in counts["verdicts"].items()]
        details += [("not made in", Words(f"{counts['not_made']} episodes"))] if counts["not_made"] else []
        cells = (Count(failed["of"]), _rate(failed), _interval(failed), _answers(counts), _causes(counts["causes"]))
        yield Row(f"{agent}: {name}", mark, cells, details)
    nodes = found["replay_fidelity"]
    if nodes["nodes"]:
        cell = Words(f"{nodes['equal']} of {nodes['nodes']} nodes, {share(nodes['share'])}")
        yield Row(f"{agent}: traces computed again", "", (Count(found["episodes"]), cell, *[NOTHING] * 3))


def _rate(failed: Mapping[str, Any]) -> Cell:
    if failed["value"] is None:
        return Words("none")
    return Joined((Bar(failed["count"], failed["of"]), Words(f"{failed['count']} ({share(failed['value'])})")))


def _interval(failed: Mapping[str, Any]) -> Cell:
    if failed["wilson"] is None:
        return NOTHING
    return Words(f"{share(failed['wilson']['low'])} to {share(failed['wilson']['high'])}")


def _answers(counts: Mapping[str, Any]) -> Cell:
    return _rate(counts["answers_failed"]) if "answers_failed" in counts else NOTHING


def _causes(causes: Mapping[str, int]) -> Cell:
    return Joined([Joined((Quoted(name), Words(f"({times})"))) for name, times in causes.items()], listed=True)
