"""How findings, results and verifications are shown: plain text for people, JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from specledger.core.canonical import pretty
from specledger.core.diagnostics import Diagnostic, printable, render

if TYPE_CHECKING:
    from specledger.kinds.running import Finished
    from specledger.load import Bundle
    from specledger.pipeline.checking import CheckedSpec
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
