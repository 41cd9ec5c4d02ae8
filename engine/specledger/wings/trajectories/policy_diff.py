"""Two versions of a policy over the same logs: every opportunity of which they make something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics, counted
from specledger.core.verdict import Exit
from specledger.kinds.kind import Compared
from specledger.load import Bundle, Resolved
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.formats.names import reader_named
from specledger.wings.trajectories.model import Call, Entry, Finding, Trajectory
from specledger.wings.trajectories.reading import knows_request, read_logs
from specledger.wings.trajectories.room import beginning
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Outcome
from specledger.wings.trajectories.rules.policy import Policy

FORMAT: Final = "specledger/policy-diff/v1"
MOST_FLIPS: Final = 25
"""Flips of one rule that are kept; the others are counted."""
_SHOWN: Final = 5
_NONE: Final = "none"


class Flip(Struct, frozen=True):
    """An opportunity of which two policies make something else; `none` is no opportunity."""

    rule: str
    before: str
    after: str
    trajectory: str
    file: str
    line: int
    call: str
    tool: str
    reason: str


class _Flips(Struct):
    """What was compared."""

    counts: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    kept: dict[str, list[Flip]] = field(default_factory=dict)
    trajectories: int = 0
    judged: int = 0
    findings: Counter[str] = field(default_factory=Counter)


def compare_policies(first: Bundle, second: Bundle, logs: Sequence[Path], log_format: str | None) -> Compared:
    """The verdicts that flip from one policy to another over logs."""
    reader = None if log_format is None else reader_named(log_format)
    before, after = (compile_policy(bundle.main, Diagnostics()) for bundle in (first, second))
    flips = _compare(before, after, read_logs(logs, reader))
    changes = _changed(first.main, second.main)
    same = not flips.counts
    status = Exit.FINDINGS if flips.counts else Exit.CONFORMS
    if same and (flips.findings or not flips.judged):
        status = Exit.INCONCLUSIVE
    names = (first.main.name, second.main.name)
    return Compared(status, tuple(_lines(names, flips, changes)), _document(names, flips, changes, same=same))


def _compare(before: Policy, after: Policy, trajectories: Iterable[Trajectory]) -> _Flips:
    flips = _Flips()
    for trajectory in trajectories:
        flips.trajectories += 1
        messages = knows_request(trajectory)
        sessions = before.begin(messages=messages), after.begin(messages=messages)
        for entry in trajectory.entries:
            if isinstance(entry, Finding):
                flips.findings[entry.code] += 1
                continue
            left, right = ({outcome.rule: outcome for outcome in session.hear(entry)} for session in sessions)
            flips.judged += len(left) + len(right)
            for rule in sorted(left.keys() | right.keys()):
                _note(flips, rule, left.get(rule), right.get(rule), trajectory, entry)
    return flips


def _note(
    flips: _Flips, rule: str, left: Outcome | None, right: Outcome | None, trajectory: Trajectory, entry: Entry
) -> None:
    pair = _status(left), _status(right)
    if pair[0] == pair[1]:
        return
    flips.counts.setdefault(rule, Counter())[pair] += 1
    kept = flips.kept.setdefault(rule, [])
    if len(kept) < MOST_FLIPS:
        reason = next((outcome.reason for outcome in (right, left) if outcome is not None and outcome.reason), "")
        texts = (entry.id, entry.tool, reason) if isinstance(entry, Call) else ("", "", reason)
        ids = map(beginning, texts)
        kept.append(Flip(rule, *pair, beginning(trajectory.id), trajectory.file, entry.line, *ids))


def _status(outcome: Outcome | None) -> str:
    return _NONE if outcome is None else outcome.status.value


def _changed(first: Resolved, second: Resolved) -> dict[str, str]:
    """The rules that one policy has and the other has not, or that are not written the same."""
    rules: tuple[Mapping[str, Any], Mapping[str, Any]] = (first.data["rules"], second.data["rules"])
    changes = {}
    for name in sorted(rules[0].keys() | rules[1].keys()):
        if name not in rules[0] or name not in rules[1]:
            changes[name] = "added" if name not in rules[0] else "removed"
        elif rules[0][name] != rules[1][name]:
            changes[name] = "changed"
    return changes


def _lines(names: tuple[str, str], flips: _Flips, changes: Mapping[str, str]) -> Iterator[str]:
    number = sum(counts.total() for counts in flips.counts.values())
    yield f"{' -> '.join(names)}: {counted(flips.trajectories, 'trajectory')}, {counted(number, 'flip')}"
    for rule, counts in flips.counts.items():
        how = f" ({changes[rule]})" if rule in changes else ""
        yield f"{rule}{how}"
        for (before, after), times in sorted(counts.items()):
            yield f"  {before} -> {after}: {times}"
        for flip in flips.kept[rule][:_SHOWN]:
            why = f": {flip.reason}" if flip.reason else ""
            place = located(flip.file, flip.line, flip.trajectory, flip.call)
            yield f"  {place} {flip.tool or 'message'}  {flip.before} -> {flip.after}{why}"
        if counts.total() > _SHOWN:
            yield f"  and {counts.total() - _SHOWN} more"
    quiet = [f"{rule} ({how})" for rule, how in changes.items() if rule not in flips.counts]
    if quiet:
        yield f"without a flip in these logs: {', '.join(quiet)}"
    for code, times in sorted(flips.findings.items()):
        yield f"not read: {code} {times}"
    if not flips.judged:
        yield "neither policy had an opportunity in these logs"


def _document(names: tuple[str, str], flips: _Flips, changes: Mapping[str, str], *, same: bool) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "same": same,
        "policies": list(names),
        "trajectories": flips.trajectories,
        "judged": flips.judged,
        "rules": dict(changes),
        "flips": {
            rule: {
                "counts": [{"before": b, "after": a, "count": times} for (b, a), times in sorted(counts.items())],
                "calls": [
                    {name: getattr(flip, name) for name in Flip.__struct_fields__ if name != "rule"}
                    for flip in flips.kept[rule]
                ],
            }
            for rule, counts in flips.counts.items()
        },
        "findings": dict(flips.findings),
    }
