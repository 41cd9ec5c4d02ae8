"""The hook of Claude Code: asks a guard before a tool acts, and tells it what came back.

It is started for every call, so it imports nothing but what it needs to ask. Its input is one JSON object on standard
input. A call that is allowed is answered by nothing, so that the permissions of the client still hold; one that is
denied by the reason. What happens where no guard answers was written into its command, from the scenario.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from typing import Any, Final

import orjson

MODULE: Final = "specledger.wings.guard.hook"
EVENTS: Final = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd")
"""The events that it takes."""
_PROTOCOL: Final = "specledger/guard/v1"
_SEALED: Final = "E_GUARD_SEALED"
_PATIENCE: Final = 40  # seconds
_WAIT_MS: Final = 5_000
_MOST_INPUT: Final = 8 << 20
_MOST_SESSIONS: Final = 100


class NoAnswerError(Exception):
    """No guard answers, or not as its protocol says."""


class _Guard:
    """A connection to a guard."""

    def __init__(self, path: str) -> None:
        try:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(_PATIENCE)
            self._socket.connect(path)
        except OSError as error:
            raise NoAnswerError(f"no guard answers at {path}: {error.strerror or error}") from None
        self._lines = self._socket.makefile("rb")

    def ask(self, type_: str, **fields: Any) -> dict[str, Any]:
        """The answer to a message."""
        try:
            self._socket.sendall(orjson.dumps({"type": type_, "id": 0, **fields}) + b"\n")
            answer = orjson.loads(self._lines.readline())
        except (OSError, ValueError, TypeError) as error:
            raise NoAnswerError(f"the guard gave no answer: {error}") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("type"), str):
            raise NoAnswerError("the guard gave no answer that is of its protocol")
        return answer

    def begin(self, session: str) -> str:
        """The conversation of a session; a session that goes on after it ended has another one."""
        names = [session, *(f"{session}.{number}" for number in range(2, _MOST_SESSIONS))]
        for name in names:
            answer = self.ask("begin", protocol=_PROTOCOL, conversation=name)
            if answer["type"] == "begun":
                return name
            if answer.get("code") != _SEALED:
                raise NoAnswerError(f"the guard refuses the session: {answer.get('message')}")
        raise NoAnswerError(f"the session went on {_MOST_SESSIONS} times")


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one event of Claude Code; the exit code is 0, and 2 for wrong arguments."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = dict(zip(words[::2], words[1::2], strict=False))
    if options.keys() != {"--socket", "--fail"} or options["--fail"] not in ("closed", "open"):
        sys.stderr.write("usage: --socket PATH --fail closed|open\n")
        return 2
    event: Any = None
    try:
        event = _event(sys.stdin.buffer.read(_MOST_INPUT + 1))
        output = _answer(_Guard(options["--socket"]), event)
    except NoAnswerError as error:
        output = _failure(event, str(error), options["--fail"])
    if output:
        sys.stdout.buffer.write(orjson.dumps(output) + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(data)
    except ValueError:
        event = None
    fits = isinstance(event, dict) and isinstance(event.get("session_id"), str)
    if not fits or len(data) > _MOST_INPUT:
        raise NoAnswerError("the hook was given no event of Claude Code")
    return event  # type: ignore[no-any-return]


def _answer(guard: _Guard, event: dict[str, Any]) -> dict[str, Any]:
    """What Claude Code is told; nothing is an empty object."""
    kind = event.get("hook_event_name")
    if kind not in EVENTS:
        raise NoAnswerError("the hook was given an event that it does not take")
    conversation = guard.begin(event["session_id"])
    of = {"conversation": conversation, **({"call": event["tool_use_id"]} if "tool_use_id" in event else {})}
    if kind == "UserPromptSubmit":
        guard.ask("say", conversation=conversation, speaker="user", text=event.get("prompt", ""))
    elif kind == "PreToolUse":
        return _decision(
            guard.ask("ask", tool=event.get("tool_name"), arguments=event.get("tool_input"), wait_ms=_WAIT_MS, **of)
        )
    elif kind == "PostToolUse":
        guard.ask("report", content=event.get("tool_response"), error=False, **of)
    elif kind == "PostToolUseFailure":
        guard.ask("report", content=event.get("error"), error=True, **of)
    else:
        guard.ask("end", conversation=conversation)
    return {}


def _decision(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["type"] == "decision" and answer.get("decision") == "allow":
        return {"systemMessage": f"guard: made unjudged: {answer['reason']}"} if answer.get("unjudged") else {}
    if answer["type"] == "decision":
        return _denial(f"denied by the guard: {answer.get('reason')} (receipt {answer.get('receipt')})")
    raise NoAnswerError(f"the guard refuses the call: {answer.get('code')}: {answer.get('message')}")


def _failure(event: Any, message: str, fail: str) -> dict[str, Any]:
    """What is told where no guard decided; only a call before it is made can be denied."""
    said = f"{message}; the scenario fails {fail}"
    if isinstance(event, dict) and event.get("hook_event_name") not in (None, "PreToolUse"):
        return {"systemMessage": f"guard: {said}"}
    return _denial(said) if fail == "closed" else {"systemMessage": f"guard: {said}, so the call is made unjudged"}


def _denial(reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason[:2000],
        }
    }


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # nothing is left to do, and to end the interpreter takes as long as to ask
