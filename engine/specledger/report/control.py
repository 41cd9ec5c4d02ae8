"""The controls of a profile with what bundles show of them, and the judgement that follows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from specledger.core.verdict import Verdict
from specledger.report.outcome import SETTLED, WAIVED, Outcome


class Waiver(Struct, frozen=True):
    """A statement that a control need not be met for a while.

    Attributes:
        until: The last day on which the waiver counts, as `YYYY-MM-DD`.
        state: `active`, `expired`, or `no date` if no date was given; only an active one counts.
    """

    owner: str
    reason: str
    until: str
    state: str


class Match(Struct, frozen=True):
    """A check of evidence that a control names, in one bundle.

    Attributes:
        check: The id of the check that was found, or what the control names.
        subject: The place of the bundle in the report, or None if no bundle has such a check.
        error: Whether it is unknown because something could not be evaluated.
        joint: Whether it is about all bundles of the report.
    """

    check: str
    subject: int | None
    outcome: Outcome
    error: bool = False
    joint: bool = False

    def text(self, bundles: Sequence[str]) -> str:
        """The check and its outcome; with the names of several bundles, in which of them."""
        of = "" if len(bundles) < 2 or self.subject is None else f" in {bundles[self.subject]}"
        return f"{self.check}{' of all bundles' if self.joint else of}: {self.outcome}"


class Control(Struct, frozen=True):
    """One control of a profile with what the evidence shows; `ran` has the outcome of each of its tests."""

    id: str
    section: str
    says: str
    status: str
    outcome: Outcome
    why: str
    rows: tuple[Match, ...]
    tests: tuple[str, ...]
    waiver: Waiver | None
    ran: tuple[Outcome, ...] = ()

    @property
    def waived(self) -> bool:
        """Whether its waiver is active."""
        return self.waiver is not None and self.waiver.state == "active"

    @property
    def settled(self) -> bool:
        """Whether it passed, does not apply, or is waived; what is met in another way is settled by a waiver alone."""
        return self.waived or self.outcome in SETTLED

    @property
    def mark(self) -> str:
        """Its outcome as reports print it: `WAIVED` where an active waiver stands for what was not met."""
        return WAIVED if self.waived and self.outcome not in SETTLED else self.outcome.value

    @property
    def waiver_text(self) -> str:
        """The waiver in one line, with what it does; empty without one."""
        waiver = self.waiver
        if waiver is None:
            return ""
        if waiver.state == "active":
            begin = f"{WAIVED} ({self.outcome})" if self.mark == WAIVED else "a waiver that is not needed,"
            return f"{begin} by {waiver.owner} until {waiver.until}: {waiver.reason}"
        if waiver.state == "expired":
            return f"the waiver of {waiver.owner} expired on {waiver.until}: {waiver.reason}"
        return f"the waiver of {waiver.owner} until {waiver.until} counts only with --date: {waiver.reason}"

    def evidence_text(self, bundles: Sequence[str]) -> str:
        """The outcome of each check that it names; with the names of several bundles, in which of them."""
        return "; ".join(row.text(bundles) for row in self.rows)


class Judgement(Struct, frozen=True):
    """What bundles show of a profile on a day, on none if it is None; the digest is that of the resolved profile."""

    name: str
    source: str
    doc: str
    digest: str
    date: str | None
    controls: tuple[Control, ...]

    @property
    def mark(self) -> str:
        """The verdict as reports print it: `WAIVED` for a pass that needs a waiver."""
        waived = self.verdict is Verdict.PASS and any(control.mark == WAIVED for control in self.controls)
        return WAIVED if waived else self.verdict.value

    @property
    def verdict(self) -> Verdict:
        """ERROR if something that a control names could not be evaluated, FAIL if one failed.

        Else INCONCLUSIVE if one is not settled; waived controls count for none of these.
        """
        left = [control for control in self.controls if not control.settled]
        if any(row.error for control in left for row in control.rows):
            return Verdict.ERROR
        if any(control.outcome is Outcome.FAILED for control in left):
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if left or not self.controls else Verdict.PASS
