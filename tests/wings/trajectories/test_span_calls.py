"""Spans by hand: in which order what they say is added, which call of a message a span is, and what is left in doubt."""

from typing import Any

import pytest
from msgspec import UNSET

from specledger.wings.trajectories.building import Builder
from specledger.wings.trajectories.model import Call, Finding, Message, Result
from specledger.wings.trajectories.readers.span_calls import Conversation, ToolKeys
from specledger.wings.trajectories.readers.span_records import Span, SpanKind, kind_of

KEYS = ToolKeys("gen_ai.tool.name", "gen_ai.tool.call.id", "args", "result")
PLAIN = ToolKeys("gen_ai.tool.name", "gen_ai.tool.call.id", "args", "result", "command")
TOOL: Any = {"gen_ai.operation.name": "execute_tool"}


def span(id_, start=0, end=0, *, parent="", failed=False, name="chat", **attributes):
    """A span whose times are microseconds."""
    given = {key.replace("__", "."): value for key, value in attributes.items()}
    return Span("t", id_, parent, name, start * 1000, end * 1000, start or "", given, (), failed, 7)


def tool(id_, start=0, end=0, called="pay", call="", **more):
    """The span of a call; `call` is the id that the log gives it."""
    parent, failed = more.pop("parent", ""), more.pop("failed", False)
    name = more.pop("name", "execute_tool pay")
    own = {
        **TOOL,
        **({"gen_ai.tool.name": called} if called else {}),
        **({"gen_ai.tool.call.id": call} if call else {}),
    }
    made = span(id_, start, end, parent=parent, failed=failed, name=name, **more)
    made.attributes.update(own)
    return made


def chat(id_, start, end, given=(), answered=(), parent=""):
    messages = {"gen_ai.input.messages": [*given], "gen_ai.output.messages": [*answered]}
    made = span(id_, start, end, parent=parent)
    made.attributes.update(messages)
    return made


def said(role, text):
    return {"role": role, "content": text}


def asks(*calls, text=""):
    parts: list[Any] = [{"type": "text", "content": text}] if text else []
    for id_, name, arguments in calls:
        parts.append({"type": "tool_call", "id": id_, "name": name, "arguments": arguments})
    return {"role": "assistant", "parts": parts}


def answers(id_, response, name=""):
    part = {"type": "tool_call_response", "id": id_, "name": name, "response": response}
    return {"role": "tool", "parts": [part]}


def read(*spans, keys=KEYS):
    builder = Builder("1", "log", "otel")
    Conversation(builder, spans, lambda each: kind_of(each) is SpanKind.TOOL, keys).read()
    return builder.entries


ENDED = {None: "", True: " failed", False: " well"}


def brief(entries):
    short: dict[Any, Any] = {
        Message: lambda entry: f"{entry.time} {entry.speaker}{entry.actor and ' of ' + entry.actor}: {entry.text}",
        Call: lambda entry: (
            f"{entry.time} call {entry.id} {entry.tool} {entry.arguments} [{entry.batch}]"
            f"{entry.actor and ' of ' + entry.actor}{entry.parent and ' in ' + entry.parent}"
        ),
        Result: lambda entry: f"{entry.time} result {entry.call} {entry.content}{ENDED[entry.error]}",
        Finding: lambda entry: f"{entry.code} {entry.message}",
    }
    return [short[type(entry)](entry) for entry in entries]


