"""The tables of a profile: its controls with the checks that they rest on, rules about receipts, and the bundles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from specledger.report.headline import counts_text
from specledger.report.judgement import Control, Match
from specledger.report.model import Check, Outcome, Report, Subject, bundle_names
from specledger.report.profile_rules import ASKED
from specledger.report.sections import (
    Cell,
    Code,
    Count,
    Grid,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
    check_anchor,
)

_MOST_CHECKS: Final = 24


def control_sections(report: Report) -> Iterator[Section]:
    """The controls of the profile of a report, if it has one, and its bundles, if it has several."""
    made = report.judgement
    if made is not None:
        intro = f"The profile {made.name}, judged by this evidence. Source: {made.source}"
        heads = ("requirement", "says", "checks of evidence")
        rows = [_row(each, report.subjects) for each in made.controls]
        yield Section("controls", "Requirements", intro, heads, rows)
        asked = [check for check in report.subjects[0].checks if check.id.partition("/")[0] in ASKED]
        if asked:
            intro = "Rules of the profile about receipts and their verification."
            heads = ("rule", "requirement", "times")
            yield Section("asked", "Rules of the profile", intro, heads, [*map(_asked, asked)])
    if made is not None or len(report.subjects) > 1:
        named = [*zip(bundle_names(report.subjects), report.subjects, strict=True)]
        intro = f"{named[0][0]} is shown in full. Plots, tables by agent and what changed are of all bundles."
        yield Section("bundles", "Bundles", intro, ("bundle", "of a", "checks"), [_bundle(*each) for each in named])


def _bundle(name: str, subject: Subject) -> Row:
    """A bundle with the number of each outcome; the details list what did not pass."""
    manifest = subject.manifest
    cells = (Words(subject.kind), Words(counts_text(check.outcome for check in subject.checks)))
    left = [check for check in subject.checks if check.outcome is not Outcome.PASSED]
    rows = [(check.id, check.outcome.value, check.tally, check.why) for check in left[:_MOST_CHECKS]]
    details: list[tuple[str, Cell]] = [("not passed", Grid(rows, len(left) - len(rows)))] if rows else []
    details += [("specs", Code(manifest["specs"])), ("Merkle root", Code(manifest["receipts"]["root"]))]
    return Row(name, subject.verdict.value, cells, details)


def _asked(check: Check) -> Row:
    details: list[tuple[str, Cell]] = [("reason", Quoted(check.why))] if check.why else []
    places = [ReceiptLink(seen.seq) for seen in check.observations]
    name, cells = check.id.partition("/")[2], (Quoted(check.says), Count(check.opportunities))
    return Row(name, check.outcome.value, cells, details, places, len(places) + check.more)


def _row(control: Control, subjects: Sequence[Subject]) -> Row:
    links = [_link(row, subjects) for row in control.rows]
    mark = f"waived ({control.outcome})" if control.waived else control.outcome.value
    return Row(control.id, mark, (Quoted(control.says), Count(len(control.rows))), [*_details(control)], links)


def _link(row: Match, subjects: Sequence[Subject]) -> RowLink:
    """The row of a check, or of another bundle that has it."""
    if row.subject is None or len(subjects) == 1:
        return RowLink(check_anchor(row.check) if row.subject == 0 else "", f"{row.check}: {row.outcome}")
    name = bundle_names(subjects)[row.subject]
    link = check_anchor(row.check) if row.subject == 0 else anchor("bundles", name)
    return RowLink(link, f"{row.check} in {name}: {row.outcome}")


def _details(control: Control) -> Iterator[tuple[str, Cell]]:
    yield "section", Quoted(control.section)
    yield "status in the profile", Quoted(control.status)
    if control.why:
        yield "reason", Quoted(control.why)
    if control.tests:
        yield "tests of the project, which a report does not run", Grid([[test] for test in control.tests])
    if control.waiver is not None:
        yield "waiver", Quoted(control.waiver_text)
    if not control.rows:
        yield "evidence", Words("no bundle of this report has such a check")
