"""The protocol of a guard: a line of JSON asks, a line answers; `schemas/protocol/guard.schema.json` has both."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, ValidationError, convert

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostic, code
from specledger.core.log_json import parse_log_json

MAX_WAIT_MS: Final = 600_000

E_GUARD_MESSAGE = code("E_GUARD_MESSAGE", "a message to the guard is malformed")
E_GUARD_CONVERSATION = code("E_GUARD_CONVERSATION", "no such conversation, or it cannot go on")
E_GUARD_SEALED = code("E_GUARD_SEALED", "a conversation of this name was sealed")
E_GUARD_CALL = code("E_GUARD_CALL", "no call of the conversation waits for this result")
E_GUARD_UNWRITABLE = code("E_GUARD_UNWRITABLE", "the log of a conversation cannot be written")

_NAME: Final = r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\Z"
Name = Annotated[str, Meta(pattern=_NAME)]
"""The name of a conversation, which is that of a file and of a folder."""
Text = Annotated[str, Meta(min_length=1, max_length=512)]


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """A message; the answer repeats its `id`."""

    id: int | Annotated[str, Meta(max_length=100)]


class Begin(_Message, frozen=True, tag="begin"):
    """Begin a conversation, or go on with the one of that name; without a name one is given."""

    protocol: Literal["specledger/guard/v1"]
    conversation: Name | None = None


class Say(_Message, frozen=True, tag="say"):
    """A message of the conversation, which rules may read.

    A message of a user with an `actor` is no request: a program, or another agent, wrote it. Whose text was the
    argument `unless_argument` of an earlier call is one that the agent wrote itself, so the call is its actor.
    """

    conversation: Name
    speaker: Literal["user", "assistant", "system"]
    text: str
    actor: Annotated[str, Meta(max_length=512)] = ""
    unless_argument: Text | None = None


class Ask(_Message, frozen=True, tag="ask"):
    """Ask whether a call may be made; a call without an id is given one.

    How long the result of the call before may be waited for is `wait_ms`.
    """

    conversation: Name
    tool: Text
    call: Text | None = None
    arguments: Any = UNSET
    batch: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    actor: Annotated[str, Meta(max_length=512)] = ""
    wait_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] = 10_000


class Report(_Message, frozen=True, tag="report"):
    """What came back from a call that was made, the one that waits; without `content` that is not known."""

    conversation: Name
    call: Text | None = None
    content: Any = UNSET
    error: bool | None = None


class Note(_Message, frozen=True, tag="note"):
    """Something that keeps the evidence of the conversation from a PASS, such as a tool that changed."""

    conversation: Name
    code: Annotated[str, Meta(pattern=r"\AE_[A-Z_]{1,60}\Z")]
    message: Annotated[str, Meta(min_length=1, max_length=2000)]


class End(_Message, frozen=True, tag="end"):
    """End a conversation, and seal it."""

    conversation: Name


Message = Begin | Say | Ask | Report | Note | End


class Refusal(Exception):  # noqa: N818 - an answer
    """A message that is answered by an error."""

    def __init__(self, code: str, message: str) -> None:
        self.diagnostic = Diagnostic(code, message)
        super().__init__(message)


def read_message(line: bytes) -> Message:
    """The message of a line.

    Raises:
        Refusal: E_GUARD_MESSAGE.
    """
    try:
        message: Message = convert(parse_log_json(line), Message)
    except (ValueError, NotCanonical, ValidationError) as error:
        raise Refusal(E_GUARD_MESSAGE, str(error)[:500]) from None
    return message


def is_name(text: str) -> bool:
    """Whether a conversation may have this name."""
    return re.match(_NAME, text) is not None


def error_answer(refusal: Refusal) -> dict[str, Any]:
    """The answer to a message that is refused, without its `id`."""
    return {"type": "error", "code": refusal.diagnostic.code, "message": refusal.diagnostic.message}
