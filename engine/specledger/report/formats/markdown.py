"""Writes a report as Markdown: the tables of one bundle, or a summary of several, of a profile, or of a verification.

Everything that evidence supplies is in code spans, in which nothing is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import printable
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.report.comparison import common_tables, in_one_table
from specledger.report.control import Control
from specledger.report.figures import figure_section
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.markup import shorten
from specledger.report.model import Report, Subject, counted, malformed_receipts
from specledger.report.not_shown import not_shown, replay_text
from specledger.report.overview import headline_of, parts_text
from specledger.report.sections import (
    Bar,
    Block,
    Cell,
    Code,
    Count,
    Expression,
    Grid,
    Joined,
    PageLink,
    Prose,
    Quoted,
    RowLink,
    Section,
    Words,
)
from specledger.report.titles import bundle_names, decided_of, doc_of, title_of
from specledger.verify.assurance_levels import headline, level_statuses
from specledger.verify.checks import Verification

MOST_ROWS: Final = 200
"""Rows of a table; the others are counted."""

_LONGEST: Final = 200  # characters of one text
_REASON: Final = 600  # characters of the reason of a verdict


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The tables of the bundle; of several their common tables, with the other tables of the first if they differ."""
    if report.judgement is not None or not report.subjects:
        return Output(summary(report))
    with malformed_receipts():
        tables = common_tables(report.subjects) if len(report.subjects) > 1 else []
        if len(report.subjects) > 1 and len({index for _, of in tables for index in of}) < len(report.subjects):
            return Output(summary(report))
        common = {section.id: section for section, _ in tables}
        lines = _top(report)
        if in_one_table(report.subjects):
            lines += [line for section in common.values() for line in _section(section)]
        else:
            lines += _first(report.subjects[0], common)
    return Output("\n".join([*lines, "", *not_shown(report.subjects), ""]))


def _first(subject: Subject, common: Mapping[str, Section]) -> Iterator[str]:
    """The tables of the first bundle; the common tables have the rows of all bundles."""
    yield from _head(subject)
    for section in subject.reading.sections():
        yield from _section(common.get(section.id, section))
    verified = [
        (str(check["number"]), check["name"], check["status"], quote(check["message"]))
        for check in subject.verification
    ]
    yield from table("Evidence", ("", "check", "", "found"), verified)


def summary(report: Report) -> str:
    """The summary of a report; bounded, since GitHub takes one MiB."""
    lines: list[str] = []
    for evidence, verification in report.verifications:
        lines += ["", *_verification(evidence, verification)] if lines else _verification(evidence, verification)
    if report.judgement is not None:
        judgement, bundles = report.judgement, bundle_names(report.subjects)
        lines += [f"# {quote(judgement.name)}: {judgement.mark} ({replay_text(report.subjects)})"]
        lines += ["", quote(judgement.source)]
        lines += ["", _counts(control.mark for control in judgement.controls)]
        rows = [
            (
                f"**{control.mark}**",
                *map(
                    quote,
                    (control.id, control.says, control.evidence_text(bundles), _control_reason(control)),
                ),
            )
            for control in judgement.controls
        ]
        lines += table("Controls", ("", "control", "says", "evidence", "reason"), rows)
    lines += [] if report.judgement is not None else _top(report)
    for index in range(len(report.subjects)):
        lines += ["", *_subject(report, index)] if lines else _subject(report, index)
    return "\n".join([*lines, *(("", *not_shown(report.subjects)) if report.subjects else ()), ""]) if lines else ""


def _top(report: Report) -> list[str]:
    """The verdict of several bundles with its reason; empty for one bundle, which has its own head."""
    if len(report.subjects) < 2:
        return []
    headline = headline_of(report)
    return [
        f"# {len(report.subjects)} bundles: {headline.verdict} ({headline.replay})",
        "",
        quote(parts_text(headline.reason), _REASON),
        "",
    ]


def _control_reason(control: Control) -> str:
    return "; ".join(part for part in (control.waiver_text, control.why) if part)


