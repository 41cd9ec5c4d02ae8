"""The hook of Claude Code: asks a guard before a tool acts, and tells it what came back.

It is started for every call, so it imports nothing but what it needs to ask. Its input is one JSON object on standard
input. A call that is allowed is answered by nothing, so that the permissions of the client still hold; one that is
denied by the reason. What happens where no guard answers was written into its command, from the scenario.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final

from specledger.wings.guard.client import PROTOCOL, Guard, NoAnswerError, UnsendableError, from_json, to_json

MODULE: Final = "specledger.wings.guard.hook"
EVENTS: Final = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SessionEnd",
)
"""The events that it takes."""
_CLIENT: Final = "claude-code"
"""Who wrote a prompt that neither a user nor a tool did."""
_PROMPT: Final = "prompt"
"""The argument of tools by which an agent plans prompts, which come as if a user wrote them."""
_SEALED: Final = "E_GUARD_SEALED"
_PATIENCE: Final = 40  # seconds for all of it: Claude Code makes a call whose hook takes longer than it may
_WAIT_MS: Final = 5_000
_MOST_INPUT: Final = 64 << 20
_MOST_SESSIONS: Final = 100


class _RefusedError(Exception):
    """A guard answers, and refuses; that allows nothing, whatever the scenario says of a guard that does not answer."""


def _begin(guard: Guard, session: str) -> str:
    """The conversation of a session; a session that goes on after it ended has another one."""
    names = [session, *(f"{session}.{number}" for number in range(2, _MOST_SESSIONS))]
    for name in names:
        answer = guard.tell("begin", protocol=PROTOCOL, conversation=name)
        if answer["type"] == "begun":
            return name
        if answer.get("code") != _SEALED:
            raise _RefusedError(f"the guard refuses the session: {answer.get('code')}: {answer.get('message')}")
    raise _RefusedError(f"the session went on {_MOST_SESSIONS} times")


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one event of Claude Code; the exit code is 0, and 2 for wrong arguments."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = dict(zip(words[::2], words[1::2], strict=False))
    if options.keys() != {"--socket", "--fail"} or options["--fail"] not in ("closed", "open"):
        sys.stderr.write("usage: --socket PATH --fail closed|open\n")
        return 2
    event: Any = None
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_PATIENCE)
    try:
        event = _event(sys.stdin.buffer.read(_MOST_INPUT + 1))
        with Guard(options["--socket"], patience=_PATIENCE) as guard:
            output = _answer(guard, event)
    except (_RefusedError, UnsendableError) as error:
        output = _failure(event, str(error), "closed")
    except NoAnswerError as error:
        output = _failure(event, f"{error}; the scenario fails {options['--fail']}", options["--fail"])
    except Exception as error:  # Claude Code makes a call whose hook breaks
        output = _failure(event, f"the hook cannot ask about the call: {type(error).__name__}", "closed")
    signal.alarm(0)
    if output:
        sys.stdout.buffer.write(to_json(output) + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _give_up(*_: object) -> None:
    raise NoAnswerError(f"the guard did not answer in {_PATIENCE} seconds")


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = from_json(data)
    except ValueError:
        event = None
    fits = isinstance(event, dict) and isinstance(event.get("session_id"), str)
    if not fits or len(data) > _MOST_INPUT:
        raise _RefusedError("the hook was given no event of Claude Code that it can read")
    return event  # type: ignore[no-any-return]


def _answer(guard: Guard, event: dict[str, Any]) -> dict[str, Any]:
    """What Claude Code is told; nothing is an empty object."""
    kind = event.get("hook_event_name")
    if kind not in EVENTS:
        raise _RefusedError("the hook was given an event that it does not take")
    conversation = _begin(guard, event["session_id"])
    of = {"conversation": conversation, **({"call": event["tool_use_id"]} if "tool_use_id" in event else {})}
    asked = {"tool": event.get("tool_name"), "arguments": event.get("tool_input"), "actor": event.get("agent_id", "")}
    if kind == "UserPromptSubmit":
        text = event.get("prompt", "")
        actor = _CLIENT if _is_marked(text) else ""
        guard.tell("say", conversation=conversation, speaker="user", text=text, actor=actor, unless_argument=_PROMPT)
    elif kind == "PreToolUse":
        return _decision(guard.tell("ask", wait_ms=_WAIT_MS, **asked, **of))
    elif kind == "PostToolUse":
        _report(guard, event.get("tool_response"), error=False, **of)
    elif kind == "PostToolUseFailure":
        _report(guard, event.get("error"), error=True, **of)
    elif kind == "PostToolBatch":
        _report_rest(guard, conversation, event.get("tool_calls"))
    else:
        guard.tell("end", conversation=conversation)
    return {}


def _is_marked(prompt: Any) -> bool:
    """Whether a prompt begins with a tag, as those that the client itself writes, such as `<task-notification>`."""
    begin = prompt.lstrip()[:2] if isinstance(prompt, str) else ""
    return begin[:1] == "<" and begin[1:].isalpha()


def _report_rest(guard: Guard, conversation: str, calls: Any) -> None:
    """Tell what came back from calls of which nothing was told, as of one that a permission of the client forbade.

    Those that have their result do not wait for one, which the guard says of each.
    """
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and "tool_use_id" in call:
            of = {"conversation": conversation, "call": call["tool_use_id"]}
            _report(guard, call.get("tool_response"), **of)


def _report(guard: Guard, content: Any, **of: Any) -> None:
    """Tell what came back from a call; that it is not known, where it is too large for a message."""
    try:
        guard.tell("report", content=content, **of)
    except UnsendableError:
        guard.tell("report", **of)


def _decision(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["type"] == "decision" and answer.get("decision") == "allow":
        return {"systemMessage": f"guard: made unjudged: {answer['reason']}"} if answer.get("unjudged") else {}
    if answer["type"] == "decision":
        return _denial(f"denied by the guard: {answer.get('reason')} (receipt {answer.get('receipt')})")
    raise _RefusedError(f"the guard refuses the call: {answer.get('code')}: {answer.get('message')}")


def _failure(event: Any, message: str, fail: str) -> dict[str, Any]:
    """What is told where no guard decided; only a call before it is made can be denied."""
    if isinstance(event, dict) and event.get("hook_event_name") not in (None, "PreToolUse"):
        return {"systemMessage": f"guard: {message}"}
    if fail == "closed":
        return _denial(message)
    return {"systemMessage": f"guard: {message}, so the call is made unjudged"}


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
