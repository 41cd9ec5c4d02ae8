"""What a report of bundles does not show, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from specledger.report.held_claims import NO_PROOF
from specledger.report.model import Replay, Subject

NEVER_SHOWN: Final = (
    "Who made the evidence, and when, was not checked.",
    "A check passes by what its spec says; whether the spec says enough is not judged.",
)
"""What no report shows."""


def replay_text(subjects: Sequence[Subject]) -> str:
    """Whether bundles were replayed for a report, in a few words; if they differ, how many of them were not."""
    counts = Counter(subject.replay for subject in subjects)
    if len(counts) == 1:
        return next(iter(counts)).value
    return ", ".join(f"{counts[replay]} of {len(subjects)} bundles {replay}" for replay in Replay if counts[replay])


def not_shown(subjects: Sequence[Subject]) -> tuple[str, ...]:
    """What a report of bundles does not show."""
    never = (NO_PROOF, *NEVER_SHOWN) if any(subject.reading.challenged for subject in subjects) else NEVER_SHOWN
    if all(subject.replay is Replay.DONE for subject in subjects):
        return never
    text = replay_text(subjects)
    first = f"{text[0].upper()}{text[1:]}: `spec verify` makes the runs again and compares every byte."
    if any(subject.reading.tells_replay and subject.replay is not Replay.DONE for subject in subjects):
        first += " What receipts of a suite say about replay was recorded when the suite ran."
    return (first, *never)
