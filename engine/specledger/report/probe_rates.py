"""The tables of probes: each probe, its failure rate for each agent with the interval, and the share of equal nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specledger.core.statistics import ONE, wilson
from specledger.oracles.spending import SPENT
from specledger.report.agent_metrics import RunMetrics, total, totals
from specledger.report.figures import NOT_DECIDED, share
from specledger.report.held_claims import held_section
from specledger.report.sections import NOTHING, UNTESTED, Bar, Cell, Count, Joined, Quoted, Row, Section, Words
from specledger.spec.base import format_qfixed

Totals = Mapping[str, Any]

_HEADS = ("agent and probe", "decided in", "failed in", "95 % (Wilson)", "by answers alone", "causes")
_INTRO = (
    "Compare the rates of agents whose kind is known: the rate for an agent with true reasons is the probe's rate of "
    "false alarms, the rate for one with invented reasons is its rate of detection. Rates are over the episodes that "
    "the probe decided; intervals assume independent episodes."
)
_POWER = (
    "The probability 1 - (1 - e d)^n that at least one of n challenges notices, where the agent makes something up in "
    "the share e of its decisions, and a challenge of such a decision notices it with probability d. An inconclusive "
    "challenge is not counted. Cost is counted in questions: how often the agent was asked to choose."
)
_SHARES = (50_000, 100_000, 300_000)
_POWER_HEADS = ("agent and probe", "challenges", "questions", *(f"power at e d = {one // 10_000} %" for one in _SHARES))
_MOST_DECIDED = 2_000  # above, the power is 1 to six decimals
_COST = (
    "What it took to ask the agent, by the answers on the tape: messages with their bytes, and of a model calls, "
    "tokens, and their price where its spec states one."
)
_COST_HEADS = ("agent and run", "messages", "bytes sent", "bytes received", "calls", "tokens in", "tokens out", "cost")
_CONFIDENCE = (
    "How sure the agent said that it was of its claims, and how many of them came true when they were challenged. The "
    "Brier score is the mean of (confidence - outcome)²: 0 is best, a constant confidence of one half gets 0.25."
)
_CONFIDENCE_HEADS = ("agent and probe", "confidence", "mean", "came true", "95 % (Wilson)", "Brier score")


def probe_sections(agents: Mapping[str, Sequence[RunMetrics]], probes: Sequence[Row] = ()) -> Iterator[Section]:
    """The probes of a single run, a row for each, and the rates of all probes by agent."""
    yield Section("probes", "Probes", "", ("probe", "requirement", "made at", "times"), probes)
    by_agent = totals(agents)
    rates = [row for agent, sums in by_agent.items() for row in _rates(agent, sums)]
    yield Section("calibration", "Probes by agent", _INTRO, _HEADS, rates)
    yield held_section(by_agent)
    yield Section("power", "Power of the challenges", _POWER, _POWER_HEADS, list(_powers(by_agent)))
    yield Section("cost", "Cost of the questions", _COST, _COST_HEADS, list(_costs(agents)))
    yield Section("stated-confidence", "Stated confidence", _CONFIDENCE, _CONFIDENCE_HEADS, list(_stated(by_agent)))


def power(share_: int, decided: int) -> int:
    """The probability 1 - (1 - share)^n, in millionths, that at least one of so many challenges notices."""
    whole, missed = pow(ONE, decided), pow(ONE - share_, decided)
    return int((whole - missed) * ONE // whole)


def _powers(by_agent: Mapping[str, Totals]) -> Iterator[Row]:
    for agent, sums in by_agent.items():
        for name, counts in sums["probes"].items():
            if "answers_failed" in counts:
                decided = counts["verdicts"].get("PASS", 0) + counts["verdicts"].get("FAIL", 0)
                powers = [Words(share(power(noticed, min(decided, _MOST_DECIDED)))) for noticed in _SHARES]
                yield Row(f"{agent}: {name}", "", (Count(decided), Count(counts["questions"]), *powers))


def _costs(agents: Mapping[str, Sequence[RunMetrics]]) -> Iterator[Row]:
    for agent, accounts in agents.items():
        for account in accounts:
            spent = total(account.episodes).get("spent")
            if spent is not None:
                cells: list[Cell] = [Count(spent[name]) if name in spent else NOTHING for name in SPENT[:-1]]
                money = Words(format_qfixed(spent["cost"])) if "cost" in spent else NOTHING
                yield Row(f"{agent}: {account.run}", "", (*cells, money))


def _stated(by_agent: Mapping[str, Totals]) -> Iterator[Row]:
    for agent, sums in by_agent.items():
        for name, counts in sums["probes"].items():
            stated = counts.get("calibration")
            for tenth in () if stated is None else stated["bins"]:
                low, high = wilson(tenth["held"], tenth["claims"])
                cells = (
                    Words(f"{share(tenth['from'])} to {share(tenth['from'] + ONE // 10)}"),
                    Words(share(tenth["confidence"])),
                    Joined((Bar(tenth["held"], tenth["claims"]), Words(f"{tenth['held']} of {tenth['claims']}"))),
                    Words(f"{share(low)} to {share(high)}"),
                    Words(f"{stated['brier'] / ONE:.3f}"),
                )
                yield Row(f"{agent}: {name}", "", cells)


def _rates(agent: str, sums: Totals) -> Iterator[Row]:
    for name, counts in sums["probes"].items():
        failed = counts["failed"]
        mark = UNTESTED if not counts["verdicts"] else ""
        details: list[tuple[str, Cell]] = [(verdict, Count(times)) for verdict, times in counts["verdicts"].items()]
        details += [("not decided in", Words(f"{counts['undecided']} episodes"))] if counts["undecided"] else []
        details += [("not made in", Words(f"{counts['not_made']} episodes"))] if counts["not_made"] else []
        ends = failed["wilson"]
        interval = NOTHING if ends is None else Words(f"{share(ends['low'])} to {share(ends['high'])}")
        answers = _rate(counts["answers_failed"]) if "answers_failed" in counts else NOTHING
        shown = _rate(failed) if counts["verdicts"] else NOTHING
        cells = (Count(failed["of"]), shown, interval, answers, _causes(counts))
        yield Row(f"{agent}: {name}", mark, cells, details)
    nodes = sums["replay_fidelity"]
    if nodes["nodes"]:
        cell = Words(f"{nodes['equal']} of {nodes['nodes']} nodes, {share(nodes['share'])}")
        yield Row(f"{agent}: traces computed again", "", (Count(sums["episodes"]), cell, *[NOTHING] * 3))


def _rate(failed: Mapping[str, Any]) -> Cell:
    if failed["value"] is None:
        return Words(NOT_DECIDED)
    return Joined((Bar(failed["count"], failed["of"]), Words(f"{failed['count']} ({share(failed['value'])})")))


def _causes(counts: Mapping[str, Any]) -> Cell:
    causes = [Joined((Quoted(name), Words(f"({times})"))) for name, times in counts["causes"].items()]
    vague = [Words(f"claims that say nothing ({counts['vague']})")] if "vague" in counts else []
    return Joined([*causes, *vague], listed=True)
