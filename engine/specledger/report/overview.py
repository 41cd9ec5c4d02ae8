"""What a report leads with: its verdict with the reason in one sentence, the controls of a profile, the bundles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core import diagnostics
from specledger.core.verdict import Verdict
from specledger.report.comparison import in_one_table, marks_of
from specledger.report.control import Control, Judgement, Match
from specledger.report.failed_checks import written_in
from specledger.report.model import Check, Replay, Report, Subject, counted
from specledger.report.not_shown import replay_text
from specledger.report.outcome import WAIVED, Outcome
from specledger.report.profile_rules import ASKED
from specledger.report.sections import (
    Cell,
    Code,
    Count,
    EpisodeLink,
    Grid,
    Place,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
    check_anchor,
)
from specledger.report.subject import WHOLE
from specledger.report.titles import bundle_names, decided_of, kind_line, title_of

Part = Cell | Place

_WORST_FIRST: Final = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.PASS)
_MOST_NAMED: Final = 3
_STATUS: Final[Mapping[Verdict, str]] = {
    Verdict.INCONCLUSIVE: "INCONCLUSIVE is neither a pass nor a failure: not all could be decided, or nothing was "
    "checked. The command ended with exit status 3.",
    Verdict.ERROR: "ERROR is neither a pass nor a failure: something could not be evaluated. The command ended with "
    "exit status 4.",
}
_LONGEST: Final = 700  # characters of what a check means


class Headline(Struct, frozen=True):
    """The verdict of a report, that of its profile or the worst of its bundles, with the reason in one sentence.

    `meaning` are sentences about the check that the reason names: how it failed, or what it requires. `finding` is
    what one bundle shows, in sentences that come first. `replay` is whether the bundles were replayed, in a few words,
    and `decided` how many challenges were decided, if not all were.
    """

    kind: str
    title: str
    verdict: str
    replay: str
    reason: Sequence[Part]
    meaning: Sequence[Sequence[Part]] = ()
    finding: Sequence[str] = ()
    decided: str = ""

    @property
    def sure(self) -> bool:
        """Whether the runs were made by this command, or made again."""
        return self.replay in (Replay.DONE, Replay.OWN)

    @property
    def text(self) -> str:
        """The title with the verdict, and whether the evidence was replayed."""
        return f"{self.title}: {self.verdict}{self.decided} ({self.replay})"


def headline_of(report: Report) -> Headline:
    """The headline of a report of bundles, and of a profile if it has one."""
    names, replay = bundle_names(report.subjects), replay_text(report.subjects)
    if report.judgement is not None:
        title, verdict = report.judgement.name, report.judgement.mark
        why = [*_of_profile(report.judgement, report.subjects)]
        return Headline("Profile judged by evidence", title, verdict, replay, why)
    if len(names) == 1:
        (subject,) = report.subjects
        why, finding = [*_of_subject(subject, True)], subject.reading.finding()
        named, decided = (kind_line(subject), title_of(subject), subject.verdict), decided_of(subject)
        return Headline(*named, replay, why, _meaning(subject), finding, decided)
    worst = min(report.subjects, key=lambda subject_: _WORST_FIRST.index(subject_.verdict))
    index = report.subjects.index(worst)
    counts = ", ".join(f"{number} {mark}" for mark, number in marks_of(report.subjects))
    all_ = diagnostics.counted(len(names), worst.kind if in_one_table(report.subjects) else "bundle")
    reason: list[Part] = [Words(f"{all_}: {counts}. ")]
    if worst.verdict is Verdict.PASS:
        outcomes = counts_text(check.outcome for subject_ in report.subjects for check in subject_.checks)
        reason.append(Words(f"No check failed: {outcomes}."))
    else:
        link = RowLink(anchor("bundles", names[index]), names[index])
        reason += [link, Words(": "), *_of_subject(worst, index == 0 or in_one_table(report.subjects))]
    title = ", ".join(names) if len(names) <= _MOST_NAMED else all_
    meaning = [] if worst.verdict is Verdict.PASS else _meaning(worst)
    return Headline("Evidence of several bundles", title, worst.verdict, replay, reason, meaning)


def reason_text(report: Report) -> str:
    """The reason of the verdict of a report as text."""
    return parts_text(headline_of(report).reason)


def parts_text(parts: Sequence[Part]) -> str:
    """The parts of a sentence as text."""
    return "".join(map(_text, parts))


def _text(part: Part) -> str:
    match part:
        case ReceiptLink():
            return f"receipt {part.seq}"
        case EpisodeLink():
            return f"step {part.t}"
        case Words():
            return part.text
        case Quoted() | Code():
            return str(part.value)
        case RowLink():
            return part.name
    raise AssertionError(part)


def counts_text(marks: Iterable[str]) -> str:
    """The number of each outcome that occurs: `10 passed, 1 untested`."""
    return ", ".join(f"{number} {mark}" for mark, number in counted(marks).items() if number)


def _of_subject(subject: Subject, shown: bool) -> Iterator[Part]:
    """The reason of a bundle's verdict; `shown` if its tables are in the report."""
    cause, counts = _told(subject), counts_text(check.outcome for check in subject.checks)
    if cause is not None:
        yield from _of_check(cause, shown, subject.reading.agent)
        failed = sum(check.outcome is Outcome.FAILED for check in subject.checks)
        more = f" {failed} of {len(subject.checks)} checks failed." if failed > 1 else ""
        yield Words(f". Checks: {counts}." if cause.outcome is Outcome.CANNOT_TELL else f".{more}")
    else:
        note = "" if subject.verdict is Verdict.PASS else f", but the verdict is {subject.verdict}"
        yield Words(f"No check failed{note}: {counts}")
        untested = [check for check in subject.checks if check.outcome is Outcome.UNTESTED][:_MOST_NAMED]
        for number, check in enumerate(untested):
            yield Words(", " if number else "; untested: ")
            yield _named(check, shown)
        idle = [check for check in subject.checks if check.outcome is Outcome.NOT_APPLICABLE][:_MOST_NAMED]
        for number, check in enumerate(idle):
            yield Words(", " if number else "; without an opportunity: ")
            yield _named(check, shown)
        yield Words(".")


