"""What only the events of Inspect AI's samples hold: subagents, handed-over conversations, dropped calls, attempts."""

from typing import Any

from specledger.wings.trajectories.readers.inspect_events import with_events


def asks(id_, *calls):
    return {
        "id": id_,
        "role": "assistant",
        "content": id_,
        "tool_calls": [{"id": call, "function": f"f{call}", "arguments": {}} for call in calls],
    }


def result(call, id_=None):
    return {
        "id": id_ or f"r{call}",
        "role": "tool",
        "tool_call_id": call,
        "function": f"f{call}",
        "content": f"of {call}",
    }


def answered(message, span):
    return {"event": "model", "span_id": span, "output": {"choices": [{"message": message}]}}


def begin(span, parent=None, kind="agent", name=""):
    return {"event": "span_begin", "id": span, "parent_id": parent, "type": kind, "name": name}


def called(call, span, **more):
    return {
        "event": "tool",
        "id": call,
        "span_id": span,
        "function": f"f{call}",
        "arguments": {},
        "result": f"of {call}",
        "message_id": f"r{call}",
        **more,
    }


def inside(call, parent, number):
    """The spans of a tool's call and of the agent in it."""
    return [begin(f"t{number}", parent, "tool", f"f{call}"), called(call, parent), begin(f"a{number}", f"t{number}")]


def brief(sample):
    """Calls and results of a sample, with their agents."""
    read: list[Any] = []
    for message in sample["messages"]:
        agent = message.get("agent", "")
        read.extend((agent, call["id"]) for call in message.get("tool_calls") or [])
        read.extend([(agent, "result", message["tool_call_id"])] if message["role"] == "tool" else [])
    return read


USER = {"id": "u", "role": "user", "content": "Do."}
WORK = [begin("main"), answered(asks("m"), "main")]


def test_what_a_subagent_did_stands_before_the_result_of_its_call():
    events = [
        *WORK, *inside("1", "main", 1), answered(asks("s", "2"), "a1"),
        *inside("2", "a1", 2), answered(asks("n", "3"), "a2"), called("3", "a2"), called("9", "a2"),
    ]  # fmt: skip
    (sample,) = with_events({"uuid": "x", "messages": [USER, asks("m", "1"), result("1")], "events": events})
    assert brief(sample) == [
        ("", "1"), ("1", "2"), ("1", "result", "2"), ("2", "3"), ("2", "result", "3"),
        ("2", "9"), ("2", "result", "9"), ("", "result", "1"),
    ]  # fmt: skip
    assert "events" not in sample


def test_a_result_that_came_back_as_a_message_of_the_user_is_a_result():
    """A handed-over conversation has its calls as texts, under the ids of the messages that they were."""
    texts = [{**asks("s"), "content": "f2()"}, {"id": "r2", "role": "user", "content": "of 2"}]
    messages = [USER, asks("m", "1"), result("1"), *texts, {"id": "e", "role": "user", "content": "The agent is done."}]
    events = [*WORK, *inside("1", "main", 1), answered(asks("s", "2"), "a1"), called("2", "a1")]
    (sample,) = with_events({"messages": messages, "events": events})
    assert [message["content"] for message in sample["messages"] if message["role"] == "user"] == [
        "Do.",
        "The agent is done.",
    ]
    assert brief(sample) == [("", "1"), ("1", "2"), ("1", "result", "2"), ("", "result", "1")]


def test_a_call_that_left_the_messages_stands_before_the_next_one():
    events = [
        *WORK,
        called("1", "main"),
        called("2", "main"),
        called("3", "main", result="", error={"type": "timeout"}),
    ]
    (sample,) = with_events({"messages": [USER, asks("m", "2"), result("2")], "events": events})
    assert brief(sample) == [
        ("", "1"),
        ("", "result", "1"),
        ("", "2"),
        ("", "result", "2"),
        ("", "3"),
        ("", "result", "3"),
    ]
    assert sample["messages"][-1]["error"] == {"type": "timeout"}


def test_scoring_is_no_part_of_the_work():
    events = [
        *WORK,
        begin("s", None, "scorers"),
        begin("t", "s", "scorer"),
        begin("u", "t"),
        answered(asks("g", "7"), "u"),
        called("7", "u"),
    ]
    (sample,) = with_events({"messages": [USER, asks("m")], "events": events})
    assert brief(sample) == []


def test_an_attempt_that_failed_is_a_sample_of_its_own():
    given = {**answered(asks("m", "1"), None), "input": [USER]}
    attempt = {"message": "no network", "events": [given, called("1", None, result=None)]}
    first, last = with_events({"uuid": "x", "messages": [USER], "error_retries": [attempt]})
    assert (first["uuid"], first["error"], brief(first)) == ("x, attempt 1", {"message": "no network"}, [("", "1")])
    assert [message["role"] for message in first["messages"]] == ["user", "assistant"]
    assert last == {"uuid": "x", "messages": [USER]}


def test_a_sample_without_messages_is_read_from_its_events():
    given = {**answered(asks("m", "1"), None), "input": [USER]}
    (sample,) = with_events({"uuid": "x", "events": [given, called("1", None)]})
    assert [message["role"] for message in sample["messages"]] == ["user", "assistant", "tool"]


def test_spans_that_are_around_each_other_are_read():
    events = [begin("a", "b"), begin("b", "a"), called("1", "a")]
    (sample,) = with_events({"messages": [USER], "events": events})
    assert brief(sample) == [("", "1"), ("", "result", "1")]
