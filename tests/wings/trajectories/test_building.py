"""How calls and results of a log are matched, and what is said of those that do not fit."""

import pytest
from msgspec import UNSET

from specledger.wings.trajectories.building import Builder, string, text_of
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker


@pytest.fixture
def log():
    return Builder("1", "log.jsonl", "format")


def call(log, name=None, tool="t", **fields):
    return log.call(tool, {}, id=name, batch=0, **fields)


def findings(entries):
    return [(entry.code, entry.message, entry.line) for entry in entries if isinstance(entry, Finding)]


def test_a_trajectory_keeps_what_was_added_in_order(log):
    log.message(Speaker.USER, "go", actor="a", line=1, time=5)
    log.message(Speaker.ASSISTANT, "")
    own = log.call("t", {"n": 1}, id="x", batch=2, actor="a", parent="p", line=3, time=7)
    log.result("x", "done", error=False, line=4, time=8)
    built = log.finish()
    assert (own, built.id, built.file, built.format) == ("x", "1", "log.jsonl", "format")
    assert built.entries == (
        Message(Speaker.USER, "go", "a", 1, 5),
        Call("x", "t", {"n": 1}, 2, "a", "p", 3, 7),
        Result("x", "done", False, 4, 8),
    )


def test_calls_without_an_id_are_numbered(log):
    assert [call(log), call(log, ""), call(log, "x"), call(log)] == ["#1", "#2", "x", "#4"]
    assert findings(log.entries) == []


def test_an_id_that_comes_again_is_made_another_one(log):
    assert [call(log, "x"), call(log, "x", line=7), call(log, "x#4"), call(log, "x")] == ["x", "x#2", "x#4", "x#4#"]
    said = "the id 'x' is that of an earlier call"
    assert findings(log.entries) == [("E_LOG_DUPLICATE", said, 7), ("E_LOG_DUPLICATE", said, 0)]
    assert call(log, "x#4#") == "x#4##5"


def test_results_belong_to_the_first_call_that_waits(log):
    call(log, "x")
    call(log, "x")
    assert log.waits("x")
    log.result("x", 1)
    assert log.waits("x")
    log.result("x", 2)
    assert not log.waits("x")
    assert [(entry.call, entry.content) for entry in log.entries if isinstance(entry, Result)] == [("x", 1), ("x#2", 2)]


def test_a_result_without_a_call_is_said(log):
    call(log, "x")
    log.result("x")
    log.result("x", line=3)
    log.result("y", line=4)
    assert findings(log.entries) == [
        ("E_LOG_NO_CALL", "a result of the call 'x', which has one", 3),
        ("E_LOG_NO_CALL", "a result of the call 'y', which is not there", 4),
    ]


def test_a_call_without_a_result_is_said_at_the_end(log):
    call(log, "x", line=2)
    call(log, "y", tool="u", line=3)
    log.result("x")
    assert findings(log.finish().entries) == [("E_LOG_NO_RESULT", "the call 'y' of u has no result", 3)]


def test_the_first_call_of_a_tool_that_waits(log):
    call(log, "x", tool="t")
    call(log, "y", tool="u")
    call(log, "z", tool="u")
    assert [log.first_waiting(tool) for tool in ("t", "u", "v")] == ["x", "y", None]
    log.result("y")
    assert log.first_waiting("u") == "z"


def test_batches_are_numbered_and_named(log):
    assert [log.begin_batch(), log.batch_of("a"), log.batch_of("b"), log.batch_of("a"), log.begin_batch()] == [
        1,
        2,
        3,
        2,
        4,
    ]


ARGUMENTS = {
    "an object": ('{"a": 1}', "", {"a": 1}, []),
    "an object already": ({"a": 1}, "", {"a": 1}, []),
    "nothing": (" ", "", {}, []),
    "a list": ("[1]", "", [1], []),
    "no JSON": ("{a", "", "{a", ["E_LOG_ARGUMENTS"]),
    "a plain text": ("{a", "input", {"input": "{a"}, []),
    "a plain list": ("[1]", "input", {"input": "[1]"}, []),
    "a named object": ('{"a": 1}', "input", {"a": 1}, []),
    "a named nothing": ("", "input", {}, []),
}


@pytest.mark.parametrize(("text", "plain", "value", "codes"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_in_a_text(log, text, plain, value, codes):
    assert log.parsed(text, 9, plain) == value
    assert [(code, line) for code, _, line in findings(log.entries)] == [(code, 9) for code in codes]


def test_a_record_that_is_wrong_is_said(log):
    log.record("no role", 5)
    assert findings(log.entries) == [("E_LOG_RECORD", "no role", 5)]


CONTENTS = {
    "a text": ("a", "a"),
    "parts": ([{"text": "a"}, {"text": "b"}], "a\nb"),
    "no parts": ([], ""),
    "a part of another kind": ([{"text": "a"}, {"image": "b"}], [{"text": "a"}, {"image": "b"}]),
    "a part that is a text": ([{"text": "a"}, "b"], [{"text": "a"}, "b"]),
    "a text that is none": ([{"text": 1}], [{"text": 1}]),
    "nothing": (UNSET, UNSET),
}


@pytest.mark.parametrize(("content", "text"), CONTENTS.values(), ids=CONTENTS)
def test_the_text_of_a_content(content, text):
    assert text_of(content) == text


def test_the_first_key_of_a_part_counts():
    assert text_of([{"text": "a", "output": "b"}, {"output": "c"}], ("output", "text")) == "b\nc"


def test_what_is_no_text_is_the_default():
    assert [string("a", "b"), string(1, "b"), string(None)] == ["a", "b", ""]
