"""Assurance levels: which of L0 to L5 a verification reached, and why the others were not reached.

A level is reached only if a check of it passed and none is open. L0 is about the evidence alone, and every other level
needs it. The others are independent of each other: who made the evidence (L1), since when it exists (L2), that its log
was only extended (L3), that the specs reproduce it (L4), and that a second evaluator agrees (L5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.verify.check_names import RESULT
from specledger.verify.checks import Check, Level, Status, Verification
from specledger.verify.established import kept_words
from specledger.verify.fork import Against
from specledger.verify.signed import E_EXPECTED, E_UNTRUSTED
from specledger.verify.timestamps import Authorities
from specledger.verify.trust import Trust

FORMAT: Final = "specledger/verification/v1"
"""The format of a verification as JSON; `schemas/results/verification.schema.json` describes it."""

NAMES: Final[Mapping[Level, str]] = {
    Level.INTACT: "intact: files, receipts and result are consistent",
    Level.SIGNED: "signed by trusted keys",
    Level.TIMED: "existed at a time that a trusted authority stamped",
    Level.UNFORKED: "extends a previously seen checkpoint",
    Level.REPLAYED: "replay gives the same bytes",
    Level.JUDGED: "a second evaluator agrees with every verdict of an expression",
}

QUALIFIED: Final = frozenset({Level.TIMED, Level.JUDGED})
"""Levels whose summary repeats what their check found: when, by whom, or how much."""

NEVER_SHOWN: Final = (
    ("no other attempt was left out", "needs a log in which runs are entered before they are made"),
    ("the specs are the right ones", "compare their digest with one that you got elsewhere"),
)
"""What no verification of a single bundle shows, and what would show it."""

UNEXPECTED: Final = "NOT THE EXPECTED EVIDENCE"
"""What intact evidence is called that is not the one of the trust file; either of both may be the wrong one."""

_NOT_ASKED: Final[Mapping[Level, str]] = {
    Level.INTACT: "there was nothing to check",
    Level.SIGNED: "no trusted keys given (--trust)",
    Level.TIMED: "the evidence holds no time stamp",
    Level.UNFORKED: "no seen checkpoint given (--against, or in the trust file)",
    Level.REPLAYED: "replay does not apply to it",
    Level.JUDGED: "not requested (--judge)",
}


class Reached(StrEnum):
    """What is known of a level."""

    REACHED = "reached"
    REFUTED = "refuted"
    NOT_CHECKED = "not checked"


class LevelStatus(Struct, frozen=True):
    """The status of one assurance level."""

    level: Level
    name: str
    status: Reached
    code: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Reader:
    """What the reader of evidence requests and knows; none of it comes from the evidence.

    Attributes:
        replay: Whether runs are made again.
        trust: The keys that the reader trusts, and what is expected.
        against: Heads that were seen before.
        judge: Whether a second evaluator judges every verdict.
        levels: The levels that must be reached, beside L0 and those that the rest asks for; without any, L4 is.
        proof: The number of the receipt whose inclusion is to be proved, if one is.
        log: A run log that the evidence must be entered in.
        log_head: A head of that log that was seen before.
        authorities: The time-stamping authorities that the reader trusts.
    """

    replay: bool = True
    trust: Trust | None = None
    against: tuple[Against, ...] = ()
    judge: bool = False
    levels: frozenset[Level] = frozenset()
    proof: int | None = None
    log: Path | None = None
    log_head: str | None = None
    authorities: Authorities | None = None

    def __post_init__(self) -> None:
        """Add the head in the trust file to the heads that were seen."""
        if self.trust is not None and self.trust.seen is not None and not any(head.trusted for head in self.against):
            known = Against(self.trust.seen, "the trust file", run=self.trust.run, trusted=True)
            object.__setattr__(self, "against", (*self.against, known))

    @property
    def asked(self) -> frozenset[Level]:
        """The levels that the verdict is about: what the rest asks for, and those that were named, else replay."""
        more = {
            Level.SIGNED: self.trust,
            Level.TIMED: self.authorities,
            Level.UNFORKED: self.against,
            Level.JUDGED: self.judge,
        }
        named = self.levels or {Level.REPLAYED}
        return frozenset({Level.INTACT, *named, *(level for level, wanted in more.items() if wanted)})


def level_statuses(verification: Verification) -> tuple[LevelStatus, ...]:
    """The status of every level, from the checks that were made."""
    return tuple(
        _status(level, [check for check in verification.checks if check.level is level], verification)
        for level in Level
    )


def _status(level: Level, checks: Sequence[Check], verification: Verification) -> LevelStatus:
    name = NAMES[level]
    failed = next((check for check in checks if check.status is Status.FAILED), None)
    if failed is not None:
        return LevelStatus(level, name, Reached.REFUTED, failed.code, failed.message or "")
    open_ = next((check for check in checks if check.status is Status.NOT_MADE), None)
    if open_ is not None:
        return LevelStatus(level, name, Reached.NOT_CHECKED, open_.code, open_.message or "")
    if not any(check.status is Status.PASSED for check in checks):
        return LevelStatus(level, name, Reached.NOT_CHECKED, None, _unasked(level, verification))
    messages = [check.message for check in checks if check.message]
    return LevelStatus(level, name, Reached.REACHED, None, messages[-1] if messages else "")


def _unasked(level: Level, verification: Verification) -> str:
    """Why there is no check of a level; of refuted evidence, signatures and stamps are not looked for."""
    if not verification.intact and level in (Level.SIGNED, Level.TIMED):
        return "an earlier check failed"
    return "it is unsigned" if level is Level.SIGNED and not verification.signed else _NOT_ASKED[level]


def headline(verification: Verification) -> str:
    """The summary of a verification in a few words: never more than was checked."""
    statuses = {status.level: status for status in level_statuses(verification)}
    if not verification.intact:
        codes = ", ".join(dict.fromkeys(failed_codes(verification)))
        return f"{UNEXPECTED if unexpected(verification) else 'REFUTED'} [{codes}]"
    if statuses[Level.INTACT].status is not Reached.REACHED:
        return "nothing was checked"
    words = ["intact", _signed(verification, statuses[Level.SIGNED])]
    phrases = {
        Level.TIMED: "stamped",
        Level.UNFORKED: "no fork since the seen checkpoint",
        Level.REPLAYED: "replay gives the same bytes",
        Level.JUDGED: "a second evaluator agrees",
    }
    words += [text for level, text in phrases.items() if statuses[level].status is Reached.REACHED]
    if statuses[Level.REPLAYED].status is not Reached.REACHED and any(
        check.level is Level.REPLAYED for check in verification.checks
    ):
        words.append("not replayed")
    if kept := verification.facts.get("recorded", {}).get("withheld"):
        words.append(kept_words(kept))
    return ", ".join(words)


def failed_codes(verification: Verification) -> list[str]:
    """The codes of the checks that failed."""
    return [check.code or "" for check in verification.checks if check.status is Status.FAILED]


def unexpected(verification: Verification) -> bool:
    """Whether nothing was found wrong but that the evidence is another one than the reader's trust file names."""
    return {*failed_codes(verification)} == {E_EXPECTED}


