"""The table of a profile: each requirement with its outcome, and the checks of evidence that it rests on.

Decides how a control stands on a page; untested ones are rows like all others. Refuses to judge them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from specledger.report.html.elements import NOTHING, Markup, code, element, join, quoted, words
from specledger.report.html.rows import Receipt, Row, RowLink, Section, anchor, marked
from specledger.report.profile_rules import ASKED
from specledger.report.results import Check, Control, Report, Subject, counted
from specledger.report.results import Row as Found

_SECTIONS: Final[Mapping[str, str]] = {
    "gate": "gates",
    "invariant": "invariants",
    "probe": "probes",
    "check": "checks",
    "mutant": "mutants",
    "law": "laws",
    "progress": "invariants",
    **dict.fromkeys(ASKED, "asked"),
}
"""By the first word of a check's name the table that its row stands in."""


def profile_facts(report: Report | None) -> list[tuple[str, Markup]]:
    """How a profile came out, for the head of the page: its verdict, and how many controls had which outcome."""
    if report is None or report.judgement is None:
        return []
    made = report.judgement
    found = counted(each.outcome for each in made.controls)
    outcomes = ", ".join(f"{number} {name}" for name, number in found.items() if number)
    return [("profile", join(quoted(made.name), words(" "), marked(made.verdict.value), words(f" {outcomes}")))]


def control_sections(report: Report | None) -> Iterator[Section]:
    """The controls of a profile, and what other bundles a report is of.

    Args:
        report: Of the bundle of the page, which is the first one, and of others; with a judgement, if there is one.
    """
    if report is None:
        return
    made = report.judgement
    if made is not None:
        intro = f"What the evidence shows of the profile {made.name}, which is drawn from: {made.source}"
        heads = ("requirement", "says", "checks of evidence")
        rows = [_row(each, report.subjects) for each in made.controls]
        yield Section("controls", "Requirements", intro, heads, rows)
        asked = [check for check in report.subjects[0].checks if check.id.partition("/")[0] in ASKED]
        if asked:
            intro = "What the profile asks of receipts and of their verification, and receipts that show it."
            heads = ("asked", "requirement", "times")
            yield Section("asked", "Asked by the profile", intro, heads, [*map(_asked, asked)])
    if len(report.subjects) > 1:
        intro = "This page shows the first one in full. Rows of requirements name the others by their numbers."
        columns = ("bundle", "of a", "specs", "Merkle root")
        yield Section("bundles", "Bundles", intro, columns, [*map(_bundle, range(1, 1000), report.subjects)])


def _bundle(number: int, subject: Subject) -> Row:
    manifest = subject.manifest
    cells = (words(subject.kind), code(manifest["specs"]), code(manifest["receipts"]["root"]))
    return Row(f"{number}: {subject.name}", subject.verdict.value, cells)


def _asked(check: Check) -> Row:
    details = [("beside it", quoted(check.why))] if check.why else []
    places = [Receipt(0, seen.seq) for seen in check.observations]
    name, times = check.id.partition("/")[2], words(str(check.opportunities))
    return Row(name, check.outcome.value, (quoted(check.says), times), details, places, len(places) + check.more)


def _row(control: Control, subjects: Sequence[Subject]) -> Row:
    links = [_link(row, subjects) for row in control.rows]
    details = [(term, said) for term, said in _details(control) if said]
    waived = control.waiver is not None and control.waiver.state == "active"
    mark = f"waived ({control.outcome})" if waived else control.outcome.value
    return Row(control.id, mark, (quoted(control.says), words(str(len(control.rows)))), details, links)


def _link(row: Found, subjects: Sequence[Subject]) -> RowLink:
    """Where a check stands: a row of this page, or the number of another bundle."""
    elsewhere = len(subjects) > 1 and row.subject is not None
    where = f" in {row.subject + 1}" if elsewhere and row.subject is not None else ""
    kind, _, name = row.check.partition("/")
    target = anchor(_SECTIONS.get(kind, kind), name or kind) if row.subject == 0 else ""
    return RowLink(target, f"{row.check}{where}: {row.outcome}")


def _details(control: Control) -> Iterator[tuple[str, Markup]]:
    yield "section", quoted(control.section)
    yield "status in the profile", quoted(control.status)
    yield "why", quoted(control.why)
    yield (
        "tests of the project, which a report does not run",
        join(*(element("div", code(each)) for each in control.tests)),
    )
    if control.waiver is not None:
        waiver = control.waiver
        yield "waiver", quoted(f"{waiver.state}: {waiver.reason} ({waiver.owner}, until {waiver.until})")
    yield "evidence", NOTHING if control.rows else words("no bundle of this report has such a check")
