"""The items of a report of any source, from which JUnit, SARIF and GitHub annotations are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostic, Severity, printable, title_of
from specledger.core.spans import Span
from specledger.evidence.layout import ENGINE
from specledger.load.doc_pages import page_of
from specledger.report.control import Control, Judgement
from specledger.report.model import VERIFIED, Check, Observation, Replay, Report, Subject, counted
from specledger.report.outcome import OF_VERDICT, WAIVED, Outcome
from specledger.report.overview import reason_text
from specledger.report.titles import bundle_names
from specledger.verify import checks as verified
from specledger.verify.assurance_levels import NAMES, LevelStatus, Reached, headline, level_statuses
from specledger.verify.check_names import REPLAY, REPLAY_OF_RUNS
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
    """A requirement as a rule of a tool; `help` is a longer text."""

    id: str
    says: str
    help: str
    properties: Mapping[str, Any] = field(default_factory=dict)


class Result(Struct, frozen=True):
    """One place where an item needs attention.

    `identity` distinguishes it over time and contains no digest; `logical` are places that are not in files, each as
    (name, kind).
    """

    text: str
    identity: Sequence[Any]
    logical: Sequence[tuple[str, str]] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)


class Item(Struct, frozen=True):
    """One requirement or finding with its outcome.

    Attributes:
        type: The diagnostic code, else the outcome.
        warning: Whether a failure is only a warning.
        error: Whether something could not be done, rather than a requirement not met.
        annotated: Whether it is shown by itself, where not every item is.
        waiver: The control whose active waiver covers it.
        derived: Whether it follows from other items.
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
    derived: bool = False

    @property
    def covered_text(self) -> str:
        """Its text, after the waiver that covers it."""
        if self.waiver is None:
            return self.text
        return f"{self.waiver.waiver_text} (control {self.waiver.id}); {self.text}"


class Group(Struct, frozen=True):
    """The items of one bundle, profile, verification or check of specs.

    It is called `name` as a test suite and `about` as an automated check; `engine` made the evidence.
    """

    name: str
    about: str
    items: Sequence[Item]
    engine: Mapping[str, str] = field(default_factory=lambda: dict(ENGINE))
    properties: Mapping[str, Any] = field(default_factory=dict)


def groups_of(report: Report) -> list[Group]:
    """The groups of a report: its bundles, its profile, its verifications, its findings."""
    groups = [_of_subject(report, index) for index in range(len(report.subjects))]
    if report.judgement is not None:
        groups.append(_of_judgement(report.judgement, report.subjects))
    groups += [_of_verification(*verification) for verification in report.verifications]
    if report.findings is not None:
        items = [
            Item(entry, entry, Outcome.PASSED, entry, Rule("passed", entry, entry), "passed") for entry in report.passed
        ]
        items += [_of_finding(entry, report.not_run) for entry in report.findings]
        groups.append(Group(report.about.replace("specledger", "spec").replace("/", " "), report.about, items))
    return groups


# Evidence and profiles


def _of_subject(report: Report, index: int) -> Group:
    subject, waivers = report.subjects[index], report.waivers(index)
    manifest = subject.manifest
    properties = {
        "kind": subject.kind,
        "verdict": subject.verdict.value,
        **{name: manifest[name] for name in ("run", "specs", "receipts")},
        "outcomes": counted(report.marks(index)),
        "replay": subject.replay.value,
    }
    items = [_of_check(subject, check, waivers.get(check.id)) for check in subject.checks]
    items += [_of_replay(subject), *_of_verdict(subject)]
    about = f"specledger/{subject.kind}/{subject.title}"
    return Group(f"{subject.kind}.{subject.title}", about, items, manifest["engine"], properties)


def _rule(id_: str, says: str, outcome: Outcome) -> Rule:
    help_ = f"{says} (was: {outcome}). The receipts that show it are named in the results."
    return Rule(id_, says, help_, {"outcome": outcome.value})


