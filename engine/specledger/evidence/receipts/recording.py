"""What the receipts of a recording say of what it leaves out, and the counts of its rules."""

from typing import Annotated, NotRequired, TypedDict

from specledger.core.events import KeptStatus


class UnjudgedGate(TypedDict):
    """A gate of a recording that reads what that leaves out, which the reason names; of a price the gate is `cost`."""

    gate: str
    reason: str


class UnjudgedInvariant(TypedDict):
    """An invariant that reads what a recording leaves out, which the reason names."""

    invariant: str
    reason: str


class Gap(TypedDict):
    """The call of a recording that the world could not follow, and why."""

    reason: str
    call: str
    tool: str


class Unable(TypedDict):
    """Why a rule can never have an `opportunity`, or has some, but never a `breach`, or which word of it is `misspelt`.

    It has one of the three.
    """

    opportunity: NotRequired[str]
    breach: NotRequired[str]
    misspelt: NotRequired[str]


class RuleCounts(TypedDict):
    """How often a rule held, was broken, and could not be judged; never, if no call was about it.

    `withheld` is how many of the first two were judged before a value was withheld, if any; `unable` says why it could
    notice nothing, if so.
    """

    held: int
    broken: int
    unjudged: int
    withheld: NotRequired[int]
    unable: NotRequired[Unable]


def is_open(counts: RuleCounts) -> bool:
    """Whether a rule was not always judged, is misspelt, or can notice nothing: nothing breaks or meets it."""
    unable = counts.get("unable", {})
    always = "breach" in unable or "misspelt" in unable
    return bool(counts["unjudged"]) or always or (bool(unable) and not counts["held"] + counts["broken"])


def why_unable(unable: Unable) -> str:
    """What a rule can notice nothing by, or which word of it is misspelt, as a sentence goes on after its name."""
    words = {"misspelt": "is misspelt, it seems"}
    return next(f"{words.get(lacks, 'can notice nothing')}: {reason}" for lacks, reason in unable.items())


class KeptVerdict(TypedDict):
    """What a rule said of a call before a value was withheld: nobody can check it without the value."""

    rule: str
    call: str
    status: Annotated[str, KeptStatus]
