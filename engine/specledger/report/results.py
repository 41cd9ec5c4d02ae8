"""What evidence says of each requirement, in one form that every format is written from: checks and their observations.

Decides the five outcomes, what counts as a check, and how much of each is told. Refuses to know formats, and to run
anything: all of it follows from bundles of which no check of the evidence failed.

The outcomes are those of the W3C Evaluation and Report Language (EARL 1.0, 2.7): an error of the engine is neither a
pass nor a refutation, and what was never looked at stands in the report as a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.verdict import Verdict
from specledger.report.markup import shorten

FORMAT: Final = "specledger/report/v1"

MOST_OBSERVATIONS: Final = 25
"""Observations of one check; the others are counted."""
LONGEST: Final = 900
"""Characters of one text that evidence supplies."""

NOT_SHOWN: Final = (
    "Nothing was replayed: `spec verify` makes the runs again and compares every byte.",
    "Who made the evidence, and when, was not checked.",
    "A check passes by what its spec says; whether the spec says enough is not judged.",
)
"""What no report shows."""


class Outcome(StrEnum):
    """What is known of a requirement."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT_TELL = "cannot tell"
    NOT_APPLICABLE = "not applicable"
    UNTESTED = "untested"


WORST_FIRST: Final = (
    Outcome.FAILED,
    Outcome.CANNOT_TELL,
    Outcome.UNTESTED,
    Outcome.PASSED,
    Outcome.NOT_APPLICABLE,
)
"""Of several outcomes the first of these is that of the whole: what does not apply takes nothing from what passed."""

OF_VERDICT: Final[Mapping[Verdict, Outcome]] = {
    Verdict.PASS: Outcome.PASSED,
    Verdict.FAIL: Outcome.FAILED,
    Verdict.INCONCLUSIVE: Outcome.CANNOT_TELL,
    Verdict.ERROR: Outcome.CANNOT_TELL,
}


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that a receipt shows of a check.

    Attributes:
        what: What happened, in a word or two.
        detail: The witness, cause or expression as text of a bounded length.
        run: The run of a suite that it is about, or None.
        episode, t: When in the run; None where it is about no step.
        seq: The number of the receipt.
        digest: Its digest, which the next receipt names.
    """

    what: str
    detail: str
    run: str | None
    episode: int | None
    t: int | None
    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement that a subject's evidence speaks of.

    Attributes:
        id: What it is called in every bundle: `invariant/<name>`, `probe/<name>`, `check/<id>`, `law/<name>` ...
        says: What is required, in words or as the expression.
        spec: The key of the spec that says it, or None for what the engine requires of every run.
        outcome: What is known.
        error: Whether it is not known because something could not be evaluated.
        warning: Whether a breach is one that its spec only warns of.
        opportunities: How often it could have failed.
        failures: How often it did; 1 of what is judged once and failed.
        why: Why nothing is known, or what is known beside it; may be empty.
        observations: The first receipts that say so.
        more: How many further ones there are.
        once: Whether it is judged once over all opportunities, not at each.
    """

    id: str
    says: str
    spec: str | None
    outcome: Outcome
    error: bool
    warning: bool
    opportunities: int
    failures: int
    why: str
    observations: tuple[Observation, ...] = ()
    more: int = 0
    once: bool = False

    @property
    def tally(self) -> str:
        """How often it failed of how many times, or, of what is judged once, over how many opportunities."""
        if self.once:
            return f"over {self.opportunities} {'opportunity' if self.opportunities == 1 else 'opportunities'}"
        return f"{self.failures} of {self.opportunities} times"