def _signed(verification: Verification, status: LevelStatus) -> str:
    if status.status is Reached.REACHED:
        return "signed by trusted keys"
    if not verification.signed:
        return "unsigned"
    too_few = status.code == E_UNTRUSTED
    return "signed, but by too few trusted keys" if too_few else "signed, but by no trusted key"


def level_of(verification: Verification) -> Level | None:
    """The highest level up to which every one was reached, a time stamp being optional; None if it is not intact."""
    reached = None
    for status in level_statuses(verification):
        if status.status is Reached.REACHED:
            reached = status.level
        elif status.level is not Level.TIMED:
            break
    return reached if verification.intact else None


def signed_status(verification: Verification) -> LevelStatus:
    """Whether trusted keys signed it."""
    return next(status for status in level_statuses(verification) if status.level is Level.SIGNED)


def result_of(verification: Verification) -> str | None:
    """What the run says that it found, where its receipts give the same; None where that was not established."""
    checks = (check for check in verification.checks if check.name == RESULT and verification.intact)
    return next((check.message for check in checks if check.status is Status.PASSED), None)


def unreached(verification: Verification) -> tuple[LevelStatus, ...]:
    """The levels that were asked for and are not reached."""
    asked = verification.asked or frozenset(Level)
    statuses = level_statuses(verification)
    return tuple(status for status in statuses if status.level in asked and status.status is not Reached.REACHED)


def as_json(verification: Verification, evidence: str) -> dict[str, Any]:
    """A verification as a document of the published schema."""
    level = level_of(verification)
    return {
        "format": FORMAT,
        "evidence": evidence,
        "verdict": verification.verdict.value,
        "headline": headline(verification),
        "level": None if level is None else level.value,
        "signed": verification.signed,
        "asked": sorted(level.value for level in (verification.asked or Level)),
        "levels": [_fields(status) for status in level_statuses(verification)],
        "checks": [_fields(check) for check in verification.checks],
        "unchecked": list(verification.unchecked),
        "facts": {name: dict(facts) for name, facts in sorted(verification.facts.items())},
    }


def _fields(record: LevelStatus | Check) -> dict[str, Any]:
    return {key: value.value if isinstance(value, StrEnum) else value for key, value in asdict(record).items()}
