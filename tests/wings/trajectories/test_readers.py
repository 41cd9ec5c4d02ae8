"""Readers of logs: what each reads of a small log, and what they say of whatever does not fit."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.log_json import MAX_VALUE_DEPTH, parse_log_json
from specledger.evidence.recordings import recording_digest
from specledger.wings.trajectories import source
from specledger.wings.trajectories.findings import MalformedLine, shown
from specledger.wings.trajectories.lines import HEADER, entry_document, entry_line, read_lines, write_lines
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.reading import READERS, read_logs
from specledger.wings.trajectories.withholding import Withholding

LOGS = Path(__file__).parents[3] / "fixtures/trajectories"
FILES = sorted(path for path in LOGS.glob("*/*") if path.parent.name in READERS)
USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def entries(name):
    return [entry for trajectory in read_logs([LOGS / name]) for entry in trajectory.entries]


def findings(path):
    read = list(read_logs([path]))
    for trajectory in read:
        for entry in trajectory.entries:
            if isinstance(entry, Finding):
                assert shown(entry.code, entry.message, trajectory.file, entry.line)
    return [(entry.code, entry.line) for one in read for entry in one.entries if isinstance(entry, Finding)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_log_is_recognised_by_what_it_holds(path, tmp_path):
    renamed = tmp_path / "log"
    renamed.write_bytes(path.read_bytes())
    assert {trajectory.format for trajectory in read_logs([renamed])} == {path.parent.name}


def test_chat_messages():
    assert entries("openai/chat.json") == [
        Message(Speaker.SYSTEM, "You pay bills."),
        Message(USER, "Pay 10.50 to Ann."),
        Call("c1", "balance", {}, 1),
        Call("c2", "pay", {"to": "Ann", "amount": {"$number": "10.50"}}, 1),
        Result("c1", "99"),
        Result("c2", '{"ok": true}'),
        Message(ASSISTANT, "Done."),
    ]


def test_a_session_of_claude_code():
    """A subagent is named by the call that began it, calls of one message are parallel, a copied line is read once."""
    read = entries("claude_code/session.jsonl")
    calls = [(one.id, one.tool, one.batch, one.actor, one.parent, one.line) for one in read if isinstance(one, Call)]
    assert calls == [
        ("t1", "Bash", 1, "", "", 3),
        ("t2", "Task", 1, "", "", 4),
        ("t3", "Bash", 2, "t2", "t2", 7),
    ]
    results = [(one.call, one.content, one.error) for one in read if isinstance(one, Result)]
    assert results == [("t1", "a\nb", False), ("t3", "2", None), ("t2", "2 files", None)]
    texts = [(one.text, one.actor) for one in read if isinstance(one, Message)]
    assert texts == [("List the files", ""), ("Count them", "t2")]
    assert not [one for one in read if isinstance(one, Finding)]


def test_a_document_of_atif():
    """Copied context is passed over; a subagent has the call that refers to it as its parent."""
    assert entries("atif/run.json") == [
        Message(USER, "Ask the expert"),
        Call("k1", "delegate", {"to": "expert"}, 1, time=1_767_225_600_000_000),
        Result("k1", "42", time=1_767_225_600_000_000),
        Message(ASSISTANT, "thinking", "expert"),
        Call("k2", "compute", {"x": 6}, 2, "expert", "k1"),
        Finding("E_LOG_NO_RESULT", "the call 'k2' of compute has no result"),
    ]


def test_messages_of_mcp():
    assert entries("mcp/wire.jsonl") == [
        Call("1", "read", {"path": "a"}, 1, line=3),
        Result("1", "A", False, 4),
        Call("2", "write", {"path": "b"}, 2, line=5),
        Result("2", {"code": -32602, "message": "no"}, True, 6),
    ]


def test_what_a_trace_did_not_record_is_unset():
    assert entries("otlp/trace.json") == [
        Call("c1", "look", {"at": 1}, 1, time=0),
        Result("c1", "seen"),
        Call("b", "pay", UNSET, 2, time=0),
        Result("b", UNSET, True),
    ]


def test_spans_of_openinference():
    assert entries("openinference/spans.jsonl") == [
        Call("a", "look", {"at": 1}, 1, line=1, time=1_767_225_600_000_000),
        Result("a", "seen", line=1),
    ]


def test_a_malformed_line_costs_no_other_trajectory():
    read = list(read_logs([LOGS / "openai/two.jsonl"]))
    assert [trajectory.id for trajectory in read] == ["a", "c", "two.jsonl"]
    assert findings(LOGS / "openai/two.jsonl") == [
        ("E_LOG_ARGUMENTS", 3),
        ("E_LOG_NO_CALL", 3),
        ("E_LOG_NO_RESULT", 3),
        ("E_LOG_JSON", 2),
    ]


CALL = '{"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "%s"}}]}\n'
RESULT = '{"role": "tool", "tool_call_id": "x", "content": "1"}\n'
DEFECTS = {
    "an empty file": (" \n", "E_LOG_FILE"),
    "an unknown format": ('{"a": 1}\n{"b": 2}\n', "E_LOG_FORMAT"),
    "no JSON": (RESULT.replace("}", ""), "E_LOG_JSON"),
    "a key twice": ('{"role": "user", "content": "a", "content": "b"}\n', "E_LOG_JSON"),
    "too deep": (CALL % "{}" + RESULT + "[" * 60 + "]" * 60, "E_LOG_SIZE"),
    "a record of another format": (CALL % "{}" + RESULT + '{"jsonrpc": "2.0"}\n', "E_LOG_RECORD"),
    "arguments that are no JSON": (CALL % "{" + RESULT, "E_LOG_ARGUMENTS"),
    "an id of two calls": ((CALL % "{}" + RESULT) * 2, "E_LOG_DUPLICATE"),
    "a call without a result": (CALL % "{}", "E_LOG_NO_RESULT"),
    "a result without a call": (RESULT, "E_LOG_NO_CALL"),
    "a canonical line that is none": (HEADER.decode() + '{"trajectory": {}}\n', "E_LOG_CANONICAL"),
}


@pytest.mark.parametrize(("text", "code"), DEFECTS.values(), ids=DEFECTS)
def test_what_is_wrong_is_a_finding(text, code, tmp_path):
    path = tmp_path / "log"
    path.write_text(text, encoding="utf-8")
    assert code in {name for name, _ in findings(path)}
    assert len(findings(path)) == 1


def test_a_long_line_is_a_finding_and_the_next_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MAX_LINE", 200)
    path = tmp_path / "log"
    path.write_text(CALL % "{}" + CALL % ("y" * 300) + RESULT, encoding="utf-8")
    assert findings(path) == [("E_LOG_SIZE", 2)]
    assert len(next(read_logs([path])).entries) == 3


def test_ids_of_trajectories_differ():
    paths = [LOGS / "mcp", LOGS / "mcp/wire.jsonl"]
    assert [trajectory.id for trajectory in read_logs(paths)] == ["wire.jsonl", "wire.jsonl#2"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "[1.50, 1e3, 9007199254740993, -0]",
            [{"$number": "1.50"}, {"$number": "1e3"}, {"$number": "9007199254740993"}, 0],
        ),
        ('{"$number": "1"}', {"$literal": {"$number": "1"}}),
        ('{"a": {"$withheld": 1}}', {"a": {"$literal": {"$withheld": 1}}}),
        ('{"$number": "1", "b": 2}', {"$number": "1", "b": 2}),
        ('{"\\u0022": 1}', {'"': 1}),
    ],
)
def test_no_value_of_a_log_is_changed(text, value):
    assert parse_log_json(text.encode()) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: not (isinstance(value, dict) and value.keys() == {"$withheld"}))
TEXT = st.text(max_size=8)
NUMBER = st.integers(0, 1000)
VALUE = JSON | st.just(UNSET) | st.builds(Withheld, TEXT)
ENTRY = (
    st.builds(Message, st.sampled_from(Speaker), TEXT, TEXT, NUMBER, TEXT)
    | st.builds(Call, TEXT, TEXT, VALUE, NUMBER, TEXT, TEXT, NUMBER, TEXT)
    | st.builds(Result, TEXT, VALUE, st.none() | st.booleans(), NUMBER, TEXT)
    | st.builds(Finding, TEXT, TEXT, NUMBER)
)
TRAJECTORY = st.builds(Trajectory, TEXT, TEXT, TEXT, st.lists(ENTRY, max_size=4).map(tuple))


@pytest.mark.medium
@given(st.lists(TRAJECTORY, max_size=3))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_lines_are_read_as_they_were_written(trajectories):
    lines = list(write_lines(trajectories))
    assert list(read_lines(lines)) == trajectories
    assert list(write_lines(read_lines(lines))) == lines
    entries = [entry for trajectory in trajectories for entry in trajectory.entries]
    assert [canonical_bytes(entry_document(entry)) + b"\n" for entry in entries] == list(map(entry_line, entries))


def test_half_a_character_is_refused_with_its_place():
    with pytest.raises(NotCanonical, match=r"\$\.call\.arguments\.text: a lone surrogate"):
        entry_line(Call("1", "t", {"text": "\ud800"}))


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (1, b'{"format":"specledger/trajectories/v2"}\n'),
        (2, b'{"trajectory":{"file":"f","format":"x"}}\n'),
        (3, b'{"call":{"batch":0,"id":"1","tool":"t"}}\n'),
        (3, b'{"call":{"id":"1","tool":"t","other":1}}\n'),
        (3, b'{"call":{"id":1,"tool":"t"}}\n'),
        (3, b'{"call": {"id":"1","tool":"t"}}\n'),
        (3, b'{"call":{"arguments":1.5,"id":"1","tool":"t"}}\n'),
        (3, b'{"thought":{}}\n'),
        (4, b'{"end":2}\n'),
        (4, b'{"end":true}\n'),
        (4, b""),
        (4, b'{"end":1}'),
    ],
)
def test_a_line_that_is_not_canonical_is_refused_with_its_number(number, line):
    lines = list(write_lines([Trajectory("i", "f", "x", (Call("1", "t"),))]))
    lines[number - 1 : number] = [line] if line else []
    with pytest.raises(MalformedLine) as refusal:
        list(read_lines(lines))
    assert refusal.value.line == number


@pytest.mark.medium
@given(st.sampled_from(FILES), st.data())
@settings(deadline=None, max_examples=300)
def test_damage_gives_findings_and_never_an_exception(tmp_path_factory, path, data):
    """A log that is cut, or has another byte, is read: what comes of it can be written as canonical lines."""
    original = path.read_bytes()
    place = data.draw(st.integers(0, len(original) - 1))
    cut = data.draw(st.booleans())
    damaged = (
        original[:place] if cut else original[:place] + bytes([data.draw(st.integers(0, 255))]) + original[place + 1 :]
    )
    log = tmp_path_factory.mktemp("damaged") / "log"
    log.write_bytes(damaged)
    for name in (None, path.parent.name):
        read = list(read_logs([log], name))
        assert read
        assert list(read_lines(write_lines(read))) == read


@pytest.mark.medium
@pytest.mark.parametrize("name", [*READERS, "langchain", "smolagents", "openai-agents", "inspect-eval"])
@given(value=JSON)
@settings(deadline=None, max_examples=40)
def test_no_document_is_too_strange_for_a_reader(tmp_path_factory, name, value):
    from specledger.core.canonical import canonical_bytes
    from specledger.wings.trajectories.formats.names import reader_named

    log = tmp_path_factory.mktemp("strange") / "log"
    log.write_bytes(canonical_bytes(value) + b"\n")
    assert [one for one in next(iter(read_logs([log], reader_named(name)))).entries if isinstance(one, Finding)]


def test_values_are_withheld_under_a_salt():
    trajectory = Trajectory("i", "f", "x", (Call("1", "t", {"p": [{"s": 1}, {"s": 2}], "q": 3}), Result("1", "secret")))
    hidden: list[Any] = [
        Withholding(["arguments.p.s", "result"], bytes([salt]) * 32).apply(trajectory) for salt in (1, 1, 2)
    ]
    call, result = hidden[0].entries
    assert hidden[0] == hidden[1]
    assert hidden[0] != hidden[2]
    assert call.arguments["q"] == 3
    assert [set(member["s"]) for member in call.arguments["p"]] == [{"$withheld"}, {"$withheld"}]
    assert isinstance(result.content, Withheld)
    assert list(read_lines(write_lines(hidden))) != []


def test_the_command_writes_lines_and_a_summary(spec, tmp_path):
    out = tmp_path / "lines.jsonl"
    code, written, summary = spec("import", LOGS / "openai/chat.json", "--out", out)
    assert (code, written) == (0, "")
    digest = recording_digest(out)
    assert summary == f"1 trajectory, 3 messages, 2 calls, 2 results, 0 findings\nrecording {digest}\n"
    assert len(list(read_lines(out.read_bytes().splitlines(keepends=True)))) == 1
    code, written, summary = spec("import", LOGS / "openai/two.jsonl", "--format", "openai")
    assert code == 1
    assert len(list(read_lines(written.encode().splitlines(keepends=True)))) == 3
    assert "two.jsonl:2:1: error[E_LOG_JSON]" in summary


def test_a_link_and_a_pipe_are_written_to_and_stay_what_they_are(spec, tmp_path):
    out, link, pipe = tmp_path / "lines.jsonl", tmp_path / "link", tmp_path / "pipe"
    out.write_bytes(b"earlier")
    link.symlink_to(out)
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for written in (link, pipe):
            assert spec("import", LOGS / "openai/chat.json", "--out", written).status == 0
        assert (link.is_symlink(), pipe.is_fifo()) == (True, True)
        assert os.read(reading, 1 << 16) == out.read_bytes() != b"earlier"
    finally:
        os.close(reading)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "link", "pipe"]


@pytest.mark.parametrize(
    "wrong",
    [("--format", "cobol"), ("--withhold", "result"), ("--withhold", "tool", "--salt", "SALT"), ("--salt", "SALT")],
)
def test_wrong_options_are_refused(spec, wrong, tmp_path):
    salt = tmp_path / "salt"
    salt.write_text("ab" * 32, encoding="ascii")
    options = [str(salt) if word == "SALT" else word for word in wrong]
    code, _, message = spec("import", LOGS / "openai/chat.json", *options)
    assert code == 2
    assert "E_USAGE" in message


def test_the_deepest_value_can_be_written():
    deepest = parse_log_json(b"[" * MAX_VALUE_DEPTH + b"]" * MAX_VALUE_DEPTH)
    trajectories = [Trajectory("i", "f", "x", (Call("1", "t", deepest),))]
    assert list(read_lines(write_lines(trajectories))) == trajectories


def span(attributes, **more):
    return {"traceId": "t", "spanId": "a", "name": "execute_tool look", "attributes": attributes, **more}


def document(*spans, **more):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}], **more}


NAMED = {"key": "gen_ai.tool.name", "value": {"stringValue": "look"}}
ODD_TRACES = {
    "a member beside the spans": (document(span([NAMED]), resourceMetrics=[]), "`resourceMetrics` beside `resourceSpans` is not read"),
    "a span that is no object": (document(span([NAMED]), 7, None), "members of `spans` that are no objects: 2"),
    "a scope without spans": ({"resourceSpans": [{"scopeSpans": [{"spans": [span([NAMED])]}, {}]}]}, "a member of `scopeSpans` has no `spans`"),
    "a resource without scopes": ({"resourceSpans": [{}, *document(span([NAMED]))["resourceSpans"]]}, "a member of `resourceSpans` has no `scopeSpans`"),
    "an attribute without a key": (document(span([NAMED, {"value": {}}])), "an attribute has a `key`"),
    "a value of an unknown type": (document(span([NAMED, {"key": "gen_ai.tool.call.arguments", "value": {"mapValue": {}}}])), "the value of the attribute 'gen_ai.tool.call.arguments' is of no known type"),
    "attributes that are no list": (document(span([NAMED], startTimeUnixNano="1"), span("x", spanId="b", startTimeUnixNano="1")), "`attributes` is no list"),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD_TRACES)
def test_nothing_of_a_trace_is_dropped_without_a_finding(tmp_path, case):
    record, message = ODD_TRACES[case]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(record), encoding="utf-8")
    read = [entry for trajectory in read_logs([file]) for entry in trajectory.entries]
    assert [entry.message for entry in read if isinstance(entry, Finding)] == [message]
    assert next(entry for entry in read if isinstance(entry, Call)).arguments is UNSET


def line(uuid, kind, content, **more):
    base = {
        "uuid": uuid,
        "type": kind,
        "sessionId": "s1",
        "isSidechain": False,
        "message": {"role": kind, "content": content},
    }
    return {**base, **more}


def use(id_, name, **arguments):
    return [{"type": "tool_use", "id": id_, "name": name, "input": arguments}]


def answer(id_, text):
    return [{"type": "tool_result", "tool_use_id": id_, "content": text}]


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


SIDE = {"isSidechain": True, "agentId": "x1"}


@pytest.mark.parametrize("place", ["agent-x1.jsonl", "s1/subagents/agent-x1.jsonl"])
@pytest.mark.parametrize("said", [{"toolUseResult": {"agentId": "x1"}}, {}], ids=["by its id", "by its prompt"])
def test_a_file_of_a_subagent_is_an_actor_of_the_session_that_started_it(tmp_path, place, said):
    write(
        tmp_path / "s1.jsonl",
        line("1", "user", "Count"),
        line("2", "assistant", use("t1", "Task", prompt="Count them")),
        line("3", "user", answer("t1", "2 files"), **said),
    )
    write(
        tmp_path / place,
        line("a", "user", "Count them", **SIDE),
        line("b", "assistant", use("t2", "Bash", command="ls"), **SIDE),
        line("c", "user", answer("t2", "a b"), **SIDE),
    )
    (trajectory,) = read_logs([tmp_path])
    assert list(trajectory.entries) == [
        Message(USER, "Count", line=1),
        Call("t1", "Task", {"prompt": "Count them"}, 1, line=2),
        Message(USER, "Count them", "t1"),
        Call("t2", "Bash", {"command": "ls"}, 2, "t1", "t1"),
        Result("t2", "a b"),
        Result("t1", "2 files", line=3),
    ]
    (alone,) = read_logs([tmp_path / place])
    assert [(entry.actor, entry.parent) for entry in alone.entries if isinstance(entry, Call)] == [("x1", "")]


def test_a_file_of_a_subagent_that_no_call_names_is_an_actor_without_a_parent(tmp_path):
    write(tmp_path / "s1.jsonl", line("1", "user", "Count"))
    write(tmp_path / "agent-x1.jsonl", line("b", "assistant", use("t2", "Bash"), **SIDE), {"type": 7})
    (trajectory,) = read_logs([tmp_path])
    calls = [entry for entry in trajectory.entries if isinstance(entry, Call)]
    assert calls == [Call("t2", "Bash", {}, 1, "x1")]
    (elsewhere, alone) = read_logs(
        [write(tmp_path / "other/s2.jsonl", line("1", "user", "Hi")), tmp_path / "agent-x1.jsonl"]
    )
    assert {elsewhere.file, alone.file} == {"s2.jsonl", "agent-x1.jsonl"}


def test_a_line_that_says_other_under_the_same_uuid_is_a_finding(tmp_path):
    first = line("1", "user", "Pay Ann")
    copy = {**first, "sessionId": "s2"}
    log = write(tmp_path / "s1.jsonl", first, copy, line("1", "user", "Pay Eve"))
    (trajectory,) = read_logs([log])
    assert list(trajectory.entries) == [
        Message(USER, "Pay Ann", line=1),
        Finding("E_LOG_DUPLICATE", "the uuid '1' is that of an earlier line, which says other", 3),
    ]


def test_a_field_of_a_result_that_is_json_as_text_is_withheld_with_all_of_the_text():
    salt = b"0" * 32
    results = [Result("1", '{"payee": "Ann", "amount": 3}'), Result("2", "payee: Ann"), Result("3", "no payee: here")]
    shown = Withholding(["result.payee"], salt).apply(Trajectory("a", "a", "", tuple(results)))
    assert [type(getattr(entry, "content", None)).__name__ for entry in shown.entries] == [
        "Withheld",
        "Withheld",
        "str",
    ]


@pytest.mark.parametrize(
    ("trace", "calls", "told"),
    [
        ("t", ("c1", "c2"), ["the id 's' of a span is that of another one of its trace"]),
        ("t", ("", ""), ["the id 's' is that of an earlier call"]),
        ("u", ("c1", "c2"), []),
    ],
    ids=["in one trace", "calls that are named by their span", "in two traces of a conversation"],
)
def test_two_spans_of_one_id_are_a_finding(tmp_path, trace, calls, told):
    spans = [
        {
            "traceId": trace_id,
            "spanId": "s",
            "name": "execute_tool pay",
            "startTimeUnixNano": str(number + 1),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in (("gen_ai.conversation.id", "c"), ("gen_ai.tool.call.id", call))
                if value
            ],
        }
        for number, (trace_id, call) in enumerate(zip(("t", trace), calls, strict=True))
    ]
    log = tmp_path / "trace.json"
    log.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), encoding="utf-8")
    entries = [entry for trajectory in read_logs([log]) for entry in trajectory.entries]
    assert [entry.message for entry in entries if isinstance(entry, Finding)] == told
