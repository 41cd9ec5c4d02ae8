"""An answer from outside, and how a tape holds it.

Decides what is kept of whatever came: the bytes, or how many there were and their hash where there were too many, and a
code where there is no answer. Refuses to know what an answer means.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.digest import sha256_hex
from specledger.core.json_text import parse_json

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
process of the run itself ended; too many bytes came; what came is no JSON."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came for one decision.

    Attributes:
        episode, t: Which decision.
        received: The bytes, without the end of their line; None if none came, or more than are kept.
        failure: One of `FAILURES`, or empty.
        reason: A word more about it: the class of an exception, how a process ended.
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
            "received": _written(self.received),
            "sha256": self.sha256 or None,
            "size": self.size,
        }

    @classmethod
    def read(cls, document: Any) -> Answer:
        """The answer that a tape holds.

        Raises:
            ValueError: It holds none.
        """
        if not isinstance(document, dict) or document.keys() != _KEYS:
            raise ValueError("no answer")
        received, failure = _read(document["received"]), document["failure"] or ""
        told = cls(
            episode=document["episode"],
            t=document["t"],
            received=received,
            failure=failure,
            reason=document["reason"],
            size=document["size"],
            sha256=document["sha256"] or "",
        )
        figures: tuple[object, ...] = (told.episode, told.t, told.size)
        words: tuple[object, ...] = (told.reason, told.sha256)
        shaped = all(type(number) is int and number >= 0 for number in figures)
        shaped = shaped and all(isinstance(word, str) for word in words)
        if not shaped or (failure and failure not in FAILURES) or told.document() != document:
            raise ValueError("no answer")
        if received is not None and (len(received), sha256_hex(received)) != (told.size, told.sha256):
            raise ValueError("an answer has another hash")
        return told


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


def _written(data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode("ascii")}


def _read(held: Any) -> bytes | None:
    """The bytes that a tape holds in one of its two ways.

    Raises:
        ValueError: It holds none.
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
