"""The hook of Claude Code: asks a guard before a tool acts, and tells it what came back.

It is started for every call, so it imports nothing but what it needs to ask. Its input is one JSON object on standard
input. A call that is allowed is answered by nothing, so that the permissions of the client still hold; one that is
denied by the reason. What happens where no guard answers was written into its command, from the scenario.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from specledger.wings.guard.client import PROTOCOL, Guard, NoAnswerError, from_json, to_json

MODULE: Final = "specledger.wings.guard.hook"
EVENTS: Final = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd")
"""The events that it takes."""
_SEALED: Final = "E_GUARD_SEALED"
_PATIENCE: Final = 40  # seconds
_WAIT_MS: Final = 5_000
_MOST_INPUT: Final = 8 << 20
_MOST_SESSIONS: Final = 100


def _begin(guard: Guard, session: str) -> str:
    """The conversation of a session; a session that goes on after it ended has another one."""
    names = [session, *(f"{session}.{number}" for number in range(2, _MOST_SESSIONS))]
    for name in names:
        answer = guard.tell("begin", protocol=PROTOCOL, conversation=name)
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
        with Guard(options["--socket"], patience=_PATIENCE) as guard:
            output = _answer(guard, event)
    except NoAnswerError as error:
        output = _failure(event, str(error), options["--fail"])
    if output:
        sys.stdout.buffer.write(to_json(output) + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = from_json(data)
    except ValueError:
        event = None
    fits = isinstance(event, dict) and isinstance(event.get("session_id"), str)
    if not fits or len(data) > _MOST_INPUT:
        raise NoAnswerError("the hook was given no event of Claude Code")
    return event  # type: ignore[no-any-return]


def _answer(guard: Guard, event: dict[str, Any]) -> dict[str, Any]:
    """What Claude Code is told; nothing is an empty object."""
    kind = event.get("hook_event_name")
    if kind not in EVENTS:
        raise NoAnswerError("the hook was given an event that it does not take")
    conversation = _begin(guard, event["session_id"])
    of = {"conversation": conversation, **({"call": event["tool_use_id"]} if "tool_use_id" in event else {})}
    if kind == "UserPromptSubmit":
        guard.tell("say", conversation=conversation, speaker="user", text=event.get("prompt", ""))
    elif kind == "PreToolUse":
        return _decision(
            guard.tell("ask", tool=event.get("tool_name"), arguments=event.get("tool_input"), wait_ms=_WAIT_MS, **of)
        )
    elif kind == "PostToolUse":
        guard.tell("report", content=event.get("tool_response"), error=False, **of)
    elif kind == "PostToolUseFailure":
        guard.tell("report", content=event.get("error"), error=True, **of)
    else:
        guard.tell("end", conversation=conversation)
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
