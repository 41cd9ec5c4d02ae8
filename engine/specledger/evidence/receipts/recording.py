"""What the receipts of a recording say of what it leaves out, and the counts of its rules."""

from typing import Annotated, NotRequired, TypedDict

from specledger.core.events import KeptStatus


class UnjudgedGate(TypedDict):
    """A gate of a recording that reads what that leaves out.

    Attributes:
        gate: The id of the gate, or `cost` of a price.
        reason: What the recording leaves out.
    """

    gate: str
    reason: str


class UnjudgedInvariant(TypedDict):
    """An invariant that reads what a recording leaves out.

    Attributes:
        invariant: The name of the invariant.
        reason: What the recording leaves out.
    """

    invariant: str
    reason: str


class Gap(TypedDict):
    """The call of a recording that the world could not follow.

    Attributes:
        reason: Why it could not be followed.
        call: The id of the call.
        tool: The name of the tool.
    """

    reason: str
    call: str
    tool: str


class Unable(TypedDict):
    """Why a rule can notice nothing, or which word of it is misspelt: one of the three.

    Attributes:
        opportunity: Why no call can ever be about it.
        breach: Why nothing can break it.
        misspelt: The word that nothing in the logs has, but something nearly so.
    """

    opportunity: NotRequired[str]
    breach: NotRequired[str]
    misspelt: NotRequired[str]


class RuleCounts(TypedDict):
    """How often a rule was judged; never, if no call was about it.

    Attributes:
        held: How often it held.
        broken: How often it was broken.
        unjudged: How often it could not be judged.
        withheld: How many of the first two were judged before a value was withheld.
        unable: Why it can notice nothing, or which word of it is misspelt, if so.
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
    """What a rule said of a call before a value was withheld: nobody can check it without the value.

    Attributes:
        rule: The policy and the rule, as `policy.rule`.
        call: The id of the call; empty for a message.
        status: What the rule said: `held` or `broken`.
    """

    rule: str
    call: str
    status: Annotated[str, KeptStatus]
