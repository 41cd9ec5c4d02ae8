"""What a report of bundles does not show, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from specledger.report.held_claims import NO_PROOF
from specledger.report.model import Replay, Subject
from specledger.verify.assurance_levels import Reached, signed_status

NEVER_SHOWN: Final = "A check passes by what its spec says; whether the spec says enough is not judged."
"""What no report shows."""
NOT_LOOKED_AT: Final = "Who made the evidence, and when, was not checked."


def who_signed(subjects: Sequence[Subject]) -> str:
    """What is known of who signed the evidence, by the keys that the reader trusts, if any were given."""
    if not subjects or not all(subject.evidence.trusting for subject in subjects):
        return NOT_LOOKED_AT
    found = [signed_status(subject.evidence.verification) for subject in subjects]
    lacking = {status.why: None for status in found if status.status is not Reached.REACHED}
    if lacking:
        return f"Signatures of trusted keys were asked for, and not found: {'; '.join(lacking)}."
    signers = {status.why: None for status in found}
    return f"Keys that the reader trusts signed the evidence ({'; '.join(signers)}); when was not checked."


def replay_text(subjects: Sequence[Subject]) -> str:
    """Whether bundles were replayed for a report, in a few words; if they differ, how many of them were not."""
    counts = Counter(subject.replay for subject in subjects)
    if len(counts) == 1:
        return next(iter(counts)).value
    return ", ".join(f"{counts[replay]} of {len(subjects)} bundles {replay}" for replay in Replay if counts[replay])


def not_shown(subjects: Sequence[Subject]) -> tuple[str, ...]:
    """What a report of bundles does not show."""
    proof = (NO_PROOF,) if any(subject.reading.challenged for subject in subjects) else ()
    never = (*proof, who_signed(subjects), NEVER_SHOWN)
    if all(subject.replay is Replay.DONE for subject in subjects):
        return never
    text = replay_text(subjects)
    first = f"{text[0].upper()}{text[1:]}: `spec verify` makes the runs again and compares every byte."
    if any(subject.reading.tells_replay and subject.replay is not Replay.DONE for subject in subjects):
        first += " What receipts of a suite say about replay was recorded when the suite ran."
    return (first, *never)
