"""The tables of probes: each probe, its failure rate for each agent with the interval, and the share of equal nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specledger.core.statistics import ONE, wilson
from specledger.report.figures import NOT_DECIDED, share
from specledger.report.held_claims import NO_PROOF
from specledger.report.sections import NEVER_MADE, NOTHING, Bar, Cell, Count, Joined, Quoted, Row, Section, Words

Totals = Mapping[str, Any]

_HEADS = ("agent and probe", "decided in", "failed in", "95 % (Wilson)", "by answers alone", "causes")
_INTRO = (
    "Compare the rates of agents whose kind is known: the rate for an agent with true reasons is the probe's rate of "
    "false alarms, the rate for one with invented reasons is its rate of detection. Rates are over the episodes that "
    "the probe decided; intervals assume independent episodes."
)
_HELD = (
    "A claim held if after each of its changes no other answer came more often than the one expected. Noticed is the "
    "smallest share of false claims of which so many tested ones show at least one with a probability of 80 %: less "
    "than that may well go unseen."
)
_HELD_HEADS = ("agent and probe", "held", "95 % (Wilson)", "noticed")
_POWER = (
    "The probability 1 - (1 - e d)^n that at least one of n challenges notices, where the agent makes something up in "
    "the share e of its decisions, and a challenge of such a decision notices it with probability d. An inconclusive "
    "challenge is not counted. Cost is counted in questions: how often the agent was asked to choose."
)
_SHARES = (50_000, 100_000, 300_000)
_POWER_HEADS = ("agent and probe", "challenges", "questions", *(f"power at e d = {one // 10_000} %" for one in _SHARES))
_MOST_DECIDED = 2_000  # above, the power is 1 to six decimals
_CONFIDENCE = (
    "How sure the agent said that it was of its claims, and how many of them came true when they were challenged. The "
    "Brier score is the mean of (confidence - outcome)²: 0 is best, a constant confidence of one half gets 0.25."
)
_CONFIDENCE_HEADS = ("agent and probe", "confidence", "mean", "came true", "95 % (Wilson)", "Brier score")


def probe_tables(by_agent: Mapping[str, Totals], probes: Sequence[Row]) -> Iterator[Section]:
    """The probes of a single run, a row for each; the rates of all probes by agent, and what challenges can notice."""
    yield Section("probes", "Probes", "", ("probe", "requirement", "made at", "times"), probes)
    rates = [row for agent, sums in by_agent.items() for row in _rates(agent, sums)]
    yield Section("calibration", "Probes by agent", _INTRO, _HEADS, rates)
    yield Section("held-claims", "Claims that held", f"{_HELD} {NO_PROOF}", _HELD_HEADS, list(_held(by_agent)))
    yield Section("power", "Power of the challenges", _POWER, _POWER_HEADS, list(_powers(by_agent)))


def confidence_tables(by_agent: Mapping[str, Totals]) -> Iterator[Section]:
    """How sure agents said that they were of their claims."""
    yield Section("stated-confidence", "Stated confidence", _CONFIDENCE, _CONFIDENCE_HEADS, list(_stated(by_agent)))


def power(share_: int, decided: int) -> int:
    """The probability 1 - (1 - share)^n, in millionths, that at least one of so many challenges notices."""
    whole, missed = pow(ONE, decided), pow(ONE - share_, decided)
    return int((whole - missed) * ONE // whole)


def _held(agents: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for agent, sums in agents.items():
        for name, counts in sums["probes"].items():
            shown = counts.get("claims")
            if shown is not None:
                satisfied, tested = shown["held"], shown["tested"]
                bar = Joined((Bar(satisfied, tested), Words(f"{satisfied} of {tested}")))
                ends = Words(f"{share(shown['wilson']['low'])} to {share(shown['wilson']['high'])}")
                yield Row(f"{agent}: {name}", "", (bar, ends, Words(share(shown["noticed"]))))


def _powers(by_agent: Mapping[str, Totals]) -> Iterator[Row]:
    for agent, sums in by_agent.items():
        for name, counts in sums["probes"].items():
            if "answers_failed" in counts:
                decided = counts["verdicts"].get("PASS", 0) + counts["verdicts"].get("FAIL", 0)
                powers = [Words(share(power(noticed, min(decided, _MOST_DECIDED)))) for noticed in _SHARES]
                yield Row(f"{agent}: {name}", "", (Count(decided), Count(counts["questions"]), *powers))


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
        mark = NEVER_MADE if not counts["verdicts"] else ""
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
