"""The finding of a suite in sentences, made from its probes, checks and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.evidence.receipts.suite import Check, Figure
from specledger.report.agent_metrics import RunMetrics

_MOST_AGENTS: Final = 4
_MOST_CHECKS: Final = 8
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOLDS: Final[Mapping[Verdict, str]] = {
    Verdict.FAIL: "Does not hold",
    Verdict.ERROR: "Cannot be evaluated",
    Verdict.INCONCLUSIVE: "Not decided",
    Verdict.PASS: "Holds",
}
"""What a verdict says of checks; those that do not hold come first."""


def suite_finding(
    agents: Mapping[str, Sequence[RunMetrics]], checks: Sequence[tuple[Check, Sequence[Figure]]]
) -> list[str]:
    """The sentences; each check comes with the figures that it reads."""
    return [*_probed(agents), *checked_words(checks)]


def _probed(agents: Mapping[str, Sequence[RunMetrics]]) -> Iterator[str]:
    """In how many of the episodes with a verdict of a probe each agent fails one, the most first."""
    counts = {agent: _caught(metrics) for agent, metrics in agents.items()}
    known = sorted((agent for agent, (_, of) in counts.items() if of), key=lambda agent: (-counts[agent][0], agent))
    parts = [f"{agent} in {counts[agent][0]} of {counts[agent][1]}" for agent in known[:_MOST_AGENTS]]
    if parts:
        first = known[0]
        parts[0] = f"{first} is caught by a probe in {counts[first][0]} of {counts[first][1]} episodes"
        more = f"; {len(known) - _MOST_AGENTS} more agents are below" if len(known) > _MOST_AGENTS else ""
        yield f"{'; '.join(parts)}{more}."


def _caught(runs: Sequence[RunMetrics]) -> tuple[int, int]:
    failed = decided = 0
    for metrics in runs:
        for episode in metrics.episodes:
            verdicts = {result["verdict"] for results in episode["probes"].values() for result in results}
            decided += bool(verdicts & {Verdict.FAIL, Verdict.PASS})
            failed += Verdict.FAIL in verdicts
    return failed, decided


def figures_read_by(check: Mapping[str, Any], figures: Sequence[Figure]) -> list[Figure]:
    """The figures whose names occur in the expressions of a check, as its spec has it."""
    texts = [check.get("require", ""), check.get("opportunities", ""), *check.get("witness", {}).values()]
    names = {name for text in texts for name in _NAME.findall(str(text))}
    return [figure for figure in figures if figure["figure"] in names]


def checked_words(checks: Sequence[tuple[Check, Sequence[Figure]]]) -> Iterator[str]:
    """The checks by their verdicts, each with the rate that it reads."""
    for verdict, says in _HOLDS.items():
        of = [(check["check"], figures) for check, figures in checks if check["verdict"] == verdict]
        parts = [f"{name.replace('-', ' ')}{_rate(name, figures)}" for name, figures in of[:_MOST_CHECKS]]
        more = f", and {len(of) - _MOST_CHECKS} more" if len(of) > _MOST_CHECKS else ""
        if parts:
            yield f"{says}: {', '.join(parts)}{more}."


def _rate(check: str, figures: Sequence[Figure]) -> str:
    """The first rate of one group, with its name where the check has another."""
    for figure in figures:
        if figure["statistic"] == "rate" and figure["error"] is None and len(figure["groups"]) == 1:
            (group,) = figure["groups"]
            name = "" if figure["figure"] == check.replace("-", "_") else f"{figure['figure'].replace('_', ' ')} "
            if "value" in group:
                return f" ({name}{group['count']} of {group['of']})"
            if group.get("undecided"):
                return f" ({name}0 of 0, {group['undecided']} not decided)"
    return ""
