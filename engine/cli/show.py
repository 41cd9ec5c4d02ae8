"""How findings, results and verifications are shown: plain text for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.core.canonical import pretty
from engine.core.diagnostics import Diagnostic, printable, render
from engine.load import Bundle
from engine.pipeline import CheckedSpec, Finished
from engine.verify.checks import Status, Verification

_MAX_SOURCE = 4_194_304


def say(text: str) -> None:
    """Print one piece of text on standard output."""
    print(text)


def say_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    print(pretty(value), end="")


def complain(text: str) -> None:
    """Print one piece of text on standard error."""
    print(text, file=sys.stderr)


def diagnostics_text(diagnostics: Iterable[Diagnostic]) -> str:
    """All findings with their excerpts, and a closing count."""
    found = list(diagnostics)
    errors = sum(1 for diagnostic in found if diagnostic.severity == "error")
    closing = f"{errors} error{'' if errors == 1 else 's'}. `spec explain CODE` says more about a code."
    return "\n\n".join([*(render(diagnostic, _source) for diagnostic in found), closing])


def diagnostics_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """All findings as JSON values."""
    return [
        {
            "code": diagnostic.code,
            "severity": diagnostic.severity.value,
            "message": diagnostic.message,
            "file": diagnostic.span.file if diagnostic.span else None,
            "line": diagnostic.span.start.line if diagnostic.span else None,
            "column": diagnostic.span.start.column if diagnostic.span else None,
            "expected": diagnostic.expected,
            "found": diagnostic.found,
            "hint": diagnostic.hint,
        }
        for diagnostic in diagnostics
    ]


def finished_text(finished: Finished) -> str:
    """A run's result in a few lines."""
    result = finished.manifest["result"]
    title = f"{finished.case + ': ' if finished.case else ''}{result['verdict']}"
    lines = [
        f"{printable(title)}  {result['successes']} of {_count(result['episodes'], 'episode')} reached the goal, "
        f"{_count(result['steps'], 'step')}, {_count(result['drifts'], 'drift')}, {_count(result['checks'], 'check')}"
    ]
    lines += _table("violations", result["violations"], "none")
    lines += _table("warnings", result["warnings"], "")
    lines += _table(f"rejections (of {_count(result['proposals'], 'proposal')})", result["rejections"], "none")
    if result["errors"]:
        lines.append(f"  {_count(result['errors'], 'error')}: something could not be evaluated; see the receipts")
    receipts = finished.manifest["receipts"]
    lines += [f"  specs    {finished.manifest['specs']}", f"  receipts {receipts['count']}, root {receipts['root']}"]
    return "\n".join([*lines, f"  evidence {printable(str(finished.place))}"])


def verification_text(place: Path, verification: Verification) -> str:
    """Every check on a line, then what it amounts to."""
    marks = {Status.PASSED: "ok      ", Status.FAILED: "FAILED  ", Status.NOT_MADE: "not made"}
    lines = []
    for check in verification.checks:
        detail = "" if check.message is None else f": {printable(check.message)}"
        prefix = f" [{check.code}]" if check.code else ""
        lines.append(f"{check.number}. {marks[check.status]} {check.name}{prefix}{detail}")
    replayed = all(check.status is Status.PASSED for check in verification.checks)
    state = (
        "intact, and replay gives the same bytes"
        if replayed
        else "intact, not replayed"
        if verification.intact
        else "REFUTED"
    )
    return "\n".join([*lines, f"{printable(str(place))}: {state}. Unsigned: who made it was not checked."])


def verification_json(verification: Verification) -> dict[str, Any]:
    """The verification as a JSON value."""
    return {
        "verdict": verification.verdict.value,
        "checks": [
            {"number": c.number, "name": c.name, "status": c.status.value, "code": c.code, "message": c.message}
            for c in verification.checks
        ],
    }


def checked_text(checked: Sequence[CheckedSpec]) -> str:
    """A line for every spec that is in order."""
    depths = {"compiled": "", "shape": " (shape only: its expressions are typed in a scenario that uses it)"}
    return "\n".join(
        f"ok {one.kind} {one.name}{' ' + printable(one.case) if one.case else ''} {one.digest}{depths[one.depth]}"
        for one in checked
    )


def origins_text(bundle: Bundle) -> str:
    """Every scalar of the resolved specs with the place where it was written."""
    lines = []
    for key, spec in bundle.specs.items():
        lines.append(f"{key}")
        for path, node in sorted(spec.origins.items(), key=lambda item: [str(part) for part in item[0]]):
            if node.style not in ("block", "flow"):
                dotted = ".".join(str(part) for part in path)
                lines.append(f"  {printable(dotted)} = {printable(node.text.value)}  # {printable(str(spec.span(*path)))}")
    return "\n".join(lines)


def _table(title: str, figures: Mapping[str, int], none: str) -> list[str]:
    shown = {name: count for name, count in figures.items() if count}
    if not shown:
        return [f"  {title}: {none}"] if none else []
    return [f"  {title}: " + ", ".join(f"{printable(name)} {count}" for name, count in sorted(shown.items()))]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _source(file: str) -> str | None:
    """A file's text for excerpts, if it can be had."""
    try:
        path = Path(file)
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _MAX_SOURCE else None
    except (OSError, ValueError):
        return None
