"""What the hook of Claude Code asks of a guard, and what it answers its client, with a stand-in for the guard."""

import io
import json
import signal
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.wings.guard import hook
from specledger.wings.guard.client import NoAnswerError, UnsendableError


class Guard:
    """Answers each type of message by what `answers` has for it; a list is used up, an exception raised."""

    def __init__(self, **answers):
        self.answers, self.told = {"begin": {"type": "begun"}, **answers}, []

    def tell(self, kind, **fields):
        self.told.append((kind, fields))
        answer: Any = self.answers.get(kind, {"type": "ok"})
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def event(kind, **fields):
    return {"session_id": "s", "hook_event_name": kind, **fields}


CALL = {"tool_name": "pay", "tool_input": {"sum": 1}, "tool_use_id": "t1"}
OF = {"conversation": "s", "call": "t1"}
ASKED = {"wait_ms": 5000, "tool": "pay", "arguments": {"sum": 1}, "actor": "", **OF}
TOLD = {
    "a prompt": (event("UserPromptSubmit", prompt="Pay."), [("say", {"conversation": "s", "speaker": "user", "text": "Pay.", "actor": "", "unless_argument": "prompt"})]),
    "a prompt of the client": (event("UserPromptSubmit", prompt=" <task>"), [("say", {"conversation": "s", "speaker": "user", "text": " <task>", "actor": "claude-code", "unless_argument": "prompt"})]),
    "no prompt": (event("UserPromptSubmit"), [("say", {"conversation": "s", "speaker": "user", "text": "", "actor": "", "unless_argument": "prompt"})]),
    "a result": (event("PostToolUse", tool_response={"ok": 1}, **CALL), [("report", {"content": {"ok": 1}, "error": False, **OF})]),
    "a failure": (event("PostToolUseFailure", error="no", **CALL), [("report", {"content": "no", "error": True, **OF})]),
    "a batch": (
        event("PostToolBatch", tool_calls=[{"tool_use_id": "a", "tool_response": 1}, 7, {"x": 1}, {"tool_use_id": "b"}]),
        [("report", {"content": 1, "conversation": "s", "call": "a"}), ("report", {"content": None, "conversation": "s", "call": "b"})],
    ),
    "a batch that is none": (event("PostToolBatch", tool_calls={"tool_use_id": "a"}), []),
    "the end": (event("SessionEnd"), [("end", {"conversation": "s"})]),
}  # fmt: skip


@pytest.mark.parametrize(("given", "told"), TOLD.values(), ids=TOLD)
def test_what_a_guard_is_told_of_an_event(given, told):
    guard = Guard()
    assert hook._answer(guard, given) == {}  # type: ignore[arg-type]
    assert guard.told == [("begin", {"protocol": "specledger/guard/v1", "conversation": "s"}), *told]


def denial(reason):
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": decision}


DECISIONS = {
    "allowed": ({"type": "decision", "decision": "allow"}, {}),
    "allowed, unjudged": (
        {"type": "decision", "decision": "allow", "unjudged": True, "reason": "late"},
        {"systemMessage": "guard: made unjudged: late"},
    ),
    "denied": (
        {"type": "decision", "decision": "deny", "reason": "dear", "receipt": 4},
        denial("denied by the guard: dear (receipt 4)"),
    ),
    "denied at length": (
        {"type": "decision", "decision": "deny", "reason": "x" * 3000, "receipt": 4},
        denial("denied by the guard: " + "x" * (2000 - len("denied by the guard: "))),
    ),
}


@pytest.mark.parametrize(("answer", "output"), DECISIONS.values(), ids=DECISIONS)
def test_a_call_is_asked_about_and_what_is_decided_told(answer, output):
    guard = Guard(ask=answer)
    assert hook._answer(guard, event("PreToolUse", **CALL)) == output  # type: ignore[arg-type]
    assert guard.told[1] == ("ask", ASKED)


def test_a_result_that_cannot_be_sent_is_told_without_its_content():
    guard = Guard(report=[UnsendableError("large"), {"type": "ok"}])
    hook._answer(guard, event("PostToolUse", tool_response="x", **CALL))  # type: ignore[arg-type]
    assert guard.told[1:] == [("report", {"content": "x", "error": False, **OF}), ("report", {"error": False, **OF})]