def _of_check(subject: Subject, check: Check, waiver: Control | None) -> Item:
    first, key = next(iter(check.observations), None), check.spec or subject.root
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
        place=Place(spec=key, file=subject.evidence.source_of(key)),
        results=[_of_observation(subject, check, observation) for observation in shown],
        lines=[*_lines(check)] if check.outcome in _OPEN else (),
        warning=check.warning,
        waiver=waiver,
    )


_OF_REPLAY: Final = {
    Replay.DONE: Outcome.PASSED,
    Replay.OWN: Outcome.NOT_APPLICABLE,
    Replay.NONE: Outcome.CANNOT_TELL,
}


def _of_replay(subject: Subject) -> Item:
    """That the runs were made again; without it, what passed is what the receipts say, whoever wrote them."""
    text = subject.replay.value
    if subject.replay is Replay.NONE:
        names = (REPLAY, REPLAY_OF_RUNS)
        why = next(
            (verified_check["message"] for verified_check in subject.verification if verified_check["name"] in names),
            "no run can be made again",
        )
        text = f"{text}: {why}; the other checks rest on what the receipts say (`spec report --replay`)"
    return _of_whole(subject, "replay", "replay of the runs gives the same bytes", _OF_REPLAY[subject.replay], text)


def _of_verdict(subject: Subject) -> Iterator[Item]:
    """The verdict of a bundle, where it is no pass and no check says so: by its checks alone it would be one."""
    outcome = OF_VERDICT[subject.verdict]
    if outcome is not Outcome.PASSED and all(check.outcome is not outcome for check in subject.checks):
        text = f"{subject.verdict}: {reason_text(Report((subject,)))}"
        yield _of_whole(subject, "verdict", "the verdict is PASS", outcome, text)


def _of_whole(subject: Subject, id_: str, says: str, outcome: Outcome, text: str) -> Item:
    """An item about a bundle as a whole."""
    identity = [subject.kind, subject.title, id_]
    shown = [Result(text, identity, [(subject.root, "specification")], {"outcome": outcome.value})]
    return Item(
        id=id_,
        title=f"{subject.title}: {id_}",
        outcome=outcome,
        text=text,
        rule=_rule(id_, says, outcome),
        type=outcome.value,
        results=shown if outcome in SHOWN else (),
        lines=[says] if outcome in _OPEN else (),
    )


def _of_observation(subject: Subject, check: Check, seen: Observation | None) -> Result:
    key = check.spec or subject.root
    identity = [subject.kind, subject.title, check.id, key.partition("@")[0]]
    properties = {"outcome": check.outcome.value, "run": subject.manifest["run"]}
    if seen is None:
        return Result(f"{check.outcome}: {check.why or check.says}", identity, [(key, "specification")], properties)
    path = "/".join([*seen.place, f"receipt {seen.seq}"])
    return Result(
        f"{check.outcome}: {seen.what} {seen.detail}".strip(),
        [*identity, seen.run, seen.episode, seen.t, seen.what],
        [(key, "specification"), (path, "receipt")],
        {**properties, "seq": seen.seq, "receipt": seen.digest},
    )


def _lines(check: Check) -> Iterator[str]:
    """The requirement, then its observations; those that say the same are one line, with where the first one is."""
    yield check.says
    alike: dict[tuple[str, str], list[Observation]] = {}
    for observation in check.observations:
        alike.setdefault((observation.what, observation.detail), []).append(observation)
    for (what, detail), seen in alike.items():
        first = seen[0]
        position = ", ".join(["", *first.place])
        more = f"  (and {len(seen) - 1} more, the last in receipt {seen[-1].seq})" if len(seen) > 1 else ""
        yield f"receipt {first.seq}{position}: {what}  {detail}{more}"
    if check.more:
        yield f"and {check.more} more"


def _of_judgement(judgement: Judgement, subjects: Sequence[Subject]) -> Group:
    properties = {
        "source": judgement.source,
        "verdict": judgement.mark,
        "specs": judgement.digest,
        "date": judgement.date or "none",
        "outcomes": counted(control.mark for control in judgement.controls),
    }
    items = [_of_control(judgement, control, subjects) for control in judgement.controls]
    about = f"specledger/profile/{judgement.name}"
    return Group(f"profile.{judgement.name}", about, items, properties=properties)


