"""The answer of an outside agent to one question, and its form in a recording.

An answer holds the received bytes, or their number and hash where there were too many; without an answer, a code says
why.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.canonical import parse_json
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
process of the run itself ended; too many bytes came; what came is not JSON."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered for one decision.

    Attributes:
        episode, t: Which decision.
        received: The bytes, without the end of their line; None if none came, or more than are kept.
        failure: One of `FAILURES`, or empty.
        reason: A detail of it: the class of an exception, how a process ended.
        size: How many bytes were read.
        sha256: Their hash; empty if there are none.
    """

    episode: int
    t: int
    received: bytes | None = None
    failure: str = ""
    reason: str = ""
    size: int = 0
    sha256: str = ""

    def document(self) -> dict[str, Any]:
        """The answer as a tape holds it."""
        return {
            "episode": self.episode,
            "t": self.t,
            "failure": self.failure or None,
            "reason": self.reason,
            "received": _encoded(self.received),
            "sha256": self.sha256 or None,
            "size": self.size,
        }

    @classmethod
    def read(cls, document: Any) -> Answer:
        """The answer that a tape holds.

        Raises:
            ValueError: The document is not an answer.
        """
        if not isinstance(document, dict) or document.keys() != _KEYS:
            raise ValueError("no answer")
        received, failure = _decoded(document["received"]), document["failure"] or ""
        episode, t, size, reason = (document[key] for key in ("episode", "t", "size", "reason"))
        answer = cls(episode, t, received, failure, reason, size, document["sha256"] or "")
        counts = all(type(number) is int and number >= 0 for number in (episode, t, size))
        texts: tuple[object, ...] = (reason, answer.sha256)
        if not counts or not all(isinstance(text, str) for text in texts):
            raise ValueError("no answer")
        if (failure and failure not in FAILURES) or answer.document() != document:
            raise ValueError("no answer")
        if received is not None and (len(received), sha256_hex(received)) != (answer.size, answer.sha256):
            raise ValueError("an answer has another hash")
        return answer


def received(episode: int, t: int, data: bytes) -> Answer:
    """The answer that some bytes are."""
    size, digest = len(data), sha256_hex(data) if data else ""
    if size > MOST_ANSWER:
        return Answer(episode, t, None, TOO_LONG, "", size, digest)
    if not data:
        return Answer(episode, t)
    try:
        parse_json(data)
    except ValueError:
        return Answer(episode, t, data, NOT_JSON, "", size, digest)
    return Answer(episode, t, data, "", "", size, digest)


_KEYS: Final = {"episode", "t", "failure", "reason", "received", "sha256", "size"}


def _encoded(data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode("ascii")}


def _decoded(held: Any) -> bytes | None:
    """The bytes that a tape holds, as text or in base64.

    Raises:
        ValueError: It holds neither.
    """
    if held is None:
        return None
    if not isinstance(held, dict) or len(held) != 1 or not all(isinstance(value, str) for value in held.values()):
        raise ValueError("no bytes")
    ((form, value),) = held.items()
    if form == "text":
        return str(value).encode()
    if form != "base64":
        raise ValueError("no bytes")
    return b64decode(value, validate=True)


def halts(answer: Answer) -> bool:
    """Whether an answer says that the process which waited for it is gone."""
    return answer.failure in (TIMED_OUT, DIED)