def test_a_session_that_went_on_after_its_end_has_another_conversation():
    sealed = {"type": "error", "code": "E_GUARD_SEALED"}
    guard = Guard(begin=[sealed, sealed, {"type": "begun"}])
    assert hook._begin(guard, "s") == "s.3"  # type: ignore[arg-type]
    with pytest.raises(hook._RefusedError, match="the session went on 100 times"):
        hook._begin(Guard(begin=sealed), "s")  # type: ignore[arg-type]
    refused = {"type": "error", "code": "E_OTHER", "message": "no"}
    with pytest.raises(hook._RefusedError, match="the guard refuses the session: E_OTHER: no"):
        hook._begin(Guard(begin=[sealed, refused]), "s")  # type: ignore[arg-type]


BEFORE, AFTER = event("PreToolUse", **CALL), event("PostToolUse", **CALL)
LATE = NoAnswerError("nobody is there")
# what comes on standard input, what the guard does, how the scenario fails, and what is answered
ENDS = {
    "no answer, closed": (BEFORE, LATE, "closed", denial("nobody is there; the scenario fails closed")),
    "no answer, open": (BEFORE, LATE, "open", {"systemMessage": "guard: nobody is there; the scenario fails open, so the call is made unjudged"}),
    "no answer, after a call": (AFTER, LATE, "closed", {"systemMessage": "guard: nobody is there; the scenario fails closed"}),
    "a message that cannot be sent": (BEFORE, UnsendableError("too large"), "open", denial("too large")),
    "a refusal": (BEFORE, {"type": "error", "code": "E_X", "message": "no"}, "open", denial("the guard refuses the call: E_X: no")),
    "a defect": (BEFORE, KeyError("k"), "open", denial("the hook cannot ask about the call: KeyError")),
    "no event": ([], {}, "open", denial("the hook was given no event of Claude Code that it can read")),
    "no session": ({"session_id": 7, "hook_event_name": "PreToolUse"}, {}, "open", denial("the hook was given no event of Claude Code that it can read")),
    "another event": (event("Stop"), {}, "open", {"systemMessage": "guard: the hook was given an event that it does not take"}),
}  # fmt: skip


@pytest.fixture
def answered(monkeypatch, capsysbinary):
    """Answers an event on standard input, in this process; alarms are counted."""
    before = signal.getsignal(signal.SIGALRM)
    alarms: list[int] = []
    monkeypatch.setattr(signal, "alarm", alarms.append)

    def answer(given, guard, fail):
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        monkeypatch.setattr(hook, "Guard", lambda path, patience: guard)
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
            assert hook.main(["--socket", "guard.sock", "--fail", fail]) == 0
        out = capsysbinary.readouterr().out
        assert alarms == [40, 0]
        return json.loads(out) if out else None

    yield answer
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("given", "answer", "fail", "output"), ENDS.values(), ids=ENDS)
def test_where_no_guard_decides_a_call_is_denied_unless_the_scenario_fails_open(answered, given, answer, fail, output):
    assert answered(given, Guard(ask=answer, report=answer), fail) == output


def test_a_call_that_is_allowed_is_answered_by_nothing(answered):
    assert answered(BEFORE, Guard(ask={"type": "decision", "decision": "allow"}), "closed") is None


def test_an_event_that_is_too_large_is_not_read(answered, monkeypatch):
    data = json.dumps(BEFORE).encode()
    monkeypatch.setattr(hook, "_MOST_INPUT", len(data) - 1)
    assert answered(data, Guard(), "open") == denial("the hook was given no event of Claude Code that it can read")


def test_an_event_of_the_greatest_size_is_read(answered, monkeypatch):
    data = json.dumps(BEFORE).encode()
    monkeypatch.setattr(hook, "_MOST_INPUT", len(data))
    assert answered(data, Guard(ask={"type": "decision", "decision": "allow"}), "open") is None


def test_a_guard_that_is_late_gives_no_answer():
    with pytest.raises(NoAnswerError, match="the guard did not answer in 40 seconds"):
        hook._give_up()
