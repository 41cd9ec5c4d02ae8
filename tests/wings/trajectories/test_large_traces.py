"""Files of spans that have no room together: a conversation is kept until its last span, and no part of one passes for it."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specledger.wings.trajectories.model import Finding
from specledger.wings.trajectories.readers import spans
from specledger.wings.trajectories.reading import read_logs

ROOM = 12_000
"""Room for about five spans."""


def span(number, trace, session=""):
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "look", "input.value": json.dumps({"n": number})}
    if session:
        attributes["session.id"] = session
    return {"context": {"trace_id": trace, "span_id": f"s{number}"}, "start_time": number + 1, "attributes": attributes}


def otlp(number, trace, session=""):
    values = {"operation.name": "execute_tool", "tool.name": "look", "tool.call.id": f"c{number}"}
    if session:
        values["conversation.id"] = session
    attributes = [{"key": f"gen_ai.{key}", "value": {"stringValue": value}} for key, value in values.items()]
    own = {"traceId": trace, "spanId": f"s{number}", "startTimeUnixNano": str(number + 1), "attributes": attributes}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [own]}]}]}


def write(log, records):
    log.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return log


def read(log, monkeypatch, room):
    with monkeypatch.context() as patch:
        patch.setattr(spans, "_MOST_KEPT", room)
        return list(read_logs([log]))


def told(trajectory):
    return [entry.code for entry in trajectory.entries if isinstance(entry, Finding) and entry.code == "E_LOG_SIZE"]


@pytest.mark.parametrize("form", [span, otlp])
def test_traces_that_are_each_in_one_place_are_read_whole_whatever_the_file_holds(tmp_path, monkeypatch, form):
    log = write(tmp_path / "log.jsonl", [form(number, f"t{number // 3}") for number in range(60)])
    whole, again = (read(log, monkeypatch, room) for room in (10_000_000, ROOM))
    assert len(whole) == 20
    assert again == whole


@pytest.mark.parametrize("form", [span, otlp])
def test_traces_of_one_conversation_are_kept_until_its_last_span(tmp_path, monkeypatch, form):
    records = [form(0, "a", "talk"), form(1, "b"), form(2, "c", "talk"), *(form(3 + n, f"t{n}") for n in range(20))]
    log = write(tmp_path / "log.jsonl", records)
    whole, again = (read(log, monkeypatch, room) for room in (10_000_000, ROOM))
    assert [trajectory.id for trajectory in whole[:2]] == ["a", "b"]
    assert [trajectory.id for trajectory in again[:2]] == ["b", "a"]
    assert sorted(again, key=lambda trajectory: trajectory.id) == sorted(whole, key=lambda trajectory: trajectory.id)


def test_a_record_that_is_none_is_told_once(tmp_path, monkeypatch):
    log = write(tmp_path / "log.jsonl", [*(span(n, f"t{n}") for n in range(20)), {"traceId": "t"}])
    whole, again = (read(log, monkeypatch, room) for room in (10_000_000, ROOM))
    assert again == whole
    assert sum(isinstance(entry, Finding) and entry.code == "E_LOG_RECORD" for entry in again[-1].entries) == 1


def test_a_span_that_has_no_room_alone_is_told(tmp_path, monkeypatch):
    large = span(0, "large")
    large["attributes"]["output.value"] = "x" * ROOM
    log = write(tmp_path / "log.jsonl", [large, *(span(n, f"t{n}") for n in range(1, 20))])
    assert [told(trajectory) for trajectory in read(log, monkeypatch, ROOM)] == [["E_LOG_SIZE"]]


@pytest.mark.medium
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "", "x", "y"])), min_size=8, max_size=40))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_part_of_a_conversation_passes_for_it(tmp_path, monkeypatch, drawn):
    log = write(tmp_path / "log.jsonl", [span(n, trace, session) for n, (trace, session) in enumerate(drawn)])
    whole = {trajectory.id: trajectory for trajectory in read(log, monkeypatch, 10_000_000)}
    again = {trajectory.id: trajectory for trajectory in read(log, monkeypatch, ROOM)}
    assert all(trajectory == whole[id_] or told(trajectory) for id_, trajectory in again.items())
    assert again.keys() == whole.keys() or any(map(told, again.values()))
