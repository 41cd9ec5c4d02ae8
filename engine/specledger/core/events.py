"""Events: the frozen facts that a run yields, each a type and a body."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple


class Impact(NamedTuple):
    """What a violation does, by its severity.

    Attributes:
        ends_episode: Whether its episode ends; a recording goes on, as what it tells of did.
        fails_run: Whether the run fails; if not, the violation is only counted.
        denies_call: Whether a call that would be one is denied, where rules decide before calls are made.
        rank: Its place among incidents, the most severe first; a failed probe has 1.
        mark: What reports call an invariant that it was a violation of.
        said: The impact in words, after "A breach".
    """

    ends_episode: bool
    fails_run: bool
    denies_call: bool
    rank: int
    mark: str
    said: str


class Severity(StrEnum):
    """How grave a violation is; `IMPACTS` says what follows from it."""

    FATAL = "fatal"
    WARN = "warn"

    @property
    def impact(self) -> Impact:
        """What a violation of this severity does."""
        return IMPACTS[self]


_FAILS: Final = "fails the run and ends the episode"
_COUNTED: Final = "is counted and changes no verdict"

IMPACTS: Final[Mapping[Severity, Impact]] = {
    Severity.FATAL: Impact(ends_episode=True, fails_run=True, denies_call=True, rank=0, mark="broken", said=_FAILS),
    Severity.WARN: Impact(ends_episode=False, fails_run=False, denies_call=False, rank=2, mark="warned", said=_COUNTED),
}


class GuardDecision(StrEnum):
    """What a guard decides of a call before it is made."""

    ALLOW = "allow"
    DENY = "deny"


class GuardCause(StrEnum):
    """What a decision of a guard comes from: its rules, or that they were not done in time."""

    RULES = "rules"
    DEADLINE = "deadline"


class KeptStatus(StrEnum):
    """What a rule said of a call before a value was withheld."""

    HELD = "held"
    BROKEN = "broken"


class Ended(StrEnum):
    """How an episode ended. ERROR, HANG and DIED broke it off, and UNKNOWN: a recording does not say what followed."""

    HORIZON = "horizon"
    UNTIL = "until"
    FATAL = "fatal"
    ERROR = "error"
    HANG = "hang"
    DIED = "died"
    UNKNOWN = "unknown"


BROKEN_OFF: Final = frozenset({Ended.ERROR, Ended.HANG, Ended.DIED, Ended.UNKNOWN})
"""The endings before which not every agent of a turn may have acted."""

PROGRESS: Final = "progress"
"""The violation that a step without an admissible action counts as."""


class Event(NamedTuple):
    """One fact, in the order in which it became true.

    Attributes:
        type: What happened, a lower-case noun such as `step`.
        body: What a receipt will hold: JSON values with integers only. Whoever yields an event gives the body away and
            never changes it again.
        form: The body's canonical form, if the producer of the event has it.
    """

    type: str
    body: Mapping[str, Any]
    form: bytes | None = None


def owned(body: Mapping[str, Any], name: str) -> str:
    """The name under which something in a receipt is counted: among several agents it names the one that it is of."""
    return f"{body['agent']}.{name}" if "agent" in body else name


def breached(body: Mapping[str, Any], violation: Mapping[str, Any]) -> str:
    """The name under which a violation of a receipt is counted."""
    name: str = violation["invariant"]
    return owned(body, name) if name == PROGRESS else name


def progress_violation(t: int, decisions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The violation of a decision that chose nothing: by the step, each reason why its proposals were not admitted."""
    reasons = {failing["reason"]: None for decision in decisions for failing in decision["rejected"]}
    errors = {decision["error"]["code"]: None for decision in decisions if decision["error"] is not None}
    return {"invariant": PROGRESS, "severity": Severity.FATAL.value, "witness": {f"step_{t}": [*reasons, *errors]}}
