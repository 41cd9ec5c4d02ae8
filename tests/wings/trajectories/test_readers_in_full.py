"""What the readers of OpenAI, ATIF and Claude Code make of each form of a record, in full."""

from pathlib import Path

import pytest

from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker
from specledger.wings.trajectories.readers.atif import ATIF
from specledger.wings.trajectories.readers.claude_code import CLAUDE_CODE
from specledger.wings.trajectories.readers.openai import OPENAI
from specledger.wings.trajectories.source import Record, Source

SYSTEM, USER, ASSISTANT = Speaker
TIME = 1_767_225_600_000_000
BAD = Finding("E_LOG_JSON", "no JSON", 7)
NONE = object()


def record(message, line):
    return Finding("E_LOG_RECORD", message, line)


def read(reader, records):
    """The entries of each trajectory by its id; a record stands on a line of its own."""
    lines = [one if isinstance(one, Finding) else Record(one, line) for line, one in enumerate(records, start=1)]
    trajectories = reader.read(Source(Path("log"), "log").holding(lines))
    return {trajectory.id: list(trajectory.entries) for trajectory in trajectories}


def asked(*calls):
    return {"role": "assistant", "tool_calls": [*calls]}


def calling(name, arguments="{}", id_="c"):
    return {"id": id_, "function": {"name": name, "arguments": arguments}}


def answered(text, id_="c"):
    return {"role": "tool", "tool_call_id": id_, "content": text}


def user(text):
    return {"role": "user", "content": text}


