"""The judgement of a profile: its controls, each with the checks of evidence that were found for it, and waivers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from specledger.core.verdict import Verdict
from specledger.report.model import Outcome, Subject, bundle_names


class Waiver(Struct, frozen=True):
    """A statement that a control need not be met for a while.

    Attributes:
        owner, reason: Who waives it, and why.
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
        outcome: Its outcome.
    """

    check: str
    subject: int | None
    outcome: Outcome


class Control(Struct, frozen=True):
    """One control of a profile.

    Attributes:
        id, section, says, status: As in the profile.
        outcome: What the evidence shows.
        why: The reason; may be empty.
        rows: The checks of evidence that were found for it.
        tests: The project's tests that it names.
        ran: The outcome of each of these tests.
        waiver: Its waiver, if it has one.
    """

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
        return self.waived or self.outcome in (Outcome.PASSED, Outcome.NOT_APPLICABLE)

    @property
    def waiver_text(self) -> str:
        """The waiver in one line; empty without one."""
        held = self.waiver
        return "" if held is None else f"waiver of {held.owner} until {held.until} ({held.state}): {held.reason}"

    def evidence_text(self, subjects: Sequence[Subject]) -> str:
        """The outcome of each check that it names; with several bundles, in which of them."""
        found = []
        for row in self.rows:
            where = ""
            if len(subjects) > 1 and row.subject is not None:
                where = f" in {bundle_names(subjects)[row.subject]}"
            found.append(f"{row.check}{where}: {row.outcome}")
        return "; ".join(found)


class Judgement(Struct, frozen=True):
    """What bundles show of a profile.

    Attributes:
        name, source, doc: Of the profile.
        digest: The digest of its resolved form.
        date: The day for which waivers were judged, or None.
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
        """FAIL if a control failed, else INCONCLUSIVE if one is not settled; waived controls count for neither."""
        left = [control.outcome for control in self.controls if not control.settled]
        if Outcome.FAILED in left:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if left or not self.controls else Verdict.PASS
