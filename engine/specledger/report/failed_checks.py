"""The checks of a bundle that failed or are not decided: what was required, what was found, and where both stand."""

from __future__ import annotations

from typing import Final

from specledger.evidence.layout import SOURCES, SPECS
from specledger.report.model import Check, Subject
from specledger.report.outcome import Outcome
from specledger.report.sections import (
    Code,
    EpisodeLink,
    Place,
    Prose,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    check_anchor,
)

_INTRO: Final = "What was required, what was found first, and the receipt that shows it."
_HEADS: Final = ("check", "required", "found first", "times")
_OPEN: Final = (Outcome.FAILED, Outcome.CANNOT_TELL)
_LONGEST: Final = 240  # characters of a text in a row
_LED_BY: Final = "checks"
"""The table of a suite's checks, which says the same of each and comes first on its page."""


def failed_section(subject: Subject) -> Section:
    """A row for each of several such checks; none for one alone, which the head of a report tells in full."""
    checks = [check for check in subject.checks if check.outcome in _OPEN]
    shown = [check for check in checks if not check_anchor(check.id).startswith(f"{_LED_BY}.")]
    rows = [_row(subject, check) for check in shown] if len(checks) > 1 else []
    return Section("failed", "What failed or is not decided", _INTRO, _HEADS, rows)


def _row(subject: Subject, check: Check) -> Row:
    first = next(iter(check.observations), None)
    places: list[Place] = [RowLink(check_anchor(check.id), "its row")]
    if first is not None and first.step is not None:
        places.append(EpisodeLink(0, *first.step))
    places += [ReceiptLink(first.seq)] if first is not None else []
    cells = (
        Prose(check.says.removeprefix(f"{subject.doc}: "), _LONGEST),
        Quoted(_found(subject, check), _LONGEST),
        Quoted(check.tally),
    )
    stands = written_in(subject, check)
    return Row(check.id, check.outcome.value, cells, [("stands in", Code(stands))] if stands else [], places)


def _found(subject: Subject, check: Check) -> str:
    """Where it failed first, with the values that show it; else why it failed or is not decided."""
    first = next(iter(check.observations), None)
    found = subject.reading.witness(check.id) or check.why
    if first is not None and not found:
        found = first.what if first.detail in first.what else f"{first.what} {first.detail}"
        found = found.replace(check.says, "it is not so")
    where = "" if first is None else ", ".join(first.place)
    return ": ".join(filter(None, (where, found)))


def written_in(subject: Subject, check: Check) -> str:
    """The file in the bundle that states a requirement, as its author wrote it; empty for one of the engine."""
    if check.spec is None:
        return ""
    kind, _, name = check.spec.partition("@")[0].partition("/")
    file = f"{SOURCES}/{kind}/{name}.yaml"
    return file if (subject.evidence.place / file).is_file() else f"{SPECS}: {kind}/{name}"
