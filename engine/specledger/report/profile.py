"""Judges the controls of a profile by bundles; runs no test, and takes the day for waivers as an argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from specledger.load import Bundle
from specledger.report import judgement
from specledger.report.judgement import Judgement, Match
from specledger.report.model import Outcome, Subject, combined
from specledger.report.profile_rules import is_of, name_question
from specledger.spec.profile import Control, EvidenceCheck, Profile

_TESTS: Final = "only tests of the project show it, and a report does not run them"
_NOWHERE: Final = "no given bundle has such a check"
_UNMADE: Final = frozenset({"open", "deferred"})


def judge(
    profile: Bundle, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None = None
) -> Judgement:
    """Judge every control of a profile.

    Args:
        profile: A resolved profile.
        subjects: What bundles show, in the order of the report.
        date: The day for which waivers are judged, `YYYY-MM-DD`; without it, none counts.
        tests: The outcome of each test of the project, by its name; without it, a control that also names evidence is
            judged by that alone.
    """
    model = profile.main.model
    assert isinstance(model, Profile)  # noqa: S101 - it was loaded as one
    controls = tuple(_control(control, subjects, date, tests) for control in model.controls)
    return Judgement(model.name, model.source, model.doc or "", profile.digest, date, controls)


def _control(
    control: Control, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None
) -> judgement.Control:
    named = enumerate(control.evidence)
    rows = tuple(row for place, each in named for row in _rows(control.id, place, each, subjects))
    ran = tuple((tests or {}).get(name, Outcome.UNTESTED) for name in control.checks)
    outcome, reason = _outcome(control, rows, None if tests is None else ran)
    why = f"{control.status}: {control.why}" if control.status in _UNMADE else control.why
    return judgement.Control(
        id=control.id,
        section=control.section,
        says=control.says,
        status=control.status,
        outcome=outcome,
        why="; ".join(words for words in (why, reason) if words),
        rows=rows,
        tests=tuple(control.checks),
        ran=ran,
        waiver=_waiver(control, date),
    )


def _rows(control: str, place: int, named: EvidenceCheck, subjects: Sequence[Subject]) -> Iterator[Match]:
    """A match for each bundle that has the check that a control names, or one without a bundle."""
    wanted = named.check or name_question(control, place, named)
    found = [
        Match(check.id, index, check.outcome)
        for index, subject in enumerate(subjects)
        if is_of(named, subject.name, subject.kind)
        for check in subject.checks
        if check.id == wanted or (wanted.endswith("/*") and check.id.startswith(wanted[:-1]))
    ]
    bundle = " ".join(words for words in (named.kind, named.of) if words)
    yield from found or [Match(f"{wanted} of {bundle}" if bundle else wanted, None, Outcome.UNTESTED)]


def _outcome(control: Control, rows: Sequence[Match], tests: Sequence[Outcome] | None) -> tuple[Outcome, str]:
    """The outcome of a control, and the reason."""
    if control.status == "not applicable":
        return Outcome.NOT_APPLICABLE, ""
    if control.status in _UNMADE:
        return Outcome.UNTESTED, ""
    if not rows and tests is None:
        return Outcome.UNTESTED, _TESTS
    reason = _NOWHERE if any(row.subject is None for row in rows) else ""
    outcome = combined([*(row.outcome for row in rows), *(tests or ())])
    differs = control.status == "differs" and outcome is Outcome.PASSED
    return Outcome.DIFFERS if differs else outcome, reason


def _waiver(control: Control, date: str | None) -> judgement.Waiver | None:
    held = control.waiver
    if held is None:
        return None
    state = "no date" if date is None else "active" if date <= held.until else "expired"
    return judgement.Waiver(held.owner, held.reason, held.until, state)
