"""The table of probes: what each is, how often it failed each agent with the interval, and how much of a trace fitted.

Decides what a probe's calibration is: its rates for agents of which the reader knows what they are. Refuses to know
probes and agents by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specledger.report.agent_metrics import Account, total
from specledger.report.figures import share
from specledger.report.html.elements import NOTHING, Markup, bar, count, element, join, quoted, words
from specledger.report.html.rows import UNTESTED, Row, Section

_HEADS = ("agent and probe", "episodes", "failed in", "95 % (Wilson)", "by answers alone", "causes")
_INTRO = (
    "How often a probe fails an agent says something only beside agents of a known kind: its rate for one that gives "
    "true reasons is its rate of false alarms, its rate for one that makes them up is what it finds. Intervals take "
    "episodes as independent."
)


def probe_sections(agents: Mapping[str, Sequence[Account]], probes: Sequence[Row] = ()) -> Iterator[Section]:
    """The probes, and their rates by agent.

    Args:
        agents: The accounts of the runs of each agent.
        probes: A row for each probe of a single run.
    """
    yield Section("probes", "Probes", "", ("probe", "requirement", "made at", "times"), probes)
    rates = [row for agent, accounts in agents.items() for row in _rates(agent, accounts)]
    yield Section("calibration", "Probes by agent", _INTRO, _HEADS, rates)


def _rates(agent: str, accounts: Sequence[Account]) -> Iterator[Row]:
    found = total([episode for account in accounts for episode in account.episodes])
    for name, told in found["probes"].items():
        failed = told["failed"]
        mark = UNTESTED if not told["verdicts"] else ""
        details = [(verdict, count(times)) for verdict, times in told["verdicts"].items()]
        details += [("not made in", words(f"{told['not_made']} episodes"))] if told["not_made"] else []
        cells = (count(failed["of"]), _rate(failed), _interval(failed), _answers(told), _causes(told["causes"]))
        yield Row(f"{agent}: {name}", mark, cells, details)
    nodes = found["replay_fidelity"]
    if nodes["nodes"]:
        told = join(words(f"{nodes['equal']} of {nodes['nodes']} nodes, "), words(share(nodes["share"])))
        yield Row(f"{agent}: traces computed again", "", (count(found["episodes"]), told, *[NOTHING] * 3))


def _rate(failed: Mapping[str, Any]) -> Markup:
    if failed["value"] is None:
        return words("none")
    return join(bar(failed["count"], failed["of"]), words(f"{failed['count']} ({share(failed['value'])})"))


def _interval(failed: Mapping[str, Any]) -> Markup:
    if failed["wilson"] is None:
        return NOTHING
    return words(f"{share(failed['wilson']['low'])} to {share(failed['wilson']['high'])}")


def _answers(told: Mapping[str, Any]) -> Markup:
    return _rate(told["answers_failed"]) if "answers_failed" in told else NOTHING


def _causes(causes: Mapping[str, int]) -> Markup:
    return join(*(element("span", quoted(name), words(f" {times} ")) for name, times in causes.items()))