OF_OPENAI = {
    "each role": (
        [{"role": r, "content": r} for r in ("system", "developer", "user", "assistant")],
        {"log": [Message(SYSTEM, "system", line=1), Message(SYSTEM, "developer", line=2), Message(USER, "user", line=3), Message(ASSISTANT, "assistant", line=4)]},
    ),
    "an unknown role in a list": (
        [{"messages": [user("a"), {"role": "critic", "content": "b"}, {"role": "x"*65, "content": "b"}, {"role": 5}, "text"]}],
        {"log:1": [Message(USER, "a", line=1), record("the role 'critic' is none of system, developer, user, assistant, tool, function", 1), record("the role 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is none of system, developer, user, assistant, tool, function", 1), record("a message has a `role`", 1), record("a message has a `role`", 1)]},
    ),
    "a refusal": (
        [{"role": "assistant", "content": None, "refusal": "no"}],
        {"log": [Message(ASSISTANT, "no", line=1)]},
    ),
    "content before a refusal": (
        [{"role": "assistant", "content": "yes", "refusal": "no"}],
        {"log": [Message(ASSISTANT, "yes", line=1)]},
    ),
    "a content without a text": (
        [{"role": "user", "content": 5}, {"role": "assistant", "content": None}, {"role": "user", "content": ""}],
        {"log": [record("the content of a message is neither a text nor a list of parts", 1)]},
    ),
    "parts": (
        [user([{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}, {"type": "t", "content": "c"}])],
        {"log": [Message(USER, "a\nb\nc", line=1)]},
    ),
    "parts of which some are no text": (
        [user([{"text": "a"}, {"image": 1}, "b", {"text": 5}, {"text": "d"}])],
        {"log": [Message(USER, "a\nd", line=1), record("3 parts of a message without a text", 1)]},
    ),
    "calls of one message": (
        [asked(calling("f"), calling("g", '{"a": 1}', "d")), answered("1"), answered("2", "d"), asked(calling("f", id_="e")), answered("3", "e")],
        {"log": [Call("c", "f", {}, 1, line=1), Call("d", "g", {'a': 1}, 1, line=1), Result("c", '1', line=2), Result("d", '2', line=3), Call("e", "f", {}, 2, line=4), Result("e", '3', line=5)]},
    ),
    "no calls": (
        [{"role": "assistant", "content": "a", "tool_calls": None}, {"role": "assistant", "content": "b", "tool_calls": []}, asked(calling("f")), answered("1")],
        {"log": [Message(ASSISTANT, "a", line=1), Message(ASSISTANT, "b", line=2), Call("c", "f", {}, 1, line=3), Result("c", '1', line=4)]},
    ),
    "calls that are no list": (
        [{"role": "assistant", "content": "a", "tool_calls": {"x": 1}}],
        {"log": [Message(ASSISTANT, "a", line=1), record("`tool_calls` is no list", 1)]},
    ),
    "calls without a function": (
        [asked({"id": "c"}, {"id": "c", "function": {"name": 5}}, "x", calling("f")), answered("1")],
        {"log": [record("a call has a `function` with a `name`", 1), record("a call has a `function` with a `name`", 1), record("a call has a `function` with a `name`", 1), Call("c", "f", {}, 1, line=1), Result("c", '1', line=2)]},
    ),
    "a custom call": (
        [asked({"id": "c", "custom": {"name": "f", "input": "{not json"}}), answered("1")],
        {"log": [Call("c", "f", '{not json', 1, line=1), Result("c", '1', line=2)]},
    ),
    "a call without arguments": (
        [asked({"id": "c", "function": {"name": "f"}}), answered("1")],
        {"log": [Call("c", "f", {}, 1, line=1), Result("c", '1', line=2)]},
    ),
    "a call whose arguments are an object": (
        [asked(calling("f", {"a": 1})), answered("1")],
        {"log": [Call("c", "f", {'a': 1}, 1, line=1), Result("c", '1', line=2)]},
    ),
    "arguments that are no JSON": (
        [asked(calling("f", "{")), answered("1")],
        {"log": [Finding("E_LOG_ARGUMENTS", "arguments of the call 'c' are no JSON: not JSON at line 1, column 2: unexpected end of data", 1), Call("c", "f", '{', 1, line=1), Result("c", '1', line=2)]},
    ),
    "a function call": (
        [{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "1"}],
        {"log": [Call("#1", "f", {}, 1, line=1), Result("#1", '1', line=2)]},
    ),
    "a function call beside calls": (
        [{"role": "assistant", "tool_calls": [calling("f")], "function_call": {"name": "g", "arguments": "{}"}}, {"role": "function", "name": "g", "content": "2"}, answered("1")],
        {"log": [Call("c", "f", {}, 1, line=1), Call("#2", "g", {}, 1, line=1), Result("#2", '2', line=2), Result("c", '1', line=3)]},
    ),
    "a function call that is no object": (
        [{"role": "assistant", "content": "a", "function_call": "x"}],
        {"log": [Message(ASSISTANT, "a", line=1), record("a call has a `function` with a `name`", 1)]},
    ),
    "a call without an id": (
        [asked({"function": {"name": "f", "arguments": "{}"}}), {"role": "tool", "name": "f", "content": "1"}],
        {"log": [Call("#1", "f", {}, 1, line=1), Result("#1", '1', line=2)]},
    ),
    "a result without an id": (
        [asked(calling("f")), {"role": "tool", "content": "1"}, answered("2")],
        {"log": [Call("c", "f", {}, 1, line=1), record("a result has the `tool_call_id` of its call", 2), Result("c", '2', line=3)]},
    ),
    "a result of parts": (
        [asked(calling("f")), answered([{"text": "a"}, {"text": "b"}])],
        {"log": [Call("c", "f", {}, 1, line=1), Result("c", 'a\nb', line=2)]},
    ),
    "a result that is no text": (
        [asked(calling("f")), answered({"a": 1})],
        {"log": [Call("c", "f", {}, 1, line=1), Result("c", {'a': 1}, line=2)]},
    ),
    "a result without a content": (
        [asked(calling("f")), {"role": "tool", "tool_call_id": "c"}],
        {"log": [Call("c", "f", {}, 1, line=1), Result("c", None, line=2)]},
    ),
    "a finding of the file": (
        [BAD, user("a")],
        {"log": [BAD, Message(USER, "a", line=2)]},
    ),
    "lists of messages": (
        [{"id": "x", "messages": [user("a")]}, {"messages": [user("b")]}, {"id": "", "messages": [user("c")]}, [user("d")]],
        {"x": [Message(USER, "a", line=1)], "log:2": [Message(USER, "b", line=2)], "log:3": [Message(USER, "c", line=3)], "log:4": [Message(USER, "d", line=4)]},
    ),
    "an empty list": (
        [{"messages": []}, [], {"messages": [user("a")]}],
        {"log:3": [Message(USER, "a", line=3)], "log": [record("a list of `messages` is empty", 1), record("a list of `messages` is empty", 2)]},
    ),
    "what is no message": (
        [{"a": 1}, 5, {"messages": "x"}],
        {"log": [record("neither a message with a role nor a list of `messages`", 1), record("neither a message with a role nor a list of `messages`", 2), record("neither a message with a role nor a list of `messages`", 3)]},
    ),
    "a list of conversations": (
        [[{"id": "x", "messages": [user("a")]}, {"messages": [user("b")]}, {"other": 1}]],
        {"x": [Message(USER, "a", line=1)], "log:2": [Message(USER, "b", line=1)], "log": [record("neither a message with a role nor a list of `messages`", 1)]},
    ),
    "a list of lists": (
        [[[user("a")], [user("b")]]],
        {"log:1": [Message(USER, "a", line=1)], "log:2": [Message(USER, "b", line=1)]},
    ),
    "messages beside a list": (
        [user("a"), {"messages": [user("b")]}, user("c")],
        {"log:1": [Message(USER, "b", line=2)], "log": [Message(USER, "a", line=1), Message(USER, "c", line=3)]},
    ),
}  # fmt: skip