def _told(subject: Subject) -> Check | None:
    """The check that the reason of a bundle's verdict names: what failed, else is unknown, else its only one."""
    failed = [check for check in subject.checks if check.outcome is Outcome.FAILED]
    failed.sort(key=lambda check: check.warning)
    unknown = [check for check in subject.checks if check.outcome is Outcome.CANNOT_TELL]
    unknown.sort(key=lambda check: not check.error)
    errors = subject.verdict is Verdict.ERROR and any(check.error for check in unknown)
    own = [check for check in subject.checks if check.id != WHOLE]
    only = own if len(own) == 1 and own[0].why and subject.verdict is Verdict.PASS else []
    return next(iter([*([] if errors else failed), *unknown, *only]), None)


def _meaning(subject: Subject) -> list[Sequence[Part]]:
    """How the check failed that the reason names, or what it requires; the table below has both."""
    check = _told(subject)
    status: list[Sequence[Part]] = [(Words(_STATUS[subject.verdict]),)] if subject.verdict in _STATUS else []
    if check is None:
        return status
    says = Quoted(check.says.removeprefix(f"{subject.doc}: "), _LONGEST)
    why = [(Quoted(check.why, _LONGEST), Words("."))] if check.outcome is Outcome.FAILED and check.why else []
    witness = subject.reading.witness(check.id) if check.outcome is Outcome.FAILED else ""
    seen = (Words(" First witness: "), Quoted(witness, _LONGEST), Words(".")) if witness else ()
    stands = written_in(subject, check) if check.outcome is Outcome.FAILED else ""
    where = [(Words("The requirement stands in "), Code(stands), Words("."))] if stands else []
    return [*(why or [(Words("Requirement: "), says, *seen)]), *where, *status]


def _of_check(check: Check, shown: bool, agent: str) -> Iterator[Part]:
    """What failed or is unknown, how often, and where first; of what passed why. Agents fail probes."""
    if check.id.startswith("probe/") and check.outcome is Outcome.FAILED and agent:
        yield from (Words("The agent "), Quoted(agent), Words(" failed "), _named(check, shown))
        yield Words(f": {check.tally}")
        yield from _first(check, shown)
        return
    yield _named(check, shown)
    if check.outcome is Outcome.PASSED:
        yield Words(" passed: ")
        yield Quoted(check.why)
        return
    if check.outcome is Outcome.FAILED:
        yield Words(f" failed{' (a warning)' if check.warning else ''}: {check.tally}")
    else:
        yield Words(" cannot be decided: ")
        yield Quoted(check.why or check.tally)
    yield from _first(check, shown)


def _first(check: Check, shown: bool) -> Iterator[Part]:
    first = next(iter(check.observations), None)
    if first is not None:
        step = first.step if shown else None
        named = first.place[: None if step is None else -1]
        yield Words(f", first in {''.join(f'{where}, ' for where in named)}")
        if step is not None:
            yield from (EpisodeLink(0, *step), Words(", "))
        yield ReceiptLink(first.seq) if shown else Words(f"receipt {first.seq}")


def _named(check: Check, shown: bool) -> Cell:
    return RowLink(check_anchor(check.id) if shown else "", check.id)


def _of_profile(judgement: Judgement, subjects: Sequence[Subject]) -> Iterator[Part]:
    controls, total = judgement.controls, len(judgement.controls)
    counts = counts_text(control.mark for control in controls)
    open_ = [control for control in controls if not control.settled]
    failed = [control for control in open_ if control.outcome is Outcome.FAILED]
    for group, words in ((failed, "failed"), (open_, "are not settled")):
        if group:
            yield Words(f"{len(group)} of {total} controls {words}: ")
            for number, control in enumerate(group[:_MOST_NAMED]):
                yield Words("; " if number else "")
                yield RowLink(anchor("controls", control.id), control.id)
                yield from _cause(control, subjects)
            yield Words(f"; and {len(group) - _MOST_NAMED} more" if len(group) > _MOST_NAMED else "")
            yield Words(f". All controls: {counts}.")
            return
    yield Words(f"All {total} controls are settled: {counts}.")
    for control in [control for control in controls if control.mark == WAIVED][:_MOST_NAMED]:
        yield Words(" ")
        yield RowLink(anchor("controls", control.id), control.id)
        yield Quoted(f" {control.waiver_text}")
        yield Words(".")


