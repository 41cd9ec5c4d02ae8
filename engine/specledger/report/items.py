"""The items of a report of any source, from which JUnit, SARIF and GitHub annotations are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostic, Severity, explain, printable
from specledger.core.spans import Span
from specledger.evidence.layout import ENGINE
from specledger.report.judgement import Control, Judgement
from specledger.report.model import Check, Observation, Outcome, Report, Subject, counted
from specledger.verify import checks as verified
from specledger.verify.assurance_levels import NAMES, LevelStatus, Reached, headline, level_statuses
from specledger.verify.checks import Status, Verification

SHOWN: Final = (Outcome.FAILED, Outcome.CANNOT_TELL, Outcome.UNTESTED, Outcome.DIFFERS)
"""Outcomes that need attention."""
_OPEN: Final = (Outcome.FAILED, Outcome.CANNOT_TELL)


class Place(Struct, frozen=True):
    """A place in a file: a span, a file as a whole, or the file of a spec where its folder is known."""

    span: Span | None = None
    file: str | None = None
    spec: str | None = None


class Rule(Struct, frozen=True):
    """A requirement as a rule of a tool.

    Attributes:
        id: Its id.
        says: The requirement.
        help: A longer text.
        properties: Further properties.
    """

    id: str
    says: str
    help: str
    properties: Mapping[str, Any] = field(default_factory=dict)


class Result(Struct, frozen=True):
    """One place where an item needs attention.

    Attributes:
        text: What is wrong.
        identity: What distinguishes the result over time; contains no digest.
        logical: Places that are not in files, each as (name, kind).
        properties: Further properties.
    """

    text: str
    identity: Sequence[Any]
    logical: Sequence[tuple[str, str]] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)


class Item(Struct, frozen=True):
    """One requirement or finding with its outcome.

    Attributes:
        id: Its name within the group.
        title: Its name on its own.
        outcome: Its outcome.
        text: The outcome in one line.
        rule: Its rule.
        type: The diagnostic code, else the outcome.
        place: Where it is.
        results: One for each place where it needs attention.
        lines: Observations, as text.
        properties: Further properties.
        warning: Whether a failure is only a warning.
        error: Whether something could not be done, rather than a requirement not met.
        annotated: Whether it is shown by itself, where not every item is.
        waiver: The control whose active waiver covers it.
    """

    id: str
    title: str
    outcome: Outcome
    text: str
    rule: Rule
    type: str
    place: Place = Place()
    results: Sequence[Result] = ()
    lines: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    warning: bool = False
    error: bool = False
    annotated: bool = True
    waiver: Control | None = None


class Group(Struct, frozen=True):
    """The items of one bundle, profile, verification or check of specs.

    Attributes:
        name: Its name, as of a test suite.
        about: Its id, as of an automated check.
        items: In order.
        engine: The name and version of the engine that made the evidence.
        properties: Further properties.
        derived: Whether the items follow from those of another group.
    """

    name: str
    about: str
    items: Sequence[Item]
    engine: Mapping[str, str] = field(default_factory=lambda: dict(ENGINE))
    properties: Mapping[str, Any] = field(default_factory=dict)
    derived: bool = False


def groups_of(report: Report) -> list[Group]:
    """The groups of a report: its bundles, its profile, its verification, its findings."""
    held = waived_checks(report)
    found = [_of_subject(subject, index, held) for index, subject in enumerate(report.subjects)]
    if report.judgement is not None:
        found.append(_of_judgement(report.judgement, report.subjects))
    if report.verification is not None:
        found += _of_verification(report.place, report.verification)
    if report.findings is not None:
        found.append(_of_findings(report.place, report.passed, report.findings, report.not_run))
    return found


# Evidence and profiles


def waived_checks(report: Report) -> Mapping[tuple[int, str], Control]:
    """The control whose active waiver covers a check, by the place of the bundle and the check's id.

    A check that an unsettled control names, too, is not covered.
    """
    found: dict[tuple[int, str], Control] = {}
    unsettled: set[tuple[int, str]] = set()
    for control in report.judgement.controls if report.judgement is not None else ():
        named = [(row.subject, row.check) for row in control.rows if row.subject is not None]
        if control.waived:
            for place in named:
                found.setdefault(place, control)
        elif not control.settled:
            unsettled.update(named)
    return {place: control for place, control in found.items() if place not in unsettled}


def _of_subject(subject: Subject, index: int, held: Mapping[tuple[int, str], Control]) -> Group:
    manifest = subject.manifest
    properties = {
        "kind": subject.kind,
        "verdict": subject.verdict.value,
        **{name: manifest[name] for name in ("run", "specs", "receipts")},
        "outcomes": counted(check.outcome for check in subject.checks),
    }
    items = [_of_check(subject, check, held.get((index, check.id))) for check in subject.checks]
    about = f"specledger/{subject.kind}/{subject.title}"
    return Group(f"{subject.kind}.{subject.title}", about, items, manifest["engine"], properties)


def _rule(id_: str, says: str, outcome: Outcome) -> Rule:
    help_ = f"{says} (was: {outcome}). The receipts that show it are named in the results."
    return Rule(id_, says, help_, {"outcome": outcome.value})


def _of_check(subject: Subject, check: Check, waiver: Control | None) -> Item:
    first = next(iter(check.observations), None)
    why = check.why or check.says
    seen = ""
    if first is not None:
        shown_there = " ".join(part for part in (first.what, first.detail) if part and part not in why)
        seen = f" (first: receipt {first.seq}{', ' if shown_there else ''}{shown_there})"
    times = f" {check.tally}" if check.failures else ""
    shown = check.observations or (None,) if check.outcome in SHOWN else ()
    return Item(
        id=check.id,
        title=f"{subject.title}: {check.id}",
        outcome=check.outcome,
        text=f"{check.outcome}{times}: {why}{seen}",
        rule=_rule(check.id, check.says, check.outcome),
        type=check.outcome.value,
        place=Place(spec=check.spec or subject.root),
        results=[_of_observation(subject, check, one) for one in shown],
        lines=[*_lines(check)] if check.outcome in _OPEN else (),
        warning=check.warning,
        waiver=waiver,
    )


def _of_observation(subject: Subject, check: Check, seen: Observation | None) -> Result:
    key = check.spec or subject.root
    identity = [subject.kind, subject.title, check.id, key.partition("@")[0]]
    properties = {"outcome": check.outcome.value, "run": subject.manifest["run"]}
    if seen is None:
        return Result(f"{check.outcome}: {check.why or check.says}", identity, [(key, "specification")], properties)
    parts = [("run", seen.run), ("episode", seen.episode), ("step", seen.t), ("receipt", seen.seq)]
    path = "/".join(f"{word} {value}" for word, value in parts if value is not None)
    return Result(
        f"{check.outcome}: {seen.what} {seen.detail}".strip(),
        [*identity, seen.run, seen.episode, seen.t, seen.what],
        [(key, "specification"), (path, "receipt")],
        {**properties, "seq": seen.seq, "receipt": seen.digest},
    )


def _lines(check: Check) -> Iterator[str]:
    yield check.says
    for one in check.observations:
        parts = (("run", one.run), ("episode", one.episode), ("step", one.t))
        place = ", ".join(f"{word} {value}" for word, value in parts if value is not None)
        yield f"receipt {one.seq}{f', {place}' if place else ''}: {one.what}  {one.detail}"
    if check.more:
        yield f"and {check.more} more"


def _of_judgement(judgement: Judgement, subjects: Sequence[Subject]) -> Group:
    properties = {
        "source": judgement.source,
        "verdict": judgement.verdict.value,
        "specs": judgement.digest,
        "date": judgement.date or "none",
        "outcomes": counted(control.outcome for control in judgement.controls),
    }
    items = [_of_control(judgement, control, subjects) for control in judgement.controls]
    about = f"specledger/profile/{judgement.name}"
    return Group(f"profile.{judgement.name}", about, items, properties=properties)


def _of_control(judgement: Judgement, control: Control, subjects: Sequence[Subject]) -> Item:
    rows = control.evidence_text(subjects)
    inactive = "" if control.waived else control.waiver_text
    parts = (f"{control.outcome}: {control.says}", control.why, inactive, rows)
    result = Result(
        f"{control.outcome}: {control.why or rows or control.says}",
        ["profile", judgement.name, control.id],
        [(f"profile/{judgement.name}/{control.id}", "specification")],
        {"outcome": control.outcome.value},
    )
    return Item(
        id=control.id,
        title=f"control {control.id}",
        outcome=control.outcome,
        text="; ".join(part for part in parts if part),
        rule=_rule(control.id, f"{control.section}: {control.says}", control.outcome),
        type=control.outcome.value,
        results=[result] if control.outcome in SHOWN else (),
        lines=[rows] if rows and control.outcome in _OPEN else (),
        waiver=control if control.waived else None,
    )


# Verifications

_OF_STATUS: Final = {
    Status.PASSED: Outcome.PASSED,
    Status.FAILED: Outcome.FAILED,
    Status.NOT_MADE: Outcome.UNTESTED,
}


def _of_verification(evidence: str, verification: Verification) -> Iterator[Group]:
    """The numbered checks, and the levels; a level that was asked for and not reached is unknown."""
    levels = level_statuses(verification)
    properties = {
        "evidence": evidence,
        "verdict": verification.verdict.value,
        "headline": headline(verification),
        "levels": {one.level.value: one.status.value for one in levels},
        "unchecked": list(verification.unchecked),
        "checks": [_facts(check) for check in verification.checks],
    }
    items = [_of_verified(evidence, check) for check in verification.checks]
    yield Group("spec verify: checks", "specledger/verify", items, properties=properties)
    ladder = [_of_level(evidence, one, verification.asked) for one in levels]
    yield Group("spec verify: levels", "specledger/verify/levels", ladder, derived=True)
    left = [_unchecked(evidence, one) for one in verification.unchecked]
    if left:
        yield Group("spec verify: not checked", "specledger/verify/unchecked", left, derived=True)


def _facts(check: verified.Check) -> dict[str, Any]:
    return {"number": check.number, "name": check.name, "level": check.level.value, "status": check.status.value}


def _of_verified(evidence: str, check: verified.Check) -> Item:
    id_ = check.code or check.level.value
    page = explain(id_)
    says = page.title if page is not None else NAMES[check.level]
    why = check.message or "no reason is known"
    shown = check.status is not Status.PASSED
    name = f"{check.number}. {check.name}"
    result = Result(
        f"{check.status}: {check.name}: {why}",
        ["verify", printable(evidence), id_, printable(check.name)],
        [(f"check {check.number}: {check.name}", "check")],
        _facts(check),
    )
    code = {} if check.code is None else {"code": check.code}
    return Item(
        id=name,
        title=check.code or check.status.value,
        outcome=_OF_STATUS[check.status],
        text=f"{evidence}: {name}: {why}",
        rule=Rule(id_, says, page.text if page is not None else f"A check of level {id_}."),
        type=id_ if check.code else check.status.value,
        place=Place(file=evidence),
        results=[result] if shown else (),
        lines=[check.message] if check.message else (),
        properties={"level": check.level.value, **code},
    )


def _of_level(evidence: str, one: LevelStatus, asked: frozenset[verified.Level] | None) -> Item:
    outcome = {Reached.REACHED: Outcome.PASSED, Reached.REFUTED: Outcome.FAILED}.get(one.status, Outcome.UNTESTED)
    if outcome is Outcome.UNTESTED and (asked is None or one.level in asked):
        outcome = Outcome.CANNOT_TELL
    id_, code = one.level.value, {} if one.code is None else {"code": one.code}
    return Item(
        id=f"{id_} {one.name}",
        title=f"{id_} {one.status}",
        outcome=outcome,
        text=f"{evidence}: {one.name}: {one.why}",
        rule=Rule(id_, one.name, one.name),
        type=one.code or one.status.value,
        lines=[one.why] if one.why else (),
        properties={"level": id_, **code},
        annotated=outcome is Outcome.CANNOT_TELL,
    )


def _unchecked(evidence: str, what: str) -> Item:
    text = f"{evidence}: {what}"
    return Item(what, "not checked", Outcome.UNTESTED, text, Rule("unchecked", what, what), "not checked")


# Findings


def _of_findings(about: str, passed: Sequence[str], findings: Sequence[Diagnostic], not_run: bool) -> Group:
    items = [Item(one, one, Outcome.PASSED, one, Rule("passed", one, one), "passed") for one in passed]
    items += [_of_finding(one, not_run) for one in findings]
    return Group(about.replace("specledger", "spec").replace("/", " "), about, items)


def _of_finding(finding: Diagnostic, not_run: bool) -> Item:
    page = explain(finding.code)
    assert page is not None  # noqa: S101 - a finding has a registered code
    hint = f" ({finding.hint})" if finding.hint is not None else ""
    file = finding.span.file if finding.span else None
    text = printable(f"{finding.message}{hint}")
    return Item(
        id=str(finding.span or finding.code),
        title=finding.code,
        outcome=Outcome.FAILED,
        text=text,
        rule=Rule(finding.code, page.title, page.text),
        type=finding.code,
        place=Place(span=finding.span),
        results=[Result(text, [finding.code, file, printable(finding.message)])],
        lines=[text],
        warning=finding.severity is Severity.WARNING,
        error=not_run,
    )