def step(number, source, message=None, **more):
    return {"step_id": number, "source": source, **({} if message is None else {"message": message}), **more}


def tool(name, arguments=NONE, id_="k"):
    return {"tool_call_id": id_, "function_name": name, "arguments": {} if arguments is NONE else arguments}


def document(*steps, **more):
    return {"schema_version": "ATIF-v1.2", "session_id": "s", "steps": [*steps], **more}


STAMP = "2026-01-01T00:00:00Z"

OF_ATIF = {
    "each source": (
        [document(step(1, "system", "a"), step(2, "user", "b"), step(3, "agent", "c", timestamp=STAMP))],
        {"s": [Message(SYSTEM, "a", line=1), Message(USER, "b", line=1), Message(ASSISTANT, "c", line=1, time=TIME)]},
    ),
    "another source": (
        [document(step(1, "tool", "a"), "x", {"message": "a"})],
        {"s": [record("a step has a `source`: system, user, agent", 1), record("a step has a `source`: system, user, agent", 1), record("a step has a `source`: system, user, agent", 1)]},
    ),
    "the name of a trajectory": (
        [document(step(1, "user", "a"), trajectory_id="t"), document(step(1, "user", "a")), {"steps": [step(1, "user", "a")]}],
        {"t": [Message(USER, "a", line=1)], "s": [Message(USER, "a", line=2)], "log": [Message(USER, "a", line=3)]},
    ),
    "copied context": (
        [document(step(1, "user", "a", is_copied_context=True), step(2, "user", "b", is_copied_context="yes"), step(3, "user", "c", is_copied_context=False))],
        {"s": [Message(USER, "b", line=1), Message(USER, "c", line=1)]},
    ),
    "a message of parts": (
        [document(step(1, "user", [{"text": "a"}, {"text": "b"}]), step(2, "user", [{"image": 1}]), step(3, "user", 5))],
        {"s": [Message(USER, "a\nb", line=1), record("a part of a message is no text", 1), record("a part of a message is no text", 1)]},
    ),
    "a call and its result": (
        [document(step(1, "agent", tool_calls=[tool("f", {"a": 1})], observation={"results": [{"source_call_id": "k", "content": "1"}]}, timestamp=STAMP))],
        {"s": [Call("k", "f", {'a': 1}, 1, line=1, time=TIME), Result("k", '1', line=1, time=TIME)]},
    ),
    "a result without an id": (
        [document(step(1, "agent", tool_calls=[tool("f")], observation={"results": [{"content": "1"}]}))],
        {"s": [Call("k", "f", {}, 1, line=1), Result("k", '1', line=1)]},
    ),
    "a result without an id of two calls": (
        [document(step(1, "agent", tool_calls=[tool("f"), tool("g", id_="l")], observation={"results": [{"content": "1"}, {"content": [1]}, {"content": None}]}))],
        {"s": [Call("k", "f", {}, 1, line=1), Call("l", "g", {}, 1, line=1), Message(SYSTEM, "1", line=1), record("a result without a call is no text", 1), record("a result without a call is no text", 1), Finding("E_LOG_NO_RESULT", "the call 'k' of f has no result", 1), Finding("E_LOG_NO_RESULT", "the call 'l' of g has no result", 1)]},
    ),
    "a result that is no object": (
        [document(step(1, "agent", tool_calls=[tool("f")], observation={"results": ["x", {"content": "1"}]}))],
        {"s": [Call("k", "f", {}, 1, line=1), record("a result is an object", 1), Result("k", '1', line=1)]},
    ),
    "an observation that is a text": (
        [document(step(1, "agent", "a", observation="x"))],
        {"s": [Message(ASSISTANT, "a", line=1), record("an `observation` has `results`", 1)]},
    ),
    "results that are no list": (
        [document(step(1, "agent", "a", observation={"results": "x"})),],
        {"s": [Message(ASSISTANT, "a", line=1), record("`results` is no list", 1)]},
    ),
    "calls that are no list": (
        [document(step(1, "agent", "a", tool_calls="x"))],
        {"s": [Message(ASSISTANT, "a", line=1), record("`tool_calls` is no list", 1)]},
    ),
    "a call without a name": (
        [document(step(1, "agent", tool_calls=[{"tool_call_id": "k"}, "x", {"function_name": 5}]))],
        {"s": [record("a call has a `function_name`", 1), record("a call has a `function_name`", 1), record("a call has a `function_name`", 1)]},
    ),
    "a call without an id or arguments": (
        [document(step(1, "agent", tool_calls=[{"function_name": "f"}], observation={"results": [{"content": "1"}]}))],
        {"s": [Call("#1", "f", {}, 1, line=1), Result("#1", '1', line=1)]},
    ),
    "arguments in a text": (
        [document(step(1, "agent", tool_calls=[tool("f", '{"a": 1}')], observation={"results": [{"content": "1"}]}))],
        {"s": [Call("k", "f", {'a': 1}, 1, line=1), Result("k", '1', line=1)]},
    ),
    "arguments that are no JSON": (
        [document(step(1, "agent", tool_calls=[tool("f", '{')], observation={"results": [{"content": "1"}]}))],
        {"s": [Finding("E_LOG_ARGUMENTS", "arguments of the call 'k' are no JSON: not JSON at line 1, column 2: unexpected end of data", 1), Call("k", "f", '{', 1, line=1), Result("k", '1', line=1)]},
    ),
    "calls of two steps": (
        [document(step(1, "agent", tool_calls=[tool("f"), tool("g", id_="l")], observation={"results": [{"source_call_id": "l", "content": "2"}, {"source_call_id": "k", "content": "1"}]}), step(2, "agent", "done"), step(3, "agent", tool_calls=[tool("f", id_="m")], observation={"results": [{"content": "3"}]}))],
        {"s": [Call("k", "f", {}, 1, line=1), Call("l", "g", {}, 1, line=1), Result("l", '2', line=1), Result("k", '1', line=1), Message(ASSISTANT, "done", line=1), Call("m", "f", {}, 2, line=1), Result("m", '3', line=1)]},
    ),
    "a subagent": (
        [document(step(1, "agent", tool_calls=[tool("ask")], observation={"results": [{"source_call_id": "k", "content": "1", "subagent_trajectory_ref": [{"session_id": "sub"}]}]}), step(2, "agent", "after"), subagent_trajectories=[{"session_id": "sub", "steps": [step(1, "agent", "inner", tool_calls=[tool("f", id_="i")], observation={"results": [{"content": "2"}]})]}])],
        {"s": [Call("k", "ask", {}, 1, line=1), Result("k", '1', line=1), Message(ASSISTANT, "inner", "sub", line=1), Call("i", "f", {}, 2, "sub", parent="k", line=1), Result("i", '2', line=1), Message(ASSISTANT, "after", line=1)]},
    ),
    "a subagent that nothing names": (
        [document(step(1, "agent", "a"), subagent_trajectories=[{"steps": [step(1, "agent", "b", tool_calls=[tool("f", id_="i")], observation={"results": [{"content": "2"}]})]}, {"trajectory_id": "x", "session_id": "y", "steps": [step(1, "agent", "c")]}, {"trajectory_id": "x", "steps": [step(1, "agent", "d")]}])],
        {"s": [Message(ASSISTANT, "a", line=1), Message(ASSISTANT, "b", "subagent 1", line=1), Call("i", "f", {}, 1, "subagent 1", line=1), Result("i", '2', line=1), Message(ASSISTANT, "c", "x", line=1), Message(ASSISTANT, "d", "x#3", line=1)]},
    ),
    "a subagent without steps": (
        [document(step(1, "agent", "a"), subagent_trajectories=["x", {"steps": 5}, {"steps": [step(1, "agent", "b")]}])],
        {"s": [record("a subagent has a list of `steps`", 1), record("a subagent has a list of `steps`", 1), Message(ASSISTANT, "a", line=1), Message(ASSISTANT, "b", "subagent 3", line=1)]},
    ),
    "subagents that are no list": (
        [document(step(1, "agent", "a"), subagent_trajectories={"a": 1})],
        {"s": [record("`subagent_trajectories` is no list", 1), Message(ASSISTANT, "a", line=1)]},
    ),
    "references that are no list": (
        [document(step(1, "agent", tool_calls=[tool("ask")], observation={"results": [{"content": "1", "subagent_trajectory_ref": {"session_id": "sub"}}]}), subagent_trajectories=[{"session_id": "sub", "steps": [step(1, "agent", "inner")]}])],
        {"s": [Call("k", "ask", {}, 1, line=1), record("`subagent_trajectory_ref` is no list", 1), Result("k", '1', line=1), Message(ASSISTANT, "inner", "sub", line=1)]},
    ),
    "a reference that is no object": (
        [document(step(1, "agent", tool_calls=[tool("ask")], observation={"results": [{"content": "1", "subagent_trajectory_ref": ["sub", {"trajectory_id": "sub", "session_id": "x"}]}]}), subagent_trajectories=[{"session_id": "sub", "steps": [step(1, "agent", "inner")]}])],
        {"s": [Call("k", "ask", {}, 1, line=1), Result("k", '1', line=1), Message(ASSISTANT, "inner", "sub", line=1)]},
    ),
    "what is no trajectory": (
        [5, {"steps": "x"}, BAD],
        {"log": [record("a trajectory of ATIF has a list of `steps`", 1), record("a trajectory of ATIF has a list of `steps`", 2), BAD]},
    ),
    "a trajectory and a defect": (
        [BAD, document(step(1, "user", "a"))],
        {"s": [Message(USER, "a", line=2)], "log": [BAD]},
    ),
}  # fmt: skip