A, B = {"to": "Ann"}, {"to": "Bob"}
NO_TIME = "E_LOG_MESSAGE span {}: no time says when it began, so its place among the others is not known"
CASES: dict[str, tuple[list[Span], list[str]]] = {
    "a tool begins and ends": (
        [tool("s", 10, 20, args=A, result="ok")],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s ok"],
    ),
    "without an end it ends where it began": (
        [tool("s", 10, args=A, result="ok")],
        ["10 call s pay {'to': 'Ann'} [1]", " result s ok"],
    ),
    "its name is that of the span": (
        [tool("s", 10, 20, called="", args=A, result="ok")],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s ok"],
    ),
    "it has no name": (
        [tool("s", 10, 20, called="", name="execute_tool ", args=A)],
        ["E_LOG_RECORD a span of a tool has its name"],
    ),
    "its id is the one of the log": (
        [tool("s", 10, 20, call="c", args=A, result="ok")],
        ["10 call c pay {'to': 'Ann'} [1]", "20 result c ok"],
    ),
    "nothing of it was recorded": ([tool("s", 10, 20)], ["10 call s pay UNSET [1]", "20 result s UNSET"]),
    "all of it was redacted": (
        [tool("s", 10, 20, args="__REDACTED__", result="__REDACTED__")],
        ["10 call s pay UNSET [1]", "20 result s UNSET"],
    ),
    "its status says that it failed": (
        [tool("s", 10, 20, args=A, result="no", failed=True)],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s no failed"],
    ),
    "its error has a type": (
        [tool("s", 10, 20, args=A, result="no", error__type="x")],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s no failed"],
    ),
    "arguments as JSON": (
        [tool("s", 10, 20, args='{"to": "Ann"}', result="ok")],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s ok"],
    ),
    "calls one after the other are two batches": (
        [tool("s", 10, 20, args=A, result=1), tool("u", 20, 30, args=B, result=2)],
        ["10 call s pay {'to': 'Ann'} [1]", "20 result s 1", "20 call u pay {'to': 'Bob'} [2]", "30 result u 2"],
    ),
    "calls at the same time are one batch": (
        [tool("s", 10, 21, args=A, result=1), tool("u", 20, 30, args=B, result=2)],
        ["10 call s pay {'to': 'Ann'} [1]", "20 call u pay {'to': 'Bob'} [1]", "21 result s 1", "30 result u 2"],
    ),
    "a batch goes on as long as its longest call": (
        [
            tool("s", 10, 40, args=A, result=1),
            tool("u", 12, 15, args=B, result=2),
            tool("v", 39, 50, args=A, result=3),
            tool("w", 50, 60, args=B, result=4),
        ],
        [
            "10 call s pay {'to': 'Ann'} [1]",
            "12 call u pay {'to': 'Bob'} [1]",
            "15 result u 2",
            "39 call v pay {'to': 'Ann'} [1]",
            "40 result s 1",
            "50 result v 3",
            "50 call w pay {'to': 'Bob'} [2]",
            "60 result w 4",
        ],
    ),
    "what is inside a call is that of its actor": (
        [tool("s", 10, 40, args=A, result=1), tool("u", 20, 30, parent="s", args=B, result=2)],
        [
            "10 call s pay {'to': 'Ann'} [1]",
            "20 call u pay {'to': 'Bob'} [2] of s in s",
            "30 result u 2",
            "40 result s 1",
        ],
    ),
    "what begins and ends with its parent stands inside it": (
        [
            chat("a", 10, 20, [said("user", "outer")], [said("assistant", "outer done")]),
            chat("b", 10, 20, [said("user", "inner")], [said("assistant", "inner done")], parent="a"),
        ],
        ["10 user: outer", "10 user: inner", "20 assistant: inner done", "20 assistant: outer done"],
    ),
    "the same without an end": (
        [
            chat("a", 10, 0, [said("user", "outer")], [said("assistant", "outer done")]),
            chat("b", 10, 0, [said("user", "inner")], [said("assistant", "inner done")], parent="a"),
        ],
        ["10 user: outer", "10 user: inner", " assistant: inner done", " assistant: outer done"],
    ),
    "what ends where another one begins is before it": (
        [
            chat("b", 20, 30, [said("user", "second")]),
            chat("a", 10, 20, [said("user", "first")], [said("assistant", "end")]),
        ],
        ["10 user: first", "20 assistant: end", "20 user: second"],
    ),
    "what has no start is last": (
        [
            chat("a", 0, 0, [said("user", "when?")]),
            chat("b", 10, 20, [said("user", "first")], [said("assistant", "end")]),
        ],
        [NO_TIME.format("a"), "10 user: first", "20 assistant: end", " user: when?"],
    ),
    "of one span no start is asked": ([chat("a", 0, 0, [said("user", "x")])], [" user: x"]),
    "a span that says nothing needs no start": (
        [span("a"), chat("b", 10, 20, [said("user", "x")])],
        ["10 user: x"],
    ),
    "a tool without a start, too": (
        [tool("s", 0, 0, args=A, result="ok"), chat("b", 10, 20, [said("user", "x")])],
        [NO_TIME.format("s"), "10 user: x", " call s pay {'to': 'Ann'} [1]", " result s ok"],
    ),
    "what a later list has again is read once, what it has more of is read": (
        [
            chat("a", 10, 20, [said("user", "go")]),
            chat("b", 30, 40, [said("user", "go"), said("user", "go")]),
            chat("c", 50, 60, [said("user", "go"), said("user", "go")]),
        ],
        ["10 user: go", "30 user: go"],
    ),
    "an answer that says the same again says it twice": (
        [
            chat("a", 10, 20, [], [said("assistant", "ok")]),
            chat("b", 30, 40, [said("assistant", "ok")], [said("assistant", "ok")]),
        ],
        ["20 assistant: ok", "40 assistant: ok"],
    ),
    "what is asked for is the span with its id": (
        [
            chat("a", 10, 20, [], [asks(("c2", "pay", B), ("c1", "pay", A))]),
            tool("s", 21, 22, call="c1", args=A, result=1),
            tool("u", 23, 24, call="c2", args=B, result=2),
        ],
        [
            "21 call c1 pay {'to': 'Ann'} [1]",
            "22 result c1 1",
            "23 call c2 pay {'to': 'Bob'} [1]",
            "24 result c2 2",
        ],
    ),
    "a span without an id is known by its arguments": (
        [
            chat("a", 10, 20, [], [asks(("c2", "pay", B), ("c1", "pay", A))]),
            tool("s", 21, 22, args=A, result=1),
            tool("u", 23, 24, args=B, result=2),
        ],
        [
            "21 call c1 pay {'to': 'Ann'} [1]",
            "22 result c1 1",
            "23 call c2 pay {'to': 'Bob'} [1]",
            "24 result c2 2",
        ],
    ),
    "of two spans with equal arguments the first is the first call": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A), ("c2", "pay", A))]),
            tool("s", 21, 22, args=A, result=1),
            tool("u", 23, 24, args=A, result=2),
        ],
        [
            "21 call c1 pay {'to': 'Ann'} [1]",
            "22 result c1 1",
            "23 call c2 pay {'to': 'Ann'} [1]",
            "24 result c2 2",
        ],
    ),
    "a span of another tool is another call": (
        [chat("a", 10, 20, [], [asks(("c1", "look", A))]), tool("s", 21, 22, args=A, result=1)],
        ["20 call c1 look {'to': 'Ann'} [1]", "21 call s pay {'to': 'Ann'} [2]", "22 result s 1"],
    ),
    "a span of other arguments is another call": (
        [chat("a", 10, 20, [], [asks(("c1", "pay", B))]), tool("s", 21, 22, args=A, result=1)],
        ["20 call c1 pay {'to': 'Bob'} [1]", "21 call s pay {'to': 'Ann'} [2]", "22 result s 1"],
    ),
    "a span with the id has other arguments": (
        [chat("a", 10, 20, [], [asks(("c1", "pay", B))]), tool("s", 21, 22, call="c1", args=A, result=1)],
        [
            "E_LOG_MESSAGE span a: the call 'c1' has other arguments than its span",
            "21 call c1 pay {'to': 'Ann'} [1]",
            "22 result c1 1",
        ],
    ),
    "a span that hides its arguments and result gets them from messages": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A))]),
            tool("s", 21, 22, call="c1"),
            chat("b", 30, 40, [answers("c1", "done")]),
        ],
        ["21 call c1 pay {'to': 'Ann'} [1]", "22 result c1 done"],
    ),
    "a result that the span has is kept": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A))]),
            tool("s", 21, 22, call="c1", result="own"),
            chat("b", 30, 40, [answers("c1", "done")]),
        ],
        ["21 call c1 pay {'to': 'Ann'} [1]", "22 result c1 own"],
    ),
    "a message gives its id to a span that has none": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A))]),
            tool("s", 21, 22, args=A),
            chat("b", 30, 40, [answers("c1", 5)]),
        ],
        ["21 call c1 pay {'to': 'Ann'} [1]", "22 result c1 5"],
    ),
    "a call without a span, and its result": (
        [chat("a", 10, 20, [], [asks(("c1", "pay", A), text="I pay.")]), chat("b", 30, 40, [answers("c1", "done")])],
        ["20 assistant: I pay.", "20 call c1 pay {'to': 'Ann'} [1]", "30 result c1 done"],
    ),
    "calls of two answers are two batches": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A), ("c2", "pay", B))]),
            chat("b", 30, 40, [], [asks(("c3", "pay", A))]),
        ],
        [
            "20 call c1 pay {'to': 'Ann'} [1]",
            "20 call c2 pay {'to': 'Bob'} [1]",
            "40 call c3 pay {'to': 'Ann'} [2]",
        ],
    ),
    "a result without an id is that of the first call of its tool that waits": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A), ("c2", "look", B))]),
            chat("b", 30, 40, [answers("", "seen", "look"), answers("", "paid", "pay")]),
        ],
        [
            "20 call c1 pay {'to': 'Ann'} [1]",
            "20 call c2 look {'to': 'Bob'} [1]",
            "30 result c2 seen",
            "30 result c1 paid",
        ],
    ),
    "a result of no call": (
        [chat("b", 30, 40, [answers("", "paid", "pay")])],
        ["E_LOG_MESSAGE span b: a result has the id of its call"],
    ),
    "a call after what is new": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A))]),
            chat("b", 30, 40, [said("user", "new"), asks(("c1", "pay", A))]),
        ],
        [
            "E_LOG_MESSAGE span b: `gen_ai.input.messages`[1]: whether a call after what is new is an earlier one is not known",
            "20 call c1 pay {'to': 'Ann'} [1]",
            "30 user: new",
        ],
    ),
    "a call after a new system prompt alone": (
        [
            chat("a", 10, 20, [], [asks(("c1", "pay", A))]),
            chat("b", 30, 40, [said("system", "new"), asks(("c1", "pay", A))]),
        ],
        ["20 call c1 pay {'to': 'Ann'} [1]", "30 system: new"],
    ),
    "a defect of a message is told once": (
        [chat("a", 10, 20, [{"content": "x"}]), chat("b", 30, 40, [{"content": "x"}])],
        ["E_LOG_MESSAGE span a: `gen_ai.input.messages`[0]: a message has a `role`"],
    ),
    "a defect of another message is told, too": (
        [chat("a", 10, 20, [{"content": "x"}]), chat("b", 30, 40, [{"content": "y"}])],
        [
            "E_LOG_MESSAGE span a: `gen_ai.input.messages`[0]: a message has a `role`",
            "E_LOG_MESSAGE span b: `gen_ai.input.messages`[0]: a message has a `role`",
        ],
    ),
}


