"""What a guard would have decided of the calls of logs: a live conversation is told what a log holds, and nothing acts.

A call that is denied has no result. A call is decided after the result of the one before it, wherever that stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import counted, printable
from specledger.load import Bundle
from specledger.wings.guard.conversation import denial
from specledger.wings.trajectories.model import GUARDED, Call, Finding, Result, Trajectory
from specledger.wings.trajectories.recording.decision import Decision

FORMAT: Final = "specledger/guard-dry-run/v1"
_MOST_SHOWN: Final = 25


def dry_run(bundle: Bundle, trajectories: Iterable[Trajectory]) -> dict[str, Any]:
    """The decisions of all calls, as JSON values."""
    plan = compile_scenario(bundle)
    decisions: list[dict[str, Any]] = []
    not_read: list[dict[str, Any]] = []
    by: Counter[str] = Counter()
    count = 0
    for trajectory in trajectories:
        count += 1
        findings = (entry for entry in trajectory.entries if isinstance(entry, Finding))
        not_read += [
            {"file": trajectory.file, "line": finding.line, "code": finding.code, "message": finding.message}
            for finding in findings
        ]
        for call, decision in decisions_of(plan, trajectory):
            place = {"trajectory": trajectory.id, "file": trajectory.file, "line": call.line}
            decisions.append({**place, **decision.document()})
            if not decision.allowed:
                by.update({objection.name for objection in (*decision.denied_by, *decision.unjudged)})
    denied = sum(decision["decision"] == "deny" for decision in decisions)
    return {
        "format": FORMAT,
        "scenario": plan.name,
        "specs": plan.specs,
        "trajectories": count,
        "calls": len(decisions),
        "denied": denied,
        "by": dict(sorted(by.items())),
        "not_read": not_read,
        "decisions": decisions,
    }


def decisions_of(plan: Plan, trajectory: Trajectory) -> Iterator[tuple[Call, Decision]]:
    """Each call of a trajectory, with what a guard would have decided."""
    assert plan.recording is not None and plan.recording.live is not None  # noqa: S101, PT018 - the caller looked
    live = plan.recording.live(plan, {"id": trajectory.id, "file": trajectory.file, "format": GUARDED})
    results: dict[str, Result] = {}
    for entry in trajectory.entries:
        if isinstance(entry, Result):
            results.setdefault(entry.call, entry)
    waiting: Call | None = None
    for entry in trajectory.entries:
        if isinstance(entry, Result):
            if waiting is not None and entry.call == waiting.id:
                live.add(entry)
                waiting = None
        elif isinstance(entry, Call):
            if waiting is not None:
                live.add(results.get(waiting.id, Result(waiting.id, UNSET)))
            decision = live.decide(entry)
            yield entry, decision
            waiting = entry if decision.allowed else None
            if not decision.allowed:
                live.add(denial(decision))
        else:
            live.add(entry)


def dry_run_text(result: Mapping[str, Any]) -> list[str]:
    """The decisions for people: how many calls are denied, by what, and the first of them."""
    where = counted(result["trajectories"], "trajectory")
    lines = [
        f"{printable(result['scenario'])}: {result['denied']} of {counted(result['calls'], 'call')} denied, {where}"
    ]
    if result["by"]:
        lines.append("  by " + ", ".join(f"{printable(name)} {times}" for name, times in result["by"].items()))
    denied = [decision for decision in result["decisions"] if decision["decision"] == "deny"]
    for decision in denied[:_MOST_SHOWN]:
        said = (*decision["denied_by"], *decision["unjudged"])
        why = "; ".join(f"{objection['name']}: {objection['reason']}" for objection in said)
        line = f":{decision['line']}" if decision["line"] else ""
        lines.append(printable(f"  {decision['file']}{line}: {decision['tool']}, call {decision['call']}: {why}"))
    if len(denied) > _MOST_SHOWN:
        lines.append(f"  and {len(denied) - _MOST_SHOWN} more, which --output json has")
    for finding in result["not_read"][:_MOST_SHOWN]:
        line = f":{finding['line']}" if finding["line"] else ""
        lines.append(printable(f"  not read: {finding['file']}{line}: {finding['code']}: {finding['message']}"))
    if len(result["not_read"]) > _MOST_SHOWN:
        lines.append(f"  and {len(result['not_read']) - _MOST_SHOWN} more that were not read")
    return lines