def _of_control(judgement: Judgement, control: Control, subjects: Sequence[Subject]) -> Item:
    rows = control.evidence_text(bundle_names(subjects))
    inactive = "" if control.mark == WAIVED else control.waiver_text
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
        waiver=control if control.mark == WAIVED else None,
    )


# Verifications

_OF_STATUS: Final = {
    Status.PASSED: Outcome.PASSED,
    Status.FAILED: Outcome.FAILED,
    Status.NOTHING: Outcome.NOT_APPLICABLE,
    Status.NOT_MADE: Outcome.UNTESTED,
}


def _of_verification(evidence: str, verification: Verification) -> Group:
    """The numbered checks, the levels, what was not checked; a level that was asked for and not reached is unknown."""
    levels = level_statuses(verification)
    properties = {
        "evidence": evidence,
        "verdict": verification.verdict.value,
        "headline": headline(verification),
        "levels": {entry.level.value: entry.status.value for entry in levels},
        "unchecked": list(verification.unchecked),
        "checks": [_facts(check) for check in verification.checks],
    }
    items = [_of_verified(evidence, check) for check in verification.checks]
    items += [_of_level(evidence, entry, verification.asked) for entry in levels]
    items += [_of_unchecked(evidence, entry) for entry in verification.unchecked]
    return Group(f"spec verify {evidence}", VERIFIED, items, properties=properties)


def _facts(check: verified.Check) -> dict[str, Any]:
    return {"number": check.number, "name": check.name, "level": check.level.value, "status": check.status.value}


def _of_verified(evidence: str, check: verified.Check) -> Item:
    id_ = check.code or check.level.value
    says = title_of(id_) or NAMES[check.level]
    why = check.message or "no reason is known"
    shown = _OF_STATUS[check.status] in SHOWN
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
        rule=Rule(id_, says, page_of(id_).about if check.code else f"A check of level {id_}."),
        type=id_ if check.code else check.status.value,
        place=Place(file=evidence),
        results=[result] if shown else (),
        lines=[check.message] if check.message else (),
        properties={"level": check.level.value, **code},
    )


def _of_level(evidence: str, level: LevelStatus, asked: frozenset[verified.Level] | None) -> Item:
    outcome = {Reached.REACHED: Outcome.PASSED, Reached.REFUTED: Outcome.FAILED}.get(level.status, Outcome.UNTESTED)
    if outcome is Outcome.UNTESTED and (asked is None or level.level in asked):
        outcome = Outcome.CANNOT_TELL
    id_, code = level.level.value, {} if level.code is None else {"code": level.code}
    return Item(
        id=f"{id_} {level.name}",
        title=f"{id_} {level.status}",
        outcome=outcome,
        text=f"{evidence}: {level.name}: {level.why}",
        rule=Rule(id_, level.name, level.name),
        type=level.code or level.status.value,
        lines=[level.why] if level.why else (),
        properties={"level": id_, **code},
        annotated=outcome is Outcome.CANNOT_TELL,
        derived=True,
    )


def _of_unchecked(evidence: str, what: str) -> Item:
    rule = Rule("unchecked", what, what)
    return Item(what, "not checked", Outcome.UNTESTED, f"{evidence}: {what}", rule, "not checked", derived=True)


# Findings


def _of_finding(finding: Diagnostic, not_run: bool) -> Item:
    title = title_of(finding.code) or ""  # a finding has a registered code
    hint = f" ({finding.hint})" if finding.hint is not None else ""
    file = finding.span.file if finding.span else None
    text = printable(f"{finding.message}{hint}")
    return Item(
        id=str(finding.span or finding.code),
        title=finding.code,
        outcome=Outcome.FAILED,
        text=text,
        rule=Rule(finding.code, title, page_of(finding.code).about),
        type=finding.code,
        place=Place(span=finding.span),
        results=[Result(text, [finding.code, file, printable(finding.message)])],
        lines=[text],
        warning=finding.severity is Severity.WARNING,
        error=not_run,
    )
