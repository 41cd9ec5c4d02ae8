"""The answer of an outside agent to one message, the exchange of both, and its form in a recording.

An answer holds the received bytes, or their number and hash where there were too many; without an answer, a code says
why. An exchange holds the hash of its message: replay computes the message again.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec import Struct

from specledger.core.digest import sha256_hex

MOST_ANSWER: Final = 1_048_576
"""Bytes of an answer at most."""

RAISED: Final = "raised"
TIMED_OUT: Final = "timed_out"
CLOSED: Final = "closed"
DIED: Final = "died"
TOO_LONG: Final = "too_long"
NOT_JSON: Final = "not_json"

FAILURES: Final = frozenset({RAISED, TIMED_OUT, CLOSED, DIED, TOO_LONG, NOT_JSON})
"""Why there is no answer: the function raised; nothing came in time; the program ended or closed its output; the
process of the run itself ended; too many bytes came; what a function returned is no JSON value."""


class Answer(Struct, frozen=True):
    """What an agent answered to one message.

    Attributes:
        received: The bytes, without the end of their line; None if none came, or more than are kept.
        failure: One of `FAILURES`, or empty.
        reason: A detail of it: the class of an exception, how a process ended; empty without a failure.
        sha256: Their hash; empty if there are none.
    """

    received: bytes | None = None
    failure: str = ""
    reason: str = ""
    size: int = 0
    sha256: str = ""


class Asked(NamedTuple):
    """One message, as an exchange names it.

    Attributes:
        session: Which run of the agent it is sent to; each begins with `hello`.
        question: The SHA-256 of its canonical bytes.
    """

    session: int
    message: str
    question: str


AT_WORK: Final = Asked(0, "watch", "0" * 64)
"""What an agent inside the engine is at work on: it is sent no message."""


class Exchange(Struct, frozen=True):
    """A message and its answer, at one decision of a run."""

    episode: int
    t: int
    asked: Asked
    answer: Answer

    def document(self, seq: int) -> dict[str, Any]:
        """The exchange as line `seq` of a tape."""
        answer = self.answer
        return {
            "seq": seq,
            "episode": self.episode,
            "t": self.t,
            **self.asked._asdict(),
            "failure": answer.failure or None,
            "reason": answer.reason,
            "received": _encoded(answer.received),
            "sha256": answer.sha256 or None,
            "size": answer.size,
        }

    @classmethod
    def read(cls, document: Any, seq: int) -> Exchange:
        """The exchange on line `seq` of a tape.

        Raises:
            ValueError, TypeError: The document is not an exchange.
        """
        if not isinstance(document, dict) or document.keys() != _KEYS:
            raise ValueError("no exchange")
        given, failure = _decoded(document["received"]), document["failure"] or ""
        episode, t, session, size = numbers = [document[key] for key in ("episode", "t", "session", "size")]
        message, question, reason = texts = [document[key] for key in ("message", "question", "reason")]
        answer = Answer(given, failure, reason, size, document["sha256"] or "")
        exchange = cls(episode, t, Asked(session, message, question), answer)
        if not all(type(number) is int and number >= 0 for number in (*numbers, document["seq"])):
            raise ValueError("no exchange")
        if not all(isinstance(text, str) for text in (*texts, answer.sha256)):
            raise ValueError("no exchange")
        if exchange.document(seq) != document or not _is_consistent(answer):
            raise ValueError("no exchange")
        if given is not None and (len(given), sha256_hex(given)) != (size, answer.sha256):
            raise ValueError("an answer has another hash")
        return exchange


def _is_consistent(answer: Answer) -> bool:
    """Whether an agent's answer can have these fields; the hash of bytes that are kept is another check."""
    failure, size, kept = answer.failure, answer.size, answer.received is not None
    if failure not in _SIZES or not (_REASON.fullmatch(answer.reason) if failure else not answer.reason):
        return False
    if kept:
        return failure in ("", RAISED, NOT_JSON) and 0 < size <= MOST_ANSWER
    digest = _DIGEST.fullmatch(answer.sha256) if size else not answer.sha256
    return bool(digest) and _SIZES[failure](size)


def received(data: bytes) -> Answer:
    """The answer that some bytes are."""
    size, digest = len(data), sha256_hex(data) if data else ""
    if size > MOST_ANSWER:
        return Answer(None, TOO_LONG, "", size, digest)
    return Answer(data, "", "", size, digest) if data else Answer()


_REASON: Final = re.compile(r"([a-z]{1,9}:)?[A-Za-z0-9_]{0,100}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SIZES: Final[dict[str, Callable[[int], bool]]] = {
    **dict.fromkeys(("", TIMED_OUT, DIED), lambda size: size == 0),
    **dict.fromkeys((RAISED, NOT_JSON), lambda size: size == 0 or size > MOST_ANSWER),
    CLOSED: lambda size: size <= MOST_ANSWER,
    TOO_LONG: lambda size: size > MOST_ANSWER,
}
"""By failure, how many bytes were read where none are kept."""
_KEYS: Final = {"seq", "episode", "t", *Asked._fields, "failure", "reason", "received", "sha256", "size"}


def _encoded(data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode("ascii")}


def _decoded(encoded: Any) -> bytes | None:
    """The bytes that a tape holds, as text or in base64.

    Raises:
        ValueError: It holds neither.
    """
    if encoded is None:
        return None
    if (
        not isinstance(encoded, dict)
        or len(encoded) != 1
        or not all(isinstance(value, str) for value in encoded.values())
    ):
        raise ValueError("no bytes")
    ((form, value),) = encoded.items()
    if form == "text":
        return str(value).encode()
    if form != "base64":
        raise ValueError("no bytes")
    return b64decode(value, validate=True)


class Unanswered(Exception):  # noqa: N818 - an outcome of a question
    """A question to the agent has no answer that says anything about it; `cause` is why the probe is inconclusive."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(cause)


def halts(answer: Answer) -> bool:
    """Whether an answer says that the process which waited for it is gone."""
    return answer.failure in (TIMED_OUT, DIED)