def _cause(control: Control, subjects: Sequence[Subject]) -> Iterator[Part]:
    """The first check of a control that has the control's outcome, with its bundle and how often it failed."""
    for row in control.rows:
        if row.outcome is control.outcome and row.subject is not None:
            check = next(candidate for candidate in subjects[row.subject].checks if candidate.id == row.check)
            yield Words(" (")
            yield _named(check, row.subject == 0)
            of = "all bundles" if row.joint else bundle_names(subjects)[row.subject]
            yield Words(f" of {of}, {check.tally})")
            return


_MOST_CHECKS: Final = 24


def control_sections(report: Report) -> Iterator[Section]:
    """The controls of the profile of a report, if it has one, and its bundles, if it has several."""
    judgement = report.judgement
    if judgement is not None:
        intro = f"The profile {judgement.name}, judged by this evidence. Source: {judgement.source}"
        heads = ("requirement", "says", "checks of evidence")
        rows = [_row(control, report.subjects) for control in judgement.controls]
        yield Section("controls", "Requirements", intro, heads, rows)
        waivers = report.waivers(0)
        asked = [check for check in report.subjects[0].checks if check.id.partition("/")[0] in ASKED]
        if asked:
            intro = "Rules of the profile about receipts and their verification."
            heads = ("rule", "requirement", "times")
            yield Section(
                "asked", "Rules of the profile", intro, heads, [_asked(check, waivers.get(check.id)) for check in asked]
            )
    if judgement is not None or (len(report.subjects) > 1 and not in_one_table(report.subjects)):
        names = bundle_names(report.subjects)
        intro = f"{names[0]} is shown in full. Plots, tables by agent and what changed are of all bundles."
        yield Section(
            "bundles",
            "Bundles",
            intro,
            ("bundle", "of a", "checks"),
            [_bundle(report, *entry) for entry in enumerate(names)],
        )


def waived_section(section: Section, report: Report) -> Section:
    """A table of the first bundle in which the rows of waived checks say so."""
    waivers = {check_anchor(name): control for name, control in report.waivers(0).items()}
    if not waivers:
        return section
    rows = []
    for row in section.rows:
        control = waivers.get(anchor(section.id, row.name))
        if control is not None:
            details = [("outcome", Words(row.mark)), ("waiver", Quoted(control.waiver_text)), *row.details]
            row = replace(row, mark=WAIVED, details=details)  # noqa: PLW2901 - the row as it is shown
        rows.append(row)
    return replace(section, rows=rows)


def _bundle(report: Report, index: int, name: str) -> Row:
    """A bundle with the number of each outcome; the details list what did not pass."""
    subject, waivers, marks = report.subjects[index], report.waivers(index), report.marks(index)
    manifest = subject.manifest
    cells = (Words(subject.kind), Words(counts_text(marks)))
    marked = zip(subject.checks, marks, strict=True)
    left = [(check, mark) for check, mark in marked if check.outcome is not Outcome.PASSED]
    rows = [
        (check.id, mark, check.tally, waivers[check.id].waiver_text if check.id in waivers else check.why)
        for check, mark in left[:_MOST_CHECKS]
    ]
    details: list[tuple[str, Cell]] = [("not passed", Grid(rows, len(left) - len(rows)))] if rows else []
    details += [("specs", Code(manifest["specs"])), ("Merkle root", Code(manifest["receipts"]["root"]))]
    return Row(name, report.verdict_text(index), cells, details)


def _asked(check: Check, waiver: Control | None) -> Row:
    details: list[tuple[str, Cell]] = [("reason", Quoted(check.why))] if check.why else []
    if waiver is not None:
        details.insert(0, ("waiver", Quoted(waiver.waiver_text)))
    places = [ReceiptLink(seen.seq) for seen in check.observations]
    name, cells = check.id.partition("/")[2], (Quoted(check.says), Count(check.opportunities))
    mark = check.outcome.value if waiver is None else WAIVED
    return Row(name, mark, cells, details, places, len(places) + check.more)


def _row(control: Control, subjects: Sequence[Subject]) -> Row:
    links = [_link(row, subjects) for row in control.rows]
    return Row(control.id, control.mark, (Quoted(control.says), Count(len(control.rows))), [*_details(control)], links)


def _link(row: Match, subjects: Sequence[Subject]) -> RowLink:
    """The row of a check, or of another bundle that has it."""
    if row.subject is None or len(subjects) == 1:
        return RowLink(check_anchor(row.check) if row.subject == 0 else "", f"{row.check}: {row.outcome}")
    name = bundle_names(subjects)[row.subject]
    link = check_anchor(row.check) if row.subject == 0 else anchor("bundles", name)
    return RowLink(link, row.text(bundle_names(subjects)))


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