@dataclass(frozen=True, slots=True)
class Subject:
    """What one bundle shows.

    Attributes:
        name, kind, doc: Of the spec that was run.
        root: Its key.
        manifest: The bundle's manifest.
        verification: The checks that were made of the evidence: number, name, status, message.
        checks: In the order of the evidence.
        figures: Of a suite the bodies of its `figure` receipts.
        names: The name of every spec that the run refers to, by kind.
    """

    name: str
    kind: str
    doc: str
    root: str
    manifest: Mapping[str, Any]
    verification: tuple[Mapping[str, Any], ...]
    checks: tuple[Check, ...]
    figures: tuple[Mapping[str, Any], ...] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the result."""
        return Verdict(self.manifest["result"]["verdict"])


@dataclass(frozen=True, slots=True)
class Waiver:
    """Somebody's word that a control need not be met for a while.

    Attributes:
        owner, reason: Whose, and why.
        until: The last day on which it counts, as `YYYY-MM-DD`.
        state: `active`, `expired`, or `no date` where nobody said which day it is; only an active one counts.
    """

    owner: str
    reason: str
    until: str
    state: str


@dataclass(frozen=True, slots=True)
class Control:
    """One control of a profile, judged from bundles.

    Attributes:
        id, section, says, status: As the profile says.
        outcome: What the evidence shows.
        why: What the profile or the judging adds to that; may be empty.
        rows: What was found of each check of evidence that it names.
        tests: The tests of the project that show it.
        ran: What each of these came to when somebody ran it; untested where nobody says.
        waiver: If there is one.
    """

    id: str
    section: str
    says: str
    status: str
    outcome: Outcome
    why: str
    rows: tuple[Row, ...]
    tests: tuple[str, ...]
    waiver: Waiver | None
    ran: tuple[Outcome, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether it passed, does not apply, or is waived."""
        waived = self.waiver is not None and self.waiver.state == "active"
        return waived or self.outcome in (Outcome.PASSED, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Row:
    """A check of evidence that a control names, in one bundle; `subject` is its place in the report, None if nowhere.

    Attributes:
        check: What the control names, or the check that was found for it.
        subject: The place of the bundle in the report, or None if no bundle has such a check.
        outcome: What is known of it.
    """

    check: str
    subject: int | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Judgement:
    """What bundles show of a profile.

    Attributes:
        name, source, doc: Of the profile.
        digest: Of its resolved form.
        date: The day for which waivers were looked at, or None.
        controls: In the order of the profile.
    """

    name: str
    source: str
    doc: str
    digest: str
    date: str | None
    controls: tuple[Control, ...]

    @property
    def verdict(self) -> Verdict:
        """FAIL if a control failed, else INCONCLUSIVE if one is not known; what is waived counts for neither."""
        left = [control.outcome for control in self.controls if not control.settled]
        if Outcome.FAILED in left:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if left or not self.controls else Verdict.PASS


@dataclass(frozen=True, slots=True)
class Report:
    """What is told of one or more bundles, and of a profile if one was asked for."""

    subjects: tuple[Subject, ...]
    judgement: Judgement | None = None


def counted(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many there are of each outcome, none left out."""
    found = Counter(outcomes)
    return {outcome.value: found[outcome] for outcome in Outcome}


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of the whole; of nothing it is untested."""
    return min(outcomes, key=WORST_FIRST.index, default=Outcome.UNTESTED)


def evidence_words(control: Control, subjects: Sequence[Subject]) -> str:
    """What was found of each check that a control names, and of several bundles in which, by name and number."""
    found = []
    for row in control.rows:
        where = ""
        if len(subjects) > 1 and row.subject is not None:
            where = f" in {row.subject + 1} {subjects[row.subject].name}"
        found.append(f"{row.check}{where}: {row.outcome}")
    return "; ".join(found)


def told(value: Any) -> str:
    """A value of the evidence as text of a bounded length; empty for none.

    Raises:
        TypeError: It is no JSON.
    """
    if value is None or value == {}:
        return ""
    try:
        text = value if isinstance(value, str) else canonical_bytes(value).decode()
    except NotCanonical as error:
        raise TypeError(str(error)) from None
    return shorten(text, LONGEST)
