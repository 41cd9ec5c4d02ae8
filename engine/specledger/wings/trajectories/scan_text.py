"""A scan as a table for people, and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import asdict

from specledger.core.diagnostics import counted, printable, title_of
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.scan import Breach, RuleCount, Scan

FORMAT: Final = "specledger/scan/v1"
_SHOWN: Final = 5
"""Breaches of one rule that text shows."""
_LONGEST: Final = 80
_HEAD: Final = ("rule", "opportunities", "held", "broken", "not judged", "in trajectories")


def scan_text(scan: Scan, policy: str, *, quiet: bool = False) -> str:
    """The counts of each rule, the first breaches, and what was not judged or not read; if `quiet` no counts."""
    lines = [f"{policy}  {scan.verdict.value}  {_read(scan)}", *(() if quiet else _idle(scan))]
    lines += [*_nothing_concluded(scan), *(() if quiet else ("", *_table(scan)))]
    for name, count in scan.rules.items():
        lines += _breaches(name, count)
    lines += _not_judged(scan)
    if not quiet:
        lines += _remarks(scan)
    for code, number in sorted(scan.findings.items()):
        first = scan.unread.get(code, [])
        lines.append(f"not read: {code} ({title_of(code)}) {number}")
        places = [located(finding.file, finding.line, finding.trajectory, "") for finding in first]
        lines += [f"  {printable(f'{at}: {finding.message}')}" for at, finding in zip(places, first, strict=True)]
        lines += [f"  and {number - len(first)} more"] if number > len(first) else []
    return "\n".join(lines)


def _read(scan: Scan) -> str:
    formats = ", ".join(f"{printable(name)} {number}" for name, number in sorted(scan.formats.items()))
    denied = f", {scan.denied} more denied by a guard" if scan.denied else ""
    where = f"{counted(scan.trajectories, 'trajectory')} ({formats or 'none'})"
    return f"{where}, {counted(scan.calls.total(), 'call')}{denied}"


def _idle(scan: Scan) -> Iterator[str]:
    """The rules of which the verdict says nothing."""
    idle = [
        name
        for name, count in scan.rules.items()
        if not count.opportunities and name not in (*scan.unable, *scan.misspelt)
    ]
    if idle:
        yield f"no opportunity, so the verdict says nothing of: {', '.join(map(printable, idle))}"


def _nothing_concluded(scan: Scan) -> Iterator[str]:
    """The rules that keep a scan from PASS without a call."""
    if scan.misspelt:
        yield f"misspelt, it seems, so nothing can be concluded: {', '.join(map(printable, scan.misspelt))}"
    if scan.unable:
        yield f"can notice nothing, so nothing can be concluded: {', '.join(map(printable, scan.unable))}"


def _table(scan: Scan) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [_HEAD]
    for name, count in scan.rules.items():
        numbers = (count.opportunities, count.held, count.broken, count.unjudged, count.trajectories)
        remarks = "" if count.severity.impact.fails_run else " (warns)"
        remarks += " (could not be broken)" if count.opportunities and not count.breakable else ""
        rows.append((printable(name) + remarks, *map(str, numbers)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def _breaches(name: str, count: RuleCount) -> list[str]:
    if not count.broken:
        return []
    shown = count.breaches[:_SHOWN]
    more = [f"  and {count.broken - len(shown)} more"] if count.broken > len(shown) else []
    return [
        "",
        f"{printable(name)}: broken",
        *(f"  {_place(breach)}{printable(breach.reason)}" for breach in shown),
        *more,
    ]


def _place(breach: Breach) -> str:
    tool = f" {_shortened(breach.tool)}" if breach.tool else ""
    return f"{printable(located(breach.file, breach.line, breach.trajectory, breach.call))}{tool}: "


def _shortened(name: str) -> str:
    """A name of a log, which may have any length."""
    return printable(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}...")


def _not_judged(scan: Scan) -> list[str]:
    """Why rules were not judged."""
    lines = [""]
    for name, count in scan.rules.items():
        for reason, number in sorted(count.reasons.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]:
            lines.append(f"{printable(name)} was not judged {counted(number, 'time')}: {printable(reason)}")
        if count.withheld:
            times = counted(count.withheld, "time")
            lines.append(f"{printable(name)} was judged {times} before a value was withheld, and not checked again")
    return lines


def _remarks(scan: Scan) -> list[str]:
    """Rules that these logs could not break, and tools that were called."""
    lines = [
        f"{printable(name)} could not be broken by these logs: no tool of its `not_after` was called"
        for name, count in scan.rules.items()
        if count.opportunities and not count.breakable
    ]
    tools = ", ".join(f"{_shortened(tool)} {number}" for tool, number in scan.calls.most_common(20))
    return [*lines, *([f"tools that were called: {tools}"] if tools else [])]


def scan_document(scan: Scan, policy: str) -> dict[str, Any]:
    """A scan as JSON values."""
    return {
        "format": FORMAT,
        "policy": policy,
        "verdict": scan.verdict.value,
        "trajectories": scan.trajectories,
        "formats": dict(scan.formats),
        "calls": dict(scan.calls),
        **({"denied": scan.denied} if scan.denied else {}),
        **({"unable": list(scan.unable)} if scan.unable else {}),
        **({"misspelt": list(scan.misspelt)} if scan.misspelt else {}),
        "findings": dict(scan.findings),
        **({"unread": {code: list(map(asdict, first)) for code, first in scan.unread.items()}} if scan.unread else {}),
        "rules": {name: _rule(count) for name, count in scan.rules.items()},
    }


def _rule(count: RuleCount) -> dict[str, Any]:
    return {
        "severity": count.severity.value,
        "opportunities": count.opportunities,
        "held": count.held,
        "broken": count.broken,
        "unjudged": count.unjudged,
        **({"withheld": count.withheld} if count.withheld else {}),
        **({} if count.breakable else {"breakable": False}),
        "trajectories": count.trajectories,
        "reasons": dict(count.reasons),
        "breaches": [
            {name: getattr(breach, name) for name in ("trajectory", "file", "line", "call", "tool", "reason")}
            for breach in count.breaches
        ],
    }
