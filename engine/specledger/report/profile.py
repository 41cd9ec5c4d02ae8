"""What bundles show of a profile: each control with what its checks of evidence came to, and its waiver.

Decides the outcome of a control, when a waiver counts, and which checks of the bundles it covers. Refuses to run the
tests that a control names, and to look at a clock: which day it is, the user says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from specledger.load import Bundle
from specledger.report import results
from specledger.report.profile_rules import is_of, name_question
from specledger.report.results import Judgement, Outcome, Report, Row, Subject, combined
from specledger.spec.profile import Control, EvidenceCheck, Profile

_TESTS: Final = "tests of the project show it, and a report does not run them"
_NOWHERE: Final = "no bundle that was given has such a check"
_UNMADE: Final = frozenset({"open", "deferred"})


def judge(
    profile: Bundle, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None = None
) -> Judgement:
    """Judge every control of a profile.

    Args:
        profile: A resolved profile.
        subjects: What bundles show, in the order of the report.
        date: The day for which waivers are looked at, `YYYY-MM-DD`, or None: then none counts.
        tests: What tests of the project came to, by their names; or None, if nobody says. Then a control that names
            evidence too is judged by that alone.
    """
    model = profile.main.model
    assert isinstance(model, Profile)  # noqa: S101 - it was loaded as one
    controls = tuple(_control(control, subjects, date, tests) for control in model.controls)
    return Judgement(model.name, model.source, model.doc or "", profile.digest, date, controls)


def waived(report: Report) -> Mapping[tuple[int, str], results.Control]:
    """The checks of bundles that an active waiver covers, by the bundle's place in the report and the check's id.

    A check that another control names too, which is neither settled nor waived, is covered by nobody's word.

    Returns:
        Of each of them the first control whose waiver it is.
    """
    found: dict[tuple[int, str], results.Control] = {}
    asked: set[tuple[int, str]] = set()
    for control in report.judgement.controls if report.judgement is not None else ():
        named = [(row.subject, row.check) for row in control.rows if row.subject is not None]
        if control.waiver is not None and control.waiver.state == "active":
            for place in named:
                found.setdefault(place, control)
        elif not control.settled:
            asked.update(named)
    return {place: control for place, control in found.items() if place not in asked}


def waiver_words(control: results.Control) -> str:
    """Whose word it is that a control need not be met, until when and why; empty without a waiver."""
    held = control.waiver
    return "" if held is None else f"waiver of {held.owner} until {held.until} ({held.state}): {held.reason}"


def _control(
    control: Control, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None
) -> results.Control:
    named = enumerate(control.evidence)
    rows = tuple(row for place, each in named for row in _rows(control.id, place, each, subjects))
    ran = tuple((tests or {}).get(name, Outcome.UNTESTED) for name in control.checks)
    outcome, said = _outcome(control, rows, None if tests is None else ran)
    why = f"{control.status}: {control.why}" if control.status in _UNMADE else control.why
    return results.Control(
        id=control.id,
        section=control.section,
        says=control.says,
        status=control.status,
        outcome=outcome,
        why="; ".join(words for words in (why, said) if words),
        rows=rows,
        tests=tuple(control.checks),
        ran=ran,
        waiver=_waiver(control, date),
    )


def _rows(control: str, place: int, named: EvidenceCheck, subjects: Sequence[Subject]) -> Iterator[Row]:
    """What was found of what a control names: a row for each bundle that has it, or one that says nowhere."""
    wanted = named.check or name_question(control, place, named)
    found = [
        Row(check.id, index, check.outcome)
        for index, subject in enumerate(subjects)
        if is_of(named, subject.name, subject.kind)
        for check in subject.checks
        if check.id == wanted or (wanted.endswith("/*") and check.id.startswith(wanted[:-1]))
    ]
    bundle = " ".join(words for words in (named.kind, named.of) if words)
    yield from found or [Row(f"{wanted} of {bundle}" if bundle else wanted, None, Outcome.UNTESTED)]


def _outcome(control: Control, rows: Sequence[Row], tests: Sequence[Outcome] | None) -> tuple[Outcome, str]:
    """What is known of a control, and what is said beside it."""
    if control.status == "not applicable":
        return Outcome.NOT_APPLICABLE, ""
    if control.status in _UNMADE:
        return Outcome.UNTESTED, ""
    if not rows and tests is None:
        return Outcome.UNTESTED, _TESTS
    said = _NOWHERE if any(row.subject is None for row in rows) else ""
    return combined([*(row.outcome for row in rows), *(tests or ())]), said


def _waiver(control: Control, date: str | None) -> results.Waiver | None:
    held = control.waiver
    if held is None:
        return None
    state = "no date" if date is None else "active" if date <= held.until else "expired"
    return results.Waiver(held.owner, held.reason, held.until, state)
