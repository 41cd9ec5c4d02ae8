"""How findings, results and verifications are shown: plain text for people, JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from specledger.cli.discovered import discovery_text
from specledger.cli.tables import law_table, suite_tables
from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import Diagnostic, printable, render
from specledger.core.verdict import Verdict

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.pipeline import CheckedSpec, Finished, Incident
    from specledger.verify.checks import Verification

_MAX_SOURCE: Final = 4_194_304
_MARKS: Final = {"passed": "ok      ", "failed": "FAILED  ", "not made": "not made"}


def say(text: str) -> None:
    """Print one piece of text on standard output."""
    _write(sys.stdout, text + "\n")


def say_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    _write(sys.stdout, pretty(_encodable(value)))


def complain(text: str) -> None:
    """Print one piece of text on standard error."""
    _write(sys.stderr, text + "\n")


def _write(stream: TextIO | None, text: str) -> None:
    """Write to a stream that may be closed, or whose reader may have gone: that changes nothing about the work.

    Raises:
        OSError: It cannot be written for another reason.
    """
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python flushes once more when it ends
        if not isinstance(error, BrokenPipeError):
            raise


def diagnostics_text(diagnostics: Iterable[Diagnostic]) -> str:
    """All findings with their excerpts, and a closing count."""
    found = list(diagnostics)
    errors = sum(1 for diagnostic in found if diagnostic.severity == "error")
    warnings = f", {_count(len(found) - errors, 'warning')}" if len(found) > errors else ""
    closing = f"{_count(errors, 'error')}{warnings}. `spec explain CODE` says more about a code."
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
    """The result of a run in a few lines, or that of a suite in tables."""
    if finished.kind == "discovery":
        return discovery_text(finished)
    if finished.told:
        return suite_text(finished)
    result = finished.manifest["result"]
    lines = [
        f"{printable(finished.name)}  {result['verdict']}  "
        f"{result['successes']} of {_count(result['episodes'], 'episode')} reached the goal, "
        f"{_count(result['steps'], 'step')}, {_count(result['drifts'], 'drift')}, {_count(result['checks'], 'check')}"
    ]
    lines += _table("violations", result["violations"], "none")
    lines += _table("warnings", result["warnings"], "")
    lines += _table(f"rejections (of {_count(result['proposals'], 'proposal')})", result["rejections"], "none")
    if result["errors"]:
        lines.append(f"  {_count(result['errors'], 'error')}: something could not be evaluated")
    if finished.incidents:
        lines.append("  what went wrong first:")
        lines += [f"    {_incident(incident)}" for incident in finished.incidents]
    if result["verdict"] == Verdict.INCONCLUSIVE:
        lines.append("  no invariant was checked, so nothing can be concluded")
    receipts = finished.manifest["receipts"]
    lines += [f"  specs    {finished.manifest['specs']}", f"  receipts {receipts['count']}, root {receipts['root']}"]
    replaced = " (in place of an earlier bundle)" if finished.replaced else ""
    return "\n".join([*lines, f"  evidence {printable(str(finished.place))}{replaced}"])


def suite_text(finished: Finished) -> str:
    """A suite's figures with their intervals, its checks, its mutants, and where its evidence is."""
    result, receipts = finished.manifest["result"], finished.manifest["receipts"]
    trials = f", {_count(result['trials'], 'run')} of mutants and their controls" if result["trials"] else ""
    head = f"{printable(finished.name)}  {result['verdict']}  {_count(result['runs'], 'run')}, "
    head += f"{_count(result['episodes'], 'episode')}, {_count(result['steps'], 'step')}{trials}"
    replaced = " (in place of an earlier bundle)" if finished.replaced else ""
    return "\n".join(
        [
            head,
            *suite_tables(finished.told),
            f"  specs    {finished.manifest['specs']}",
            f"  receipts {receipts['count']}, root {receipts['root']}",
            f"  evidence {printable(str(finished.place))}{replaced}",
        ]
    )


def laws_text(laws: Sequence[Finished]) -> str:
    """One table of all laws that were tried, and where their evidence is."""
    verdicts = [receipt for law in laws for receipt in law.told if receipt["type"] == "verdict"]
    places = {str(law.place.parent) for law in laws}
    where = f"  evidence {printable(str(laws[0].place) if len(laws) == 1 else ', '.join(sorted(places)))}"
    return "\n".join([*law_table(verdicts), where])


def _incident(incident: Incident) -> str:
    """One incident on a line: when, what, and its witness or expression."""
    detail = incident.detail if isinstance(incident.detail, str) else canonical_bytes(incident.detail).decode()
    return printable(f"episode {incident.episode}, step {incident.t}: {incident.what}  {detail}")


def finished_json(finished: Finished) -> dict[str, Any]:
    """The result of a run or a suite as a JSON value."""
    known = {"name": finished.name, "evidence": str(finished.place), "manifest": finished.manifest}
    if finished.told:
        return {**known, "receipts": [dict(one) for one in finished.told if one["type"] != "run"]}
    return {
        **known,
        "incidents": [
            {"episode": each.episode, "t": each.t, "what": each.what, "detail": each.detail}
            for each in finished.incidents
        ],
    }


def verification_text(place: Path, verification: Verification) -> str:
    """Every check on a line, every level with what is known of it, then what it amounts to."""
    from specledger.verify.assurance_levels import QUALIFIED, headline, level_statuses

    lines = []
    for check in verification.checks:
        detail = "" if check.message is None else f": {printable(check.message)}"
        prefix = f" [{check.code}]" if check.code else ""
        lines.append(f"{check.number}. {_MARKS[check.status]} {check.name}{prefix}{detail}")
    for rung in level_statuses(verification):
        why = f": {printable(rung.why)}" if rung.status != "reached" or rung.level in QUALIFIED else ""
        lines.append(f"{rung.level} {rung.status:11} {rung.name}{why}")
    lines += [f"not checked: {one}" for one in verification.unchecked]
    return "\n".join([*lines, f"{printable(str(place))}: {headline(verification)}."])


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
        lines.append(key)
        for path, node in sorted(spec.origins.items(), key=lambda item: [str(part) for part in item[0]]):
            if node.style not in ("block", "flow"):
                dotted = ".".join(str(part) for part in path)
                place = printable(str(spec.span(*path)))
                lines.append(f"  {printable(dotted)} = {printable(node.text.value)}  # {place}")
    return "\n".join(lines)


def kinds_text() -> str:
    """Every kind of spec and what it says."""
    from specledger.kinds import MODELS

    about = {kind: (sys.modules[model.__module__].__doc__ or "").partition("\n")[0] for kind, model in MODELS.items()}
    lines = [f"{kind:10} {text.partition(': ')[2]}".rstrip() for kind, text in about.items()]
    return "\n".join([*lines, "", "`spec schema KIND` prints the fields of one."])


def _table(title: str, figures: Mapping[str, int], none: str) -> list[str]:
    shown = {name: count for name, count in figures.items() if count}
    if not shown:
        return [f"  {title}: {none}"] if none else []
    return [f"  {title}: " + ", ".join(f"{printable(name)} {count}" for name, count in sorted(shown.items()))]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _encodable(value: Any) -> Any:
    """A JSON value in which what is no character, such as a byte of a file's name, is written as an escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(element) for element in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(member) for key, member in value.items()}
    return value


def _source(file: str) -> str | None:
    """A file's text for excerpts, if it can be had."""
    try:
        path = Path(file)
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _MAX_SOURCE else None
    except (OSError, ValueError):
        return None
