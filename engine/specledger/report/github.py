"""A report for GitHub Actions: annotations as workflow commands, and a summary of the step as Markdown.

Decides which findings become annotations: GitHub shows ten of a type for a step, so the tenth says how many are left.
Every command is one line; what evidence says is escaped so that it can neither begin a command nor end a property.

Source: GitHub Actions, Workflow commands: `::error file=...,line=...,title=...::message`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import printable
from specledger.report.figures import figure_rows
from specledger.report.markdown import quote, table
from specledger.report.profile import waived, waiver_words
from specledger.report.results import NOT_SHOWN, Check, Control, Outcome, Report, Subject, counted, evidence_words
from specledger.report.source_locations import file_of

MOST_OF_A_TYPE: Final = 10
"""Annotations of one type that GitHub shows for a step."""

_TYPES: Final = ("error", "warning", "notice")


def annotate(report: Report, sources: Path | None = None) -> str:
    """The annotations, one command a line, with a last newline; empty if everything passed.

    Args:
        report: What is told.
        sources: The folder whose `<kind>/<name>.yaml` are the specs, so that an annotation has a file.
    """
    found: dict[str, list[str]] = {type_: [] for type_ in _TYPES}
    held = waived(report)
    for index, subject in enumerate(report.subjects):
        for check in subject.checks:
            control = held.get((index, check.id))
            type_ = _type(check.outcome, check.warning)
            if type_ is not None:
                type_ = type_ if control is None else "notice"
                found[type_].append(_of_check(type_, subject, check, sources, control))
    for control in report.judgement.controls if report.judgement is not None else ():
        type_ = _type(control.outcome, control.settled)
        if type_ is not None:
            found[type_].append(command(type_, f"control {control.id}", _words(control, report.subjects)))
    lines = [line for type_ in _TYPES for line in at_most(type_, found[type_])]
    return "".join(f"{line}\n" for line in lines)


def at_most(type_: str, lines: Sequence[str]) -> Sequence[str]:
    """As many commands of a type as are shown; if there are more, the last one says so."""
    if len(lines) <= MOST_OF_A_TYPE:
        return lines
    kept = MOST_OF_A_TYPE - 1
    left = f"{len(lines) - kept} more findings of this type are not shown here"
    return [*lines[:kept], command(type_, "more findings", left)]


def _type(outcome: Outcome, lenient: bool) -> str | None:
    """What type of annotation an outcome is, if any; one that is only warned of, or waived, is no error."""
    if outcome is Outcome.FAILED:
        return "warning" if lenient else "error"
    if outcome is Outcome.CANNOT_TELL:
        return "warning"
    return "notice" if outcome is Outcome.UNTESTED else None


def _of_check(type_: str, subject: Subject, check: Check, sources: Path | None, waiving: Control | None) -> str:
    first = next(iter(check.observations), None)
    seen = "" if first is None else f" (first: receipt {first.seq}, {first.what} {first.detail})"
    times = f" {check.tally}" if check.failures else ""
    word = "" if waiving is None else f"; control {waiving.id}: {waiver_words(waiving)}"
    words = f"{check.outcome}{times}: {check.why or check.says}{seen}{word}"
    file = file_of(check.spec or subject.root, sources)
    return command(type_, f"{subject.name}: {check.id}", words, {} if file is None else {"file": file, "line": "1"})


def _words(control: Control, subjects: Sequence[Subject]) -> str:
    rows = evidence_words(control, subjects)
    return "; ".join(words for words in (f"{control.outcome}: {control.says}", control.why, rows) if words)


def command(type_: str, title: str, message: str, place: Mapping[str, str] | None = None) -> str:
    """One workflow command; no character of its texts has a meaning for the runner.

    Args:
        type_: `error`, `warning` or `notice`.
        title: What stands above the message.
        message: What is said.
        place: The properties that say where: `file`, `line`, `col`.
    """
    properties = {**(place or {}), "title": title}
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{type_} {said}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(report: Report) -> str:
    """The summary of a step as Markdown that ends with a newline; bounded, since GitHub takes one MiB."""
    lines: list[str] = []
    if report.judgement is not None:
        judgement = report.judgement
        lines += [f"# {quote(judgement.name)}: {judgement.verdict}", "", quote(judgement.source)]
        lines += ["", _counts(control.outcome for control in judgement.controls)]
        rows = [
            (f"**{one.outcome}**", *map(quote, (one.id, one.says, evidence_words(one, report.subjects))), _waived(one))
            for one in judgement.controls
        ]
        lines += table("Controls", ("", "control", "says", "evidence", "beside it"), rows)
    for subject in report.subjects:
        lines += ["", *_subject(subject)] if lines else _subject(subject)
    return "\n".join([*lines, "", *NOT_SHOWN, ""])


def _subject(subject: Subject) -> Iterator[str]:
    receipts = subject.manifest["receipts"]
    yield f"# {quote(subject.name)}: {subject.verdict}"
    if subject.doc:
        yield from ("", quote(subject.doc))
    yield from ("", _counts(check.outcome for check in subject.checks))
    rows = [
        (f"**{check.outcome}**", quote(check.id), quote(check.says), str(check.opportunities), quote(check.why))
        for check in subject.checks
    ]
    yield from table("Checks", ("", "check", "says", "could have failed", "beside it"), rows)
    heads = ("figure", "statistic", "value", "of", "95 %", "95 % over layouts")
    yield from table("Figures", heads, [row for figure in subject.figures for row in figure_rows(figure, quote)])
    yield from ("", f"Specs `{subject.manifest['specs']}`, {receipts['count']} receipts, root `{receipts['root']}`.")


def _counts(outcomes: Iterable[Outcome]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted(outcomes).items() if count) + "."


def _waived(control: Control) -> str:
    held = control.waiver
    said = "" if held is None else f"{held.state} waiver of {held.owner} until {held.until}: {held.reason}"
    return quote(said or control.why)
