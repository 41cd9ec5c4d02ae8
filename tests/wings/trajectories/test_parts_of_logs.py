"""Parts of messages in spans, conditions of formats, and files of subagents: each on values by hand."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from specledger.wings.trajectories.formats.plans import ConditionPlan, nodes
from specledger.wings.trajectories.model import Speaker
from specledger.wings.trajectories.readers.message_parts import (
    ANY,
    CallPart,
    ResultPart,
    TextPart,
    agrees,
    arguments_key,
    key_of,
    keys_asked,
    read_message,
    result_of,
    structured,
)
from specledger.wings.trajectories.readers.subagent_files import subagent_file, with_subagents
from specledger.wings.trajectories.rules.paths import parse_path
from specledger.wings.trajectories.source import Source

STRUCTURED: dict[str, Any] = {
    "an object": ('{"a": 1}', {"a": 1}),
    "a list of objects": (' [{"a": 1}]', [{"a": 1}]),
    "a list of other things": ("[1]", "[1]"),
    "a list of both": ('[{"a": 1}, 1]', '[{"a": 1}, 1]'),
    "an empty list": ("[]", "[]"),
    "no JSON": ("{a", "{a"),
    "a number": ("1", "1"),
    "a text": ("words", "words"),
    "a value": ([{"a": 1}], [{"a": 1}]),
    "another value": (7, 7),
}


@pytest.mark.parametrize(("value", "read"), STRUCTURED.values(), ids=STRUCTURED)
def test_json_in_a_text_is_read_where_it_is_objects(value, read):
    assert structured(value) == read


def text(speaker, said):
    return TextPart(speaker, said)


def call(name="f", arguments: Any = UNSET, id_="1"):
    return CallPart(id_, name, arguments)


MESSAGES: dict[str, Any] = {
    "a text": ({"role": "human", "content": "hi"}, [text(Speaker.USER, "hi")], []),
    "an empty text": ({"role": "user", "content": ""}, [], []),
    "no content": ({"role": "assistant"}, [], []),
    "several texts": (
        {"role": "ai", "content": [{"type": "text", "text": "a"}, "b", {"content": "c"}]},
        [text(Speaker.ASSISTANT, "a\nb\nc")],
        [],
    ),
    "a text after a call": (
        {"role": "model", "parts": [{"type": "tool_call", "id": "1", "name": "f", "arguments": {}}, {"text": "a"}]},
        [text(Speaker.ASSISTANT, "a"), call(arguments={})],
        [],
    ),
    "thinking is not read": ({"role": "model", "content": [{"type": "thinking", "thinking": "x"}]}, [], []),
    "parts that cannot be read": (
        {"role": "user", "content": [{"type": "image"}, 7, {"type": 7}]},
        [],
        ["3 parts of a message are no text"],
    ),
    "a redacted text": ({"role": "user", "content": "__REDACTED__"}, [], ["the text was redacted"]),
    "no role": ({"content": "x"}, [], ["a message has a `role`"]),
    "no object": (7, [], ["a message has a `role`"]),
    "a result": (
        {"role": "tool", "tool_call_id": "1", "id": "2", "name": "f", "content": "x"},
        [ResultPart("1", "f", "x")],
        [],
    ),
    "a result with another id": ({"role": "function", "id": "2", "content": 7}, [ResultPart("2", "", 7)], []),
    "a user with the id of a call": (
        {"role": "user", "toolUseId": "1", "content": "x"},
        [],
        ["a message of the user has the id of a call"],
    ),
    "a result in a part": (
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "1", "status": "error", "content": "x"}},
                {"toolResult": {"toolUseId": "2", "status": "success", "content": "y"}},
                {"toolResult": {"toolUseId": "3", "content": "z"}},
            ],
        },
        [ResultPart("1", "", "x", True), ResultPart("2", "", "y", False), ResultPart("3", "", "z", None)],
        [],
    ),
    "a call in a part": (
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}]},
        [call(arguments={"a": 1})],
        [],
    ),
    "a call without a name": (
        {"role": "assistant", "content": [{"type": "tool_call", "id": "1"}]},
        [],
        ["1 parts of a message are no text"],
    ),
    "a response": (
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "result": "r", "response": "s"}]},
        [ResultPart("1", "", "s")],
        [],
    ),
    "a text in a list of results": (
        {"role": "tool", "parts": ["x"]},
        [],
        ["1 parts of a message are no text"],
    ),
    "calls of OpenAI": (
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        [call(arguments="{}")],
        [],
    ),
    "flat calls": (
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "f"}, {"id": "1", "function.name": "f"}]},
        [call(), call()],
        [],
    ),
    "calls that are none": (
        {"role": "assistant", "tool_calls": [7, {"id": "1"}, {"function": 7}]},
        [],
        ["a call has a name"] * 3,
    ),
    "calls that are no list": ({"role": "assistant", "tool_calls": "f"}, [], ["`tool_calls` is no list"]),
    "a list that a user wrote in JSON is one of parts": (
        {"role": "user", "content": '[{"a": 1}]'},
        [],
        ["1 parts of a message are no text"],
    ),
    "a model may answer in JSON": (
        {"role": "assistant", "content": '[{"a": 1}]'},
        [text(Speaker.ASSISTANT, '[{"a": 1}]')],
        [],
    ),
    "a part of a model in JSON": (
        {"role": "assistant", "content": '[{"type": "text", "text": "a"}]'},
        [text(Speaker.ASSISTANT, "a")],
        [],
    ),
}


@pytest.mark.parametrize(("written", "parts", "defects"), MESSAGES.values(), ids=MESSAGES)
def test_what_a_message_says(written, parts, defects):
    message = read_message(written, "w")
    assert (message.parts, message.defects) == (parts, defects)
    assert (message.where, message.written) == ("w", written)


def test_a_role_that_is_none_is_cut():
    (defect,) = read_message({"role": "r" * 65}, "w").defects
    assert defect.startswith(f"the role '{'r' * 64}' is none of system, developer, ")


@pytest.mark.parametrize(
    ("content", "result"),
    [
        (UNSET, UNSET),
        ("__REDACTED__", UNSET),
        ("x", "x"),
        (7, 7),
        ([{"type": "text", "text": "a"}], "a"),
        ('[{"type": "text", "text": "a"}]', "a"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_the_content_of_a_result(content, result):
    assert result_of(content) == result


KEYS: dict[str, Any] = {
    "none": (UNSET, [b"", ANY]),
    "null": (None, [b"", ANY]),
    "empty": ("", [b"", ANY]),
    "an object": ({"a": 1, "b": 2}, [b'{"a":1,"b":2}', b"\"{'a': 1, 'b': 2}\"", b""]),
    "one argument": ({"a": "x"}, [b'{"a":"x"}', b"\"{'a': 'x'}\"", b'"x"', b""]),
    "one that is no text": ({"a": 1}, [b'{"a":1}', b"\"{'a': 1}\"", b""]),
    "JSON in a text": ('{"a": 1, "b": 2}', [b'{"a":1,"b":2}', b"\"{'a': 1, 'b': 2}\"", b""]),
    "a text": ("x y", [b'"x y"', b""]),
}


@pytest.mark.parametrize(("arguments", "keys"), KEYS.values(), ids=KEYS)
def test_which_arguments_the_span_of_a_call_may_have(arguments, keys):
    assert keys_asked(arguments) == keys


@pytest.mark.parametrize(
    ("own", "asked", "same"),
    [
        ({"a": 1}, '{"a": 1}', True),
        ('{"a":1}', {"a": 1}, True),
        ({"a": 2}, {"a": 1}, False),
        ("x", {"a": "x"}, True),
        ("x", {"a": "x", "b": "y"}, False),
        (UNSET, {"a": 1}, True),
        ({"a": 1}, UNSET, True),
        ({}, {"a": 1}, False),
    ],
)
def test_whether_a_span_is_that_of_a_call(own, asked, same):
    assert agrees(own, asked) is same
    assert (arguments_key(own) == b"") == (own is UNSET)


def test_parts_are_told_apart_by_more_than_their_ids():
    alike = key_of(call(arguments='{"a": 1}'))
    assert alike == key_of(call(arguments={"a": 1}))
    others = [call(arguments={"a": 2}), call("g", {"a": 1}), call(arguments={"a": 1}, id_="2"), call()]
    assert alike not in map(key_of, others)
    assert key_of(ResultPart("1", "f", "x")) == key_of(ResultPart("1", "", "x"))
    assert key_of(ResultPart("", "f", "x")) != key_of(ResultPart("", "g", "x"))
    assert key_of(ResultPart("1", "f", UNSET)) != key_of(ResultPart("1", "f", "x"))
    assert key_of(TextPart(Speaker.USER, "x")) != key_of(TextPart(Speaker.SYSTEM, "x"))


# conditions of formats


def path(text):
    return parse_path(text, ("record", "trajectory", "entry", "item"))


ROOTS = {"record": {"a": 1, "b": [{"c": "x"}, {"c": "y"}], "n": None, "t": True, "s": "1"}, "item": {"d": 2}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("record.a", [1]),
        ("record.n", []),
        ("record.z", []),
        ("record.b[*].c", ["x", "y"]),
        ("record.b", [[{"c": "x"}, {"c": "y"}]]),
        ("record.b[1].c", ["y"]),
        ("record.b[2].c", []),
        ("entry.a", []),
    ],
)
def test_what_a_path_of_a_format_leads_to(text, found):
    assert nodes(path(text), ROOTS) == found


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("record.a", (1,), True),
        ("record.a", (2, 1), True),
        ("record.a", ("1",), False),
        ("record.a", (True,), False),
        ("record.t", (True,), True),
        ("record.t", (1,), False),
        ("record.s", (1,), False),
        ("record.s", ("1",), True),
        ("record.b[*].c", ("y",), True),
        ("record.z", (1,), False),
    ],
)
def test_whether_a_value_of_a_log_is_one_of_those_that_are_named(text, values, holds):
    assert ConditionPlan(((path(text), values),)).holds(ROOTS) is holds


def test_a_condition_needs_all_that_it_names():
    here, gone = path("record.a"), path("record.n")
    assert ConditionPlan((), (here,)).holds(ROOTS)
    assert not ConditionPlan((), (here, gone)).holds(ROOTS)
    assert not ConditionPlan(((here, (1,)),), (gone,)).holds(ROOTS)
    assert ConditionPlan(((here, (7,)),), (here,)).recorded(ROOTS)
    assert not ConditionPlan(((gone, (7,)),)).recorded(ROOTS)
    assert not ConditionPlan((), (gone,)).recorded(ROOTS)
    both = ConditionPlan(((here, (1,)), (path("item.d"), (2,))), (gone, path("item.e")))
    assert both.part(of_items=True) == ConditionPlan(((path("item.d"), (2,)),), (path("item.e"),))
    assert both.part(of_items=False) == ConditionPlan(((here, (1,)),), (gone,))


# files of subagents

FIRST = {"isSidechain": True, "sessionId": "s1", "agentId": "a1", "message": {"content": "look"}}


def source(folder, name, *records):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file, name


@pytest.mark.parametrize(
    ("first", "is_one"),
    [
        (FIRST, True),
        ({**FIRST, "isSidechain": 1}, False),
        ({**FIRST, "isSidechain": False}, False),
        ({**FIRST, "sessionId": ""}, False),
        ({**FIRST, "agentId": None}, False),
        ([FIRST], False),
    ],
)
def test_the_first_line_says_whose_file_it_is(first, is_one, tmp_path):
    file = subagent_file(Source(*source(tmp_path, "agent-a1.jsonl", first, FIRST)))
    assert (file is not None) is is_one
    if file is not None:
        assert (file.session, file.agent, file.prompt) == ("s1", "a1", "look")


def test_a_prompt_may_be_missing(tmp_path):
    file = subagent_file(Source(*source(tmp_path, "agent-a1.jsonl", {**FIRST, "message": None}, FIRST)))
    assert file is not None
    assert file.prompt == ""
    assert subagent_file(Source(*source(tmp_path, "empty.jsonl"))) is None


@pytest.mark.parametrize(
    ("name", "companion"),
    [
        ("agent-a1.jsonl", True),
        ("s1/subagents/agent-a1.jsonl", True),
        ("other/agent-a1.jsonl", False),
        ("a1.jsonl", False),
        ("agent-a1.json", False),
    ],
)
def test_a_file_of_a_subagent_is_read_with_its_session(name, companion, tmp_path):
    session, own = source(tmp_path, "s1.jsonl", {"a": 1}, {"b": 2}), source(tmp_path, name, FIRST, FIRST)
    sources = with_subagents([own, session, own])
    names = [read.name for read in sources]
    assert names == (["s1.jsonl"] if companion else [name, "s1.jsonl", name])
    companions = next(read for read in sources if read.name == "s1.jsonl").companions
    assert [read.name for read in companions] == ([name] if companion else [])


def test_without_its_session_it_is_read_alone(tmp_path):
    own = source(tmp_path, "agent-a1.jsonl", FIRST, FIRST)
    assert [read.name for read in with_subagents([own])] == ["agent-a1.jsonl"]