def _subject(report: Report, index: int) -> Iterator[str]:
    subject, waivers, marks = report.subjects[index], report.waivers(index), report.marks(index)
    receipts = subject.manifest["receipts"]
    yield f"# {quote(subject.title)}: {report.verdict_text(index)}{_decided(subject)} ({subject.replay})"
    if subject.doc:
        yield from ("", quote(subject.doc))
    yield from ("", _counts(marks))
    rows = [
        (
            f"**{mark}**",
            *map(quote, (check.id, check.says)),
            str(check.opportunities),
            quote(waivers[check.id].waiver_text if check.id in waivers else check.why),
        )
        for check, mark in zip(subject.checks, marks, strict=True)
    ]
    yield from table("Checks", ("", "check", "says", "could have failed", "reason"), rows)
    yield from _section(figure_section([(0, figure) for figure in subject.reading.figures]))
    yield from ("", f"Specs `{subject.manifest['specs']}`, {receipts['count']} receipts, root `{receipts['root']}`.")


def _counts(marks: Iterable[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted(marks).items() if count) + "."


def _verification(evidence: str, verification: Verification) -> Iterator[str]:
    yield from (f"# {quote(evidence)}: {verification.verdict}", "", quote(headline(verification)))
    rows = [
        (
            str(check.number),
            f"**{check.status}**",
            check.level.value,
            *map(quote, (check.name, check.code or "", check.message or "")),
        )
        for check in verification.checks
    ]
    yield from table("Checks", ("", "", "level", "check", "code", "found"), rows)
    levels = [
        (f"**{rung.status}**", rung.level.value, quote(rung.name), quote(rung.why))
        for rung in level_statuses(verification)
    ]
    yield from table("Levels", ("", "level", "shows", "reason"), levels)


def _head(subject: Subject) -> Iterator[str]:
    yield f"# {quote(title_of(subject))}: {subject.verdict}{_decided(subject)} ({subject.replay})"
    if doc_of(subject):
        yield from ("", quote(doc_of(subject)))
    headline = headline_of(Report((subject,)))
    for finding in headline.finding:
        yield from ("", quote(finding, _REASON))
    yield from ("", quote(parts_text(headline.reason), _REASON))
    for sentence in headline.meaning:
        yield from ("", quote(parts_text(sentence), _REASON))
    facts = [f"{name} {_cell(cell)}" for name, cell in subject.reading.facts()]
    yield from ("", f"Evidence of a {subject.kind}: {', '.join(facts)}.")
    receipts = subject.manifest["receipts"]
    yield from (
        "",
        f"Specs `{subject.manifest['specs']}`, {receipts['count']} receipts, Merkle root `{receipts['root']}`.",
    )


def _decided(subject: Subject) -> str:
    decided = decided_of(subject).removeprefix(": ")
    return f" {quote(decided)}" if decided else ""


def _section(whole: Section) -> Iterator[str]:
    section = whole.trimmed()
    rows = section.rows
    marks = any(row.mark for row in rows)
    heads = [*([""] if marks else []), *section.heads]
    cells = [
        [*([f"**{row.mark}**" if row.mark else ""] if marks else []), quote(row.name), *map(_cell, row.cells)]
        for row in rows
    ]
    yield from table(section.title, heads, cells, section.intro)
    for row in rows if section.detailed else ():
        details = [(term, _cell(cell)) for term, cell in row.details]
        yield from table(quote(row.name), ("", ""), details)


def _cell(cell: Cell) -> str:
    match cell:
        case Words():
            return printable(cell.text).replace("|", "\\|")
        case Prose():
            return quote(cell.text)
        case Quoted() | Code() | Block():
            return quote(cell.value)
        case Expression():
            return quote(f"{cell.name}: {cell.text}")
        case Count():
            return str(cell.number)
        case Bar():
            return ""
        case RowLink() | PageLink():
            return quote(cell.name)
        case Joined():
            return (", " if cell.listed else " ").join(part for part in map(_cell, cell.parts) if part)
        case Grid():
            return quote("; ".join(" ".join(row) for row in cell.rows))
    assert_never(cell)


def quote(value: Any, most: int = _LONGEST) -> str:
    """A value of the evidence as a code span on one line, shortened, fit for a cell of a table."""
    text = value if isinstance(value, str) else canonical_bytes(value, FLOATS_ANYWHERE).decode()
    text = shorten(printable(text), most)
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{padding}{text}{padding}{ticks}".replace("|", "\\|") if text.strip() else ""


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], intro: str = "") -> list[str]:
    """The lines of a section with a table of Markdown cells; none without rows. At most `MOST_ROWS` are written."""
    if not rows:
        return []
    lines = ["", f"## {title}", "", *([intro, ""] if intro else [])]
    lines += [_row(heads), _row(["---"] * len(heads)), *map(_row, rows[:MOST_ROWS])]
    return lines if len(rows) <= MOST_ROWS else [*lines, "", f"{len(rows) - MOST_ROWS} more rows are left out."]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
