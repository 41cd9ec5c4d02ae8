"""A trajectory: what one agent was asked, said and called, and what came back, in the order of its log.

Every reader of a log makes these; rules, runs, pages and the canonical lines are made of them. Values are JSON values
without floats: an integer within 2^53 - 1 is itself, and any other number is `{"$number": "its text"}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from specledger.core.canonical import canonical_bytes
from specledger.core.log_json import WITHHELD
from specledger.wings.trajectories.stamps import Stamp

GUARDED: Final = "guard"
"""The format of a trajectory that a guard wrote: its calls were decided before they were made."""

Json = Any
"""None, a bool, an int, a str, a list or a dict with string keys; numbers as said above."""


class Speaker(StrEnum):
    """Who wrote a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Withheld(Struct, frozen=True, forbid_unknown_fields=True, rename={"digest": WITHHELD}):
    """Stands where a value was withheld: the salted digest of it."""

    digest: str


class Message(Struct, frozen=True, omit_defaults=True):
    """A text: of the request, where a user wrote it, or of the agent.

    Attributes:
        actor: Who heard or wrote it: empty for the agent itself, else the id of a subagent.
        line: The line of the log, from 1; 0 where the format has no lines.
        time: Microseconds since 1970, or the text that is no time stamp; empty if there is none (`stamps`).
    """

    speaker: Speaker
    text: str | Withheld
    actor: str = ""
    line: int = 0
    time: Stamp = ""


class Call(Struct, frozen=True, omit_defaults=True):
    """A call of a tool.

    Attributes:
        id: Unique among the calls of its trajectory; made from its number where the log has none.
        arguments: An object in nearly all logs; UNSET where they were not recorded.
        batch: Calls of one message have the same number: they are parallel.
        actor: Who calls: empty for the agent itself, else the id of a subagent.
        parent: The id of the call that started this subagent; empty if there is none.
        late: Whether a guard gave up deciding it, as that took too long.
    """

    id: str
    tool: str
    arguments: Json | Withheld | UnsetType = UNSET
    batch: int = 0
    actor: str = ""
    parent: str = ""
    line: int = 0
    time: Stamp = ""
    late: bool = False


class Result(Struct, frozen=True, omit_defaults=True):
    """What came back from a call.

    Attributes:
        call: The id of the call.
        content: A text or a structured value; UNSET where it was not recorded.
        error: Whether the log says that the call failed; None if it does not say.
        denied: Whether a guard denied the call, so that it was never made; the content says why.
    """

    call: str
    content: Json | Withheld | UnsetType = UNSET
    error: bool | None = None
    line: int = 0
    time: Stamp = ""
    denied: bool = False


class Finding(Struct, frozen=True, omit_defaults=True):
    """Something in a log that could not be read, or does not fit together; nothing is skipped without one.

    Attributes:
        code: One of the codes `E_LOG_...`.
    """

    code: str
    message: str
    line: int = 0


class Kept(Struct, frozen=True, omit_defaults=True):
    """What a rule said of the next call or message while a value was there that is withheld now; nobody can check it.

    Attributes:
        policy: The key of the policy, with its digest: another version of it said nothing.
        call: The id of the call; empty for the message that comes next.
        status: held or broken; none where the call or message was no opportunity.
    """

    policy: str
    rule: str
    call: str
    status: Literal["held", "broken", "none"]
    line: int = 0


Entry = Message | Call | Result | Finding | Kept


class Trajectory(Struct, frozen=True):
    """One conversation of one agent, with those of its subagents.

    Attributes:
        id: Unique among the trajectories of a run.
        file: The name of the log, without folders that are above the one that was given.
        format: The name of the format that it was read from.
        entries: In the order of the log; a result comes after its call.
    """

    id: str
    file: str
    format: str
    entries: Sequence[Entry]


def denied_calls(trajectory: Trajectory) -> frozenset[str]:
    """The ids of the calls that a guard denied, so that they were never made."""
    results = (entry for entry in trajectory.entries if isinstance(entry, Result))
    return frozenset(result.call for result in results if result.denied)


WITHHELD_TEXT: Final = "(withheld)"
"""What a model reads in place of a withheld value."""
_ABSENT_TEXT: Final = "(not recorded)"


def text_of(value: Any) -> str:
    """A recorded value as the text that a model reads: itself, or its canonical JSON."""
    if value is UNSET:
        return _ABSENT_TEXT
    if isinstance(value, Withheld):
        return WITHHELD_TEXT
    return value if isinstance(value, str) else canonical_bytes(value).decode()
