"""A client of a guard: asks before a tool acts, and tells what came back. It imports nothing of the engine.

with Guard("guard/guard.sock") as connection, connection.conversation() as guard:
    guard.say("user", task)
    result = guard.call("send_money", {"to": "alice", "amount": 5}, send_money)
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from math import isfinite
from types import TracebackType
from typing import Any, Final, Self

import orjson

PROTOCOL: Final = "specledger/guard/v1"
MAX_MESSAGE: Final = 8 << 20
"""Bytes of a message, with its newline, at most."""
_PATIENCE: Final = 60  # seconds


def to_json(value: Any, *, indent: bool = False) -> bytes:
    """A JSON value as messages and settings have it; nothing of it is hashed. ValueError for NaN and infinities."""
    _require_finite(value)
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)


def _require_finite(value: Any) -> None:
    """The encoder would write NaN and infinities as null, so that another call would be judged than is made."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is no number of JSON")
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for element in value:
            _require_finite(element)


def from_json(data: bytes) -> Any:
    """The value of a JSON text; ValueError if it is none."""
    return orjson.loads(data)


class NoAnswerError(Exception):
    """No guard answers, or not as its protocol says; nothing is allowed by that."""


class UnsendableError(NoAnswerError):
    """A message that no guard reads: it is too large, or holds what JSON has not."""


class Denied(Exception):  # noqa: N818 - an outcome
    """A call is denied; the text says by what and why.

    Attributes:
        decision: The whole answer.
    """

    def __init__(self, decision: Mapping[str, Any]) -> None:
        self.decision = decision
        super().__init__(decision.get("reason"))


class Guard:
    """A connection to a guard."""

    def __init__(self, path: str, *, patience: float = _PATIENCE) -> None:
        """Connect to the guard at a path; NoAnswerError if there is none."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise NoAnswerError(f"no guard answers at {path}: {error.strerror or error}") from None
        if _owner(self._socket, path) != os.getuid():
            self._socket.close()
            raise NoAnswerError(f"what answers at {path} is of another user")
        self._lines = self._socket.makefile("rb")

    def tell(self, type_: str, **fields: Any) -> dict[str, Any]:
        """The answer to a message; NoAnswerError if there is none, UnsendableError if nothing was asked."""
        line = _line({"type": type_, "id": 0, **fields})
        try:
            self._socket.sendall(line)
            answer = from_json(self._lines.readline())
        except (OSError, ValueError) as error:
            raise NoAnswerError(f"the guard gave no answer: {error}") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("type"), str):
            raise NoAnswerError("the guard gave no answer that is of its protocol")
        return answer

    def conversation(self, name: str | None = None) -> Conversation:
        """Begin a conversation, or go on with the one of that name."""
        return Conversation(self, name)

    def close(self) -> None:
        """Close the connection; its conversations stay."""
        self._lines.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _owner(connected: socket.socket, path: str) -> int:
    """The user whose process is at the other end; where the system does not say that, the owner of the path."""
    if sys.platform == "linux":
        user: int = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        return user
    return os.stat(path).st_uid


def _line(message: dict[str, Any]) -> bytes:
    try:
        line = to_json(message) + b"\n"
    except (ValueError, TypeError, RecursionError) as error:
        raise UnsendableError(f"the guard is not asked: {error}") from None
    if len(line) > MAX_MESSAGE:
        raise UnsendableError(f"the guard is not asked: a message of {len(line)} bytes, more than {MAX_MESSAGE}")
    return line


class Conversation:
    """One conversation; as a context manager it is ended, and sealed, where the block ends without an exception."""

    def __init__(self, guard: Guard, name: str | None) -> None:
        self._guard = guard
        begun = self._accepted(guard.tell("begin", protocol=PROTOCOL, conversation=name))
        self.name: str = begun["conversation"]

    def say(self, speaker: str, text: str) -> None:
        """Tell what the user, the assistant or the system wrote."""
        self._accepted(self._guard.tell("say", conversation=self.name, speaker=speaker, text=text))

    def ask(self, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
        """The decision about a call; Denied if it may not be made."""
        decision = self._accepted(
            self._guard.tell("ask", conversation=self.name, tool=tool, arguments=arguments, **more)
        )
        if decision["decision"] != "allow":
            raise Denied(decision)
        return decision

    def report(self, content: Any, *, error: bool = False, call: str | None = None) -> None:
        """Tell what came back from the call that was allowed last."""
        self._accepted(self._guard.tell("report", conversation=self.name, call=call, content=content, error=error))

    def call(self, tool: str, arguments: Mapping[str, Any], run: Callable[..., Any]) -> Any:
        """Run a tool if the call is allowed; Denied if it is not."""
        call = self.ask(tool, arguments)["call"]
        try:
            result = run(**arguments)
        except Exception as error:
            self.report(str(error), error=True, call=call)
            raise
        self.report(result, call=call)
        return result

    def end(self) -> dict[str, Any]:
        """End the conversation; its verdict, and where its evidence is."""
        return self._accepted(self._guard.tell("end", conversation=self.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.end()

    @staticmethod
    def _accepted(answer: dict[str, Any]) -> dict[str, Any]:
        if answer["type"] == "error":
            raise NoAnswerError(f"the guard refuses: {answer.get('code')}: {answer.get('message')}")
        return answer