def said(type_, content, uuid="", message=None, **more):
    more = {"uuid": uuid, **more} if uuid else more
    return {"type": type_, "sessionId": "S", "message": {"content": content, **(message or {})}, **more}


def uses(name, id_="t", given=NONE):
    return {"type": "tool_use", "name": name, "id": id_, "input": {} if given is NONE else given}


def came_back(content="1", id_="t", **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def text(words):
    return {"type": "text", "text": words}


OF_CLAUDE_CODE = {
    "texts": (
        [said("user", "a", timestamp=STAMP), said("assistant", [text("b"), text("c")])],
        {"S": [Message(USER, "a", line=1, time=TIME), Message(ASSISTANT, "b", line=2), Message(ASSISTANT, "c", line=2)]},
    ),
    "a meta line": (
        [said("user", "a", isMeta=True), said("user", "b", isMeta="yes"), said("assistant", "c", isMeta=False)],
        {"S": [Message(SYSTEM, "a", line=1), Message(USER, "b", line=2), Message(ASSISTANT, "c", line=3)]},
    ),
    "a line without a type": (
        [{"sessionId": "S"}, {"type": 5, "sessionId": "S"}, 5],
        {"S": [record("a line of a session has a `type`", 1), record("a line of a session has a `type`", 2), record("a line of a session has a `type`", 3)]},
    ),
    "a line of bookkeeping": (
        [{"type": "summary", "sessionId": "S", "summary": "x"}],
        {"S": []},
    ),
    "a line of another type with a message": (
        [{"type": "system", "sessionId": "S", "message": {}}, {"type": "y"*65, "message": 1}],
        {"S": [record("the type 'system' has a message, and is not known", 1), record("the type 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy' has a message, and is not known", 2)]},
    ),
    "a line without a message": (
        [{"type": "user", "sessionId": "S"}, {"type": "assistant", "message": "x"}],
        {"S": [record("a line of type user has a `message`", 1), record("a line of type assistant has a `message`", 2)]},
    ),
    "the session": (
        [{"type": "user", "message": {"content": "a"}}, said("user", "b")],
        {"log": [Message(USER, "a", line=1), Message(USER, "b", line=2)]},
    ),
    "a copy": (
        [said("user", "a", "1"), said("user", "a", "1"), said("user", "b", "2")],
        {"S": [Message(USER, "a", line=1), Message(USER, "b", line=3)]},
    ),
    "a copy that says other": (
        [said("user", "a", "1"), said("user", "b", "1"), said("user", "c", "u"*65), said("user", "d", "u"*65)],
        {"S": [Message(USER, "a", line=1), Finding("E_LOG_DUPLICATE", "the uuid '1' is that of an earlier line, which says other", 2), Message(USER, "c", line=3), Finding("E_LOG_DUPLICATE", "the uuid 'uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu' is that of an earlier line, which says other", 4)]},
    ),
    "no uuid": (
        [said("user", "a"), said("user", "a")],
        {"S": [Message(USER, "a", line=1), Message(USER, "a", line=2)]},
    ),
    "a content that is no list": (
        [said("user", 5), said("user", None), said("user", {"text": "a"})],
        {"S": [record("the `content` of a message is a text or a list", 1), record("the `content` of a message is a text or a list", 2), record("the `content` of a message is a text or a list", 3)]},
    ),
    "parts that are not read": (
        [said("user", [{"type": "image"}, "x", {"type": "text", "text": 5}, {"type": "tool_use"}, {"type": "tool_result"}, {"type": "z"*65}])],
        {"S": [record("a part of a message of type 'image' is not read", 1), record("a part of a message of type 'None' is not read", 1), record("a part of a message of type 'text' is not read", 1), record("a part of a message of type 'tool_use' is not read", 1), record("a part of a message of type 'tool_result' is not read", 1), record("a part of a message of type 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz' is not read", 1)]},
    ),
    "thoughts": (
        [said("assistant", [{"type": "thinking", "thinking": "a"}, {"type": "redacted_thinking"}, text("b")])],
        {"S": [Message(ASSISTANT, "b", line=1)]},
    ),
    "a call and its result": (
        [said("assistant", [uses("Bash", given={"a": 1})], timestamp=STAMP), said("user", [came_back("1", is_error=True)], timestamp=STAMP)],
        {"S": [Call("t", "Bash", {'a': 1}, 1, line=1, time=TIME), Result("t", '1', True, line=2, time=TIME)]},
    ),
    "an error that is no truth value": (
        [said("assistant", [uses("Bash")]), said("user", [came_back(is_error="yes")])],
        {"S": [Call("t", "Bash", {}, 1, line=1), Result("t", '1', line=2)]},
    ),
    "no error": (
        [said("assistant", [uses("Bash")]), said("user", [came_back(is_error=False)])],
        {"S": [Call("t", "Bash", {}, 1, line=1), Result("t", '1', False, line=2)]},
    ),
    "a result of parts": (
        [said("assistant", [uses("Bash")]), said("user", [came_back([text("a"), text("b")])])],
        {"S": [Call("t", "Bash", {}, 1, line=1), Result("t", 'a\nb', line=2)]},
    ),
    "a result without a content": (
        [said("assistant", [uses("Bash")]), said("user", [{"type": "tool_result", "tool_use_id": "t"}])],
        {"S": [Call("t", "Bash", {}, 1, line=1), Result("t", '', line=2)]},
    ),
    "calls of one message on lines": (
        [said("assistant", [uses("A")], message={"id": "m1"}), said("assistant", [uses("B", "t2")], message={"id": "m1"}), said("user", [came_back(), came_back("2", "t2")]), said("assistant", [uses("A", "t3")], message={"id": "m2"}), said("user", [came_back("3", "t3")])],
        {"S": [Call("t", "A", {}, 1, line=1), Call("t2", "B", {}, 1, line=2), Result("t", '1', line=3), Result("t2", '2', line=3), Call("t3", "A", {}, 2, line=4), Result("t3", '3', line=5)]},
    ),
    "calls of lines with uuids": (
        [said("assistant", [uses("A"), uses("B", "t2")], "u1"), said("user", [came_back(), came_back("2", "t2")]), said("assistant", [uses("A", "t3")], "u2"), said("user", [came_back("3", "t3")])],
        {"S": [Call("t", "A", {}, 1, line=1), Call("t2", "B", {}, 1, line=1), Result("t", '1', line=2), Result("t2", '2', line=2), Call("t3", "A", {}, 2, line=3), Result("t3", '3', line=4)]},
    ),
    "calls of lines without ids": (
        [said("assistant", [uses("A"), uses("B", "t2")]), said("user", [came_back(), came_back("2", "t2")])],
        {"S": [Call("t", "A", {}, 1, line=1), Call("t2", "B", {}, 1, line=1), Result("t", '1', line=2), Result("t2", '2', line=2)]},
    ),
    "a call without an id or an input": (
        [said("assistant", [{"type": "tool_use", "name": "A"}]), said("user", [came_back(id_="#1")])],
        {"S": [Call("#1", "A", None, 1, line=1), Result("#1", '1', line=2)]},
    ),
    "a side chain": (
        [said("assistant", [uses("Task", given={"prompt": "go"})], "1"), said("user", "go", "2", isSidechain=True), said("assistant", [uses("A", "t2")], "3", isSidechain=True, parentUuid="2"), said("user", [came_back("x", "t2")], "4", isSidechain=True, parentUuid="3"), said("user", [came_back("done")], "5"), said("assistant", "end", "6")],
        {"S": [Call("t", "Task", {'prompt': 'go'}, 1, line=1), Message(USER, "go", "t", line=2), Call("t2", "A", {}, 2, "t", parent="t", line=3), Result("t2", 'x', line=4), Result("t", 'done', line=5), Message(ASSISTANT, "end", line=6)]},
    ),
    "a side chain of an agent": (
        [said("assistant", [uses("Agent", given={"prompt": "go"})], "1"), said("user", "go", "2", isSidechain=True, agentId="g"), said("assistant", [text("b")], "3", isSidechain=True, agentId="g"), said("user", [came_back()], "4")],
        {"S": [Call("t", "Agent", {'prompt': 'go'}, 1, line=1), Message(USER, "go", "t", line=2), Message(ASSISTANT, "b", "t", line=3), Result("t", '1', line=4)]},
    ),
    "a side chain that nobody began": (
        [said("user", "go", "2", isSidechain=True), said("user", "other", "3", isSidechain=True, parentUuid="2"), said("user", "go", "4", isSidechain=True, agentId="g"), said("user", "go", "5", isSidechain="yes")],
        {"S": [Message(USER, "go", "side chain", line=1), Message(USER, "other", "side chain", line=2), Message(USER, "go", "g", line=3), Message(USER, "go", line=4)]},
    ),
    "a call of a side chain that nobody began": (
        [said("assistant", [uses("A", "t2")], "3", isSidechain=True), said("user", [came_back("x", "t2")], "4", isSidechain=True, parentUuid="3")],
        {"S": [Call("t2", "A", {}, 1, "side chain", line=1), Result("t2", 'x', line=2)]},
    ),
    "a prompt of another tool": (
        [said("assistant", [uses("Bash", given={"prompt": "go"})], "1"), said("user", "go", "2", isSidechain=True), said("user", [came_back()], "3")],
        {"S": [Call("t", "Bash", {'prompt': 'go'}, 1, line=1), Message(USER, "go", "side chain", line=2), Result("t", '1', line=3)]},
    ),
    "a prompt that is no text": (
        [said("assistant", [uses("Task", given={"prompt": 5})], "1"), said("user", "go", "2", isSidechain=True), said("user", [came_back()], "3")],
        {"S": [Call("t", "Task", {'prompt': 5}, 1, line=1), Message(USER, "go", "side chain", line=2), Result("t", '1', line=3)]},
    ),
    "an input that is no object": (
        [said("assistant", [uses("Task", given="go")], "1"), said("user", [came_back()], "3")],
        {"S": [Call("t", "Task", 'go', 1, line=1), Result("t", '1', line=2)]},
    ),
    "findings of the file": (
        [BAD, said("user", "a")],
        {"S": [BAD, Message(USER, "a", line=2)]},
    ),
    "nothing but findings": (
        [BAD],
        {"log": [BAD]},
    ),
}  # fmt: skip


CASES = {
    f"{reader.name}: {case}": (reader, *both)
    for reader, table in ((OPENAI, OF_OPENAI), (ATIF, OF_ATIF), (CLAUDE_CODE, OF_CLAUDE_CODE))
    for case, both in table.items()
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_record_says(case):
    reader, records, trajectories = CASES[case]
    assert read(reader, records) == trajectories