@pytest.mark.parametrize(("spans", "told"), CASES.values(), ids=CASES)
def test_what_spans_say_in_the_order_of_time(spans, told):
    assert brief(read(*spans)) == told


# Arguments of a span that are a text, where a reader has a name for such a text.
TEXTS: dict[str, tuple[Any, Any]] = {
    "a text": ("ls", {"command": "ls"}),
    "an object": ('{"a": 1}', {"a": 1}),
    "an object after white space": (' {"a": 1}', {"a": 1}),
    "a list": ("[1]", {"command": "[1]"}),
    "nothing": ("", {}),
    "no text": ({"a": 1}, {"a": 1}),
    "nothing was recorded": (UNSET, UNSET),
}


@pytest.mark.parametrize(("written", "arguments"), TEXTS.values(), ids=TEXTS)
def test_a_text_alone_is_the_argument_of_its_name(written, arguments):
    given = {} if written is UNSET else {"args": written}
    calls = [entry for entry in read(tool("s", 10, 20, **given), keys=PLAIN) if isinstance(entry, Call)]
    assert [call.arguments for call in calls] == [arguments]


def test_an_object_that_is_cut_off_is_no_text_alone():
    entries = read(tool("s", 10, 20, args='{"a"'), keys=PLAIN)
    assert [type(entry) for entry in entries] == [Finding, Call, Result]


def test_a_span_is_named_by_its_id_cut_or_by_that_of_its_parent():
    long = chat("i" * 70, 10, 20, [{"content": "x"}])
    record = chat("", 30, 40, [{"content": "y"}], parent="up")
    told = [entry.message.partition(":")[0] for entry in read(long, record) if isinstance(entry, Finding)]
    assert told == [f"span {'i' * 64}", "span up"]
