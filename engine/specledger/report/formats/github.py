"""Writes a report for GitHub Actions: annotations as workflow commands, and a step summary as Markdown.

Every command is one line, in which text can neither begin another command nor end a property. GitHub shows ten
annotations of a type for a step, so the tenth counts the others.

Source: GitHub Actions, Workflow commands: `::error file=...,line=...,title=...::message`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from specledger.core.diagnostics import printable
from specledger.report.formats import markdown
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.items import Item, Place, groups_of
from specledger.report.model import Report
from specledger.report.outcome import Outcome

MOST_OF_A_TYPE: Final = 10
"""Annotations of one type that GitHub shows for a step."""

_TYPES: Final = ("error", "warning", "notice")
_TYPE_OF: Final = {
    Outcome.FAILED: "error",
    Outcome.CANNOT_TELL: "warning",
    Outcome.UNTESTED: "notice",
    Outcome.DIFFERS: "notice",
}


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """Annotations of what did not pass, and the step summary."""
    commands: dict[str, list[str]] = {type_: [] for type_ in _TYPES}
    for item in (item for group in groups_of(report) for item in group.items):
        type_ = _type(item)
        if type_ is not None and item.annotated:
            commands[type_].append(_command(type_, item.title, item.covered_text, _location(item.place, options)))
    lines = [line for type_ in _TYPES for line in _at_most(type_, commands[type_])]
    return Output("".join(f"{line}\n" for line in lines), markdown.summary(report))


def _type(item: Item) -> str | None:
    type_ = _TYPE_OF.get(item.outcome)
    if type_ is not None and item.waiver is not None:
        return "notice"
    return "warning" if type_ == "error" and item.warning else type_


def _at_most(type_: str, lines: Sequence[str]) -> Sequence[str]:
    """As many commands of a type as GitHub shows; if there are more, the last one counts them."""
    if len(lines) <= MOST_OF_A_TYPE:
        return lines
    kept = MOST_OF_A_TYPE - 1
    return [*lines[:kept], _command(type_, "more findings", f"{len(lines) - kept} more findings of this type")]


def _location(source: Place, options: Options) -> Mapping[str, str]:
    if source.span is not None:
        start = source.span.start
        return {"file": source.span.file, "line": str(start.line), "col": str(start.column)}
    file = options.file_of(source.spec)
    return {} if file is None else {"file": file, "line": "1"}


def _command(type_: str, title: str, message: str, location: Mapping[str, str] | None = None) -> str:
    properties = {**(location or {}), "title": title}
    written = ",".join(
        f"{name}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{type_} {written}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
