"""Messages in traces: each convention gives the same trajectory, copies are read once, and nothing is dropped unsaid."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker
from specledger.wings.trajectories.readers import span_messages
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.scan import scan

SYSTEM, USER, ASSISTANT = Speaker.SYSTEM, Speaker.USER, Speaker.ASSISTANT


def typed(value):
    """A value as OTLP writes it."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(member) for member in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": listed(value)}}
    return {"stringValue": value}


def listed(attributes):
    return [{"key": key, "value": typed(value)} for key, value in attributes.items()]


def span(id_, start, end, attributes, *, parent="root", events=(), trace="t", name="chat"):
    return {
        "traceId": trace, "spanId": id_, "parentSpanId": parent, "name": name,
        "startTimeUnixNano": str(start * 1000), "endTimeUnixNano": str(end * 1000),
        "attributes": listed(attributes),
        "events": [{"name": kind, "attributes": listed(own)} for kind, own in events],
    }  # fmt: skip


def export(*spans, **more):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}], **more}


@pytest.fixture
def read(tmp_path):
    """What a log with these records holds: the entries of its one trajectory."""

    def of(*records, count=1):
        path = tmp_path / "trace.jsonl"
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        trajectories = list(read_logs([path]))
        assert len(trajectories) == count
        return list(trajectories[0].entries) if count == 1 else trajectories

    return of


def brief(entries):
    """Entries without lines and times."""
    short: dict[Any, Any] = {
        Message: lambda entry: (str(entry.speaker), entry.text, entry.actor),
        Call: lambda entry: ("call", entry.id, entry.tool, entry.arguments, entry.actor),
        Result: lambda entry: ("result", entry.call, entry.content),
        Finding: lambda entry: (entry.code, entry.message),
    }
    return [short[type(entry)](entry) for entry in entries]


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


PAY = {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"to": "Ann"}}
ASK = text("user", "Pay Ann.")
PAYING = {"role": "assistant", "parts": [{"type": "text", "content": "I pay."}, PAY]}
PAID = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "done"}]}
DONE = text("assistant", "Ann is paid.")
RULE = [{"type": "text", "content": "Be brief."}]
FIRST, SECOND = [ASK], [ASK, PAYING, PAID]
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "c1"}
HIDDEN = span("b", 20, 30, TOOL, name="execute_tool pay")
EXPECTED = [
    ("system", "Be brief.", ""),
    ("user", "Pay Ann.", ""),
    ("assistant", "I pay.", ""),
    ("call", "c1", "pay", {"to": "Ann"}, ""),
    ("result", "c1", "done"),
    ("assistant", "Ann is paid.", ""),
]


def attributes(form):
    def of(given, answered):
        return {
            "gen_ai.system_instructions": form(RULE),
            "gen_ai.input.messages": form(given),
            "gen_ai.output.messages": form([answered]),
        }

    return [span("a", 10, 19, of(FIRST, PAYING)), HIDDEN, span("c", 31, 40, of(SECOND, DONE))]


def details():
    """The event that has the messages where spans shall not have them."""
    kind = "gen_ai.client.inference.operation.details"

    def of(given, answered):
        return [
            (kind, {"gen_ai.system_instructions": json.dumps(RULE), "gen_ai.input.messages": json.dumps(given)}),
            (kind, {"gen_ai.output.messages": json.dumps([answered])}),
        ]

    own = {"gen_ai.operation.name": "chat"}
    return [
        span("a", 10, 19, own, events=of(FIRST, PAYING)),
        HIDDEN,
        span("c", 31, 40, own, events=of(SECOND, DONE)),
    ]


def events(given, answered):
    return [(f"gen_ai.{role}.message", body) for role, body in given] + [("gen_ai.choice", answered)]


FUNCTION = [{"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann"}'}}]
OLD = [
    ("system", {"content": "Be brief."}),
    ("user", {"content": "Pay Ann."}),
    ("assistant", {"content": "I pay.", "tool_calls": json.dumps(FUNCTION)}),
    ("tool", {"content": "done", "id": "c1"}),
]


def old_events():
    own = {"gen_ai.operation.name": "chat"}
    message = {"content": "I pay.", "tool_calls": FUNCTION}
    return [
        span("a", 10, 19, own, events=events(OLD[:2], {"finish_reason": "tool_calls", "message": json.dumps(message)})),
        HIDDEN,
        span("c", 31, 40, own, events=events(OLD, {"message": {"content": "Ann is paid."}})),
    ]


def content_events():
    """The events of Azure's clients: the body is JSON in one attribute."""
    own = {"gen_ai.operation.name": "chat"}

    def of(given, answered):
        return [
            (kind, {"gen_ai.event.content": json.dumps(body)})
            for kind, body in events(given, {"message": answered, "index": 0})
        ]

    said = [(role, {**body, **({"tool_calls": FUNCTION} if "tool_calls" in body else {})}) for role, body in OLD]
    return [
        span("a", 10, 19, own, events=of(said[:2], {"content": "I pay.", "tool_calls": FUNCTION})),
        HIDDEN,
        span("c", 31, 40, own, events=of(said, {"content": "Ann is paid."})),
    ]


def block_events():
    """The events of Strands: contents are blocks as Bedrock has them, and the tool's arguments and result are events, too."""
    own = {"gen_ai.operation.name": "chat"}
    use = [{"text": "I pay."}, {"toolUse": {"toolUseId": "c1", "name": "pay", "input": {"to": "Ann"}}}]
    result = [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "done"}]}}]
    said = [
        ("system", {"content": json.dumps([{"text": "Be brief."}])}),
        ("user", {"content": json.dumps([{"text": "Pay Ann."}])}),
        ("assistant", {"content": json.dumps(use)}),
        ("tool", {"content": json.dumps(result)}),
    ]
    tool = [
        ("gen_ai.tool.message", {"role": "tool", "content": '{"to": "Ann"}', "id": "c1"}),
        ("gen_ai.choice", {"message": json.dumps([{"text": "done"}]), "id": "c1"}),
    ]
    return [
        span("a", 10, 19, own, events=events(said[:2], {"message": json.dumps(use)})),
        span("b", 20, 30, TOOL, events=tool),
        span("c", 31, 40, own, events=events(said, {"message": json.dumps([{"text": "Ann is paid."}])})),
    ]


def numbered(prefix, wrapped):
    """Attributes of OpenLLMetry, or of OpenInference, which has names around each object."""
    message, call, function = ("message.", "tool_call.", "function.") if wrapped else ("", "", "")
    given, answered = (
        ("llm.input_messages", "llm.output_messages") if wrapped else ("gen_ai.prompt", "gen_ai.completion")
    )

    def of(list_, *messages):
        own: dict[str, Any] = {}
        for number, (role, content, has_call) in enumerate(messages):
            at = f"{list_}.{number}.{message}"
            own |= {f"{at}role": role, f"{at}content": content}
            if has_call:
                asked = f"{at}tool_calls.0.{call}"
                own |= {
                    f"{asked}id": "c1",
                    f"{asked}{function}name": "pay",
                    f"{asked}{function}arguments": '{"to": "Ann"}',
                }
            if role == "tool":
                own[f"{at}tool_call_id"] = "c1"
        return own

    assert prefix in given
    begin = [("system", "Be brief.", False), ("user", "Pay Ann.", False)]
    paying = ("assistant", "I pay.", True)
    rest = [paying, ("tool", "done", False)]
    kind = {"openinference.span.kind": "LLM"} if wrapped else {"gen_ai.operation.name": "chat"}
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "pay",
        "input.value": '{"to": "Ann"}',
        "output.value": "done",
    }
    return [
        span("a", 10, 19, {**kind, **of(given, *begin), **of(answered, paying)}),
        span("b", 20, 30, tool, name="pay") if wrapped else HIDDEN,
        span("c", 31, 40, {**kind, **of(given, *begin, *rest), **of(answered, ("assistant", "Ann is paid.", False))}),
    ]


def nested():
    """OpenInference without OTLP: a span on a line, its attributes as an object, its messages as lists."""

    def message(role, content, **more):
        return {"message.role": role, "message.content": content, **more}

    call = {"tool_call.id": "c1", "tool_call.function.name": "pay", "tool_call.function.arguments": '{"to": "Ann"}'}
    begin = [message("system", "Be brief."), message("user", "Pay Ann.")]
    paying = message("assistant", "I pay.", **{"message.tool_calls": [call]})
    rest = [paying, message("tool", "done", **{"message.tool_call_id": "c1"})]

    def of(id_, second, own):
        times = {"start_time": f"2026-01-01T00:00:{second}Z", "end_time": f"2026-01-01T00:00:{second + 9}Z"}
        return {
            "name": "llm",
            "context": {"trace_id": "t", "span_id": id_},
            "parent_id": "root",
            **times,
            "attributes": own,
        }

    kind = {"openinference.span.kind": "LLM"}
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "pay",
        "input.value": '{"to": "Ann"}',
        "output.value": "done",
    }
    return [
        of("a", 10, {**kind, "llm.input_messages": begin, "llm.output_messages": [paying]}),
        of("b", 20, tool),
        of(
            "c",
            30,
            {**kind, "llm.input_messages": begin + rest, "llm.output_messages": [message("assistant", "Ann is paid.")]},
        ),
    ]


def log_records():
    """Messages as records of a log that name their span; the span of the tool is hidden."""

    def of(id_, time, kind, body):
        return {"traceId": "t", "spanId": id_, "timeUnixNano": str(time * 1000), "eventName": kind, "body": typed(body)}

    own = {"gen_ai.operation.name": "chat"}
    said = [(role, {**body, **({"tool_calls": FUNCTION} if "tool_calls" in body else {})}) for role, body in OLD]
    records = [of("a", 11, f"gen_ai.{role}.message", body) for role, body in said[:2]]
    records.append(of("a", 18, "gen_ai.choice", {"message": {"content": "I pay.", "tool_calls": FUNCTION}}))
    records += [of("c", 32, f"gen_ai.{role}.message", body) for role, body in said]
    records.append(of("c", 39, "gen_ai.choice", {"message": {"content": "Ann is paid."}}))
    logs = [{"scopeLogs": [{"logRecords": records}]}]
    return [export(span("a", 10, 19, own), HIDDEN, span("c", 31, 40, own)), {"resourceLogs": logs}]


FORMS = {
    "JSON in attributes": attributes(json.dumps),
    "structured attributes": attributes(lambda value: value),
    "the event of the operation": details(),
    "an event of each message": old_events(),
    "the content in one attribute of the event": content_events(),
    "blocks as Bedrock has them": block_events(),
    "numbered attributes of OpenLLMetry": numbered("gen_ai.prompt", wrapped=False),
    "numbered attributes of OpenInference": numbered("llm.input_messages", wrapped=True),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_convention_gives_the_same_trajectory(read, form):
    """What the second model call was given again is read once, and what the tool's span hides comes from the messages."""
    assert brief(read(export(*FORMS[form]))) == EXPECTED


@pytest.mark.parametrize("records", [nested(), log_records()], ids=["spans alone", "records of a log"])
def test_each_kind_of_file_gives_the_same_trajectory(read, records):
    assert brief(read(*records)) == EXPECTED


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_export_does_not_matter(read, form):
    assert brief(read(export(*reversed(FORMS[form])))) == EXPECTED


@pytest.mark.parametrize("form", [form for form in FORMS if form != "blocks as Bedrock has them"])
def test_a_call_without_a_span_is_read_from_the_messages(read, form):
    spans = [part for part in FORMS[form] if part["spanId"] != "b"]
    assert brief(read(export(*spans))) == EXPECTED


@pytest.mark.medium
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=6))
@settings(max_examples=60)
def test_what_later_spans_repeat_is_read_once_and_what_was_said_twice_twice(tmp_path_factory, turns):
    said, spans = [], []
    for number, (asked, answered) in enumerate(turns):
        said.append(text("user", asked))
        own = {
            "gen_ai.input.messages": json.dumps(said),
            "gen_ai.output.messages": json.dumps([text("assistant", answered)]),
        }
        spans.append(span(f"s{number}", 10 * number + 1, 10 * number + 9, own))
        said.append(text("assistant", answered))
    whole = {"gen_ai.output.messages": json.dumps([text("assistant", turns[-1][1])])}
    spans.append(span("root", 1, 10 * len(turns), whole, parent=""))
    path = tmp_path_factory.mktemp("log") / "trace.json"
    path.write_text(json.dumps(export(*spans)), encoding="utf-8")
    entries: list[Any] = [entry for trajectory in read_logs([path]) for entry in trajectory.entries]
    expected = [(speaker, words) for turn in turns for speaker, words in zip((USER, ASSISTANT), turn, strict=True)]
    assert [(entry.speaker, entry.text) for entry in entries] == expected


def test_what_happens_inside_a_tool_is_that_of_a_subagent(read):
    inner = {"gen_ai.input.messages": json.dumps([text("user", "Count.")])}
    nested_tool = {**TOOL, "gen_ai.tool.name": "add", "gen_ai.tool.call.id": "c2", "gen_ai.tool.call.arguments": "{}"}
    spans = [
        span("a", 1, 2, {"gen_ai.input.messages": json.dumps([ASK])}),
        span("b", 3, 9, {**TOOL, "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "2"}),
        span("d", 4, 8, {"gen_ai.operation.name": "invoke_agent"}, parent="b"),
        span("e", 5, 6, inner, parent="d"),
        span("f", 6, 7, nested_tool, parent="d"),
    ]
    entries = read(export(*spans))
    assert brief(entries) == [
        ("user", "Pay Ann.", ""),
        ("call", "c1", "pay", {}, ""),
        ("user", "Count.", "c1"),
        ("call", "c2", "add", {}, "c1"),
        ("result", "c2", UNSET),
        ("result", "c1", "2"),
    ]
    assert [entry.parent for entry in entries if isinstance(entry, Call)] == ["", "c1"]


def test_calls_of_one_answer_and_calls_at_the_same_time_are_parallel(read):
    def tool(id_, start, end):
        own = {**TOOL, "gen_ai.tool.call.id": id_, "gen_ai.tool.call.arguments": "{}"}
        return span(f"s{id_}", start, end, own)

    answer = {"role": "assistant", "parts": [{**PAY, "id": "c1"}, {**PAY, "id": "c2"}]}
    spans = [
        span("a", 0, 1, {"gen_ai.output.messages": json.dumps([answer])}),
        tool("c1", 2, 3), tool("c2", 4, 5), tool("c3", 6, 9), tool("c4", 7, 8), tool("c5", 10, 11),
    ]  # fmt: skip
    batches = {entry.id: entry.batch for entry in read(export(*spans)) if isinstance(entry, Call)}
    assert batches == {"c1": 1, "c2": 1, "c3": 2, "c4": 2, "c5": 3}


def test_traces_of_one_conversation_are_one_trajectory(read):
    own = {"gen_ai.conversation.id": "k"}
    first = span("a", 1, 2, {**own, "gen_ai.input.messages": json.dumps([ASK])})
    again = [ASK, text("assistant", "To whom?"), text("user", "Ann.")]
    second = span("b", 3, 4, {**own, "gen_ai.input.messages": json.dumps(again)}, trace="u")
    other = span("c", 5, 6, {"gen_ai.input.messages": json.dumps([ASK])}, trace="v")
    trajectories = read(export(second, first, other), count=2)
    assert [trajectory.id for trajectory in trajectories] == ["u", "v"]
    assert [entry.text for entry in trajectories[0].entries] == ["Pay Ann.", "To whom?", "Ann."]


LOOP = [span("a", 1, 2, {"gen_ai.input.messages": json.dumps([ASK])}, parent="b"), span("b", 1, 2, {}, parent="a")]


def test_spans_that_are_around_each_other_are_read(read):
    assert brief(read(export(*LOOP))) == [("user", "Pay Ann.", "")]


def given_as(value):
    return {"gen_ai.input.messages": value if isinstance(value, str) else json.dumps(value)}


def inference(own):
    return {"openinference.span.kind": "LLM", **{f"llm.input_messages.{key}": value for key, value in own.items()}}


WRONG = {
    "a text that is no JSON": (given_as('[{"role": "us'), "`gen_ai.input.messages` is no JSON: not JSON at line 1, column 14: unexpected end of data"),
    "no list": (given_as({"role": "user"}), "`gen_ai.input.messages` is no list"),
    "too many messages": (given_as([ASK] * 4), "`gen_ai.input.messages` has 4 messages: those after the first 3 are not read"),
    "a message that is no object": (given_as([7]), "`gen_ai.input.messages`[0]: a message has a `role`"),
    "an unknown role": (given_as([text("boss", "x")]), "`gen_ai.input.messages`[0]: the role 'boss' is none of system, developer, user, human, assistant, model, ai, tool, function"),
    "a picture": (given_as([{"role": "user", "parts": [{"type": "blob", "content": "aGk="}]}]), "`gen_ai.input.messages`[0]: 1 parts of a message are no text"),
    "a call without a name": (given_as([{"role": "assistant", "tool_calls": [{"id": "x"}]}]), "`gen_ai.input.messages`[0]: a call has a name"),
    "calls that are no list": (given_as([{"role": "assistant", "tool_calls": 7}]), "`gen_ai.input.messages`[0]: `tool_calls` is no list"),
    "a result without a call": (given_as([{"role": "tool", "content": "x"}]), "a result has the id of its call"),
    "instructions that were cut": ({"gen_ai.system_instructions": '[{"type'}, "`gen_ai.system_instructions` is no JSON: not JSON at line 1, column 8: unexpected end of data"),
    "no index": (inference({"message.role": "user"}), "`llm.input_messages.message.role` has no index after `llm.input_messages`"),
    "a gap": (inference({"0.message.role": "user", "0.message.content": "x", "2.message.role": "user", "2.message.content": "y"}), "`llm.input_messages` has no index 1, but 2"),
    "a gap among calls": (inference({"0.message.role": "assistant", "0.message.tool_calls.1.tool_call.function.name": "f"}), "`llm.input_messages.0.tool_calls` has no index 0, but 1"),
    "a value that is an object, too": (inference({"0.message": "x", "0.message.role": "user"}), "`llm.input_messages.0.message.role` is both a value and more than one"),
    "hidden messages": ({"openinference.span.kind": "LLM", "llm.input_messages": "__REDACTED__"}, "`llm.input_messages` was redacted"),
    "a hidden text": (inference({"0.message.role": "user", "0.message.content": "__REDACTED__"}), "`llm.input_messages`[0]: the text was redacted"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_message_that_cannot_be_read_is_a_finding_with_its_place(read, monkeypatch, case):
    monkeypatch.setattr(span_messages, "MOST_MESSAGES", 3)
    own, message = WRONG[case]
    entries = read(export(span("a", 1, 2, own)), export(span("b", 3, 4, {})))
    found = [(entry.code, entry.message, entry.line) for entry in entries if isinstance(entry, Finding)]
    assert found[0] == ("E_LOG_MESSAGE", f"span a: {message}", 1)


def test_a_picture_that_later_spans_repeat_is_one_finding(read):
    picture = {"role": "user", "parts": [{"type": "text", "content": "Look."}, {"type": "uri", "uri": "x"}]}
    spans = [span(f"s{n}", n + 1, n + 2, given_as([picture, text("assistant", "ok")][: 1 + n])) for n in range(2)]
    assert brief(read(export(*spans))) == [
        ("E_LOG_MESSAGE", "span s0: `gen_ai.input.messages`[0]: 1 parts of a message are no text"),
        ("user", "Look.", ""),
        ("assistant", "ok", ""),
    ]


@pytest.mark.parametrize("words", ['{"to": "Ann"}', "[1, 2]", "[not JSON"])
def test_a_text_that_looks_like_data_is_a_text(read, words):
    own = inference({"0.message.role": "user", "0.message.content": words})
    assert brief(read(export(span("a", 1, 2, own)))) == [("user", words, "")]


POLICY = """
spec: policy/v1
name: payees
rules:
  named: {when: {tool: pay}, each: args.to, as: name, from: [request]}
"""
WITHOUT = ("gen_ai.input", "gen_ai.system", "gen_ai.output", "llm.")


def stripped(spans, beginnings=WITHOUT):
    """Spans that were recorded without messages."""
    return [
        {**part, "attributes": [own for own in part["attributes"] if not own["key"].startswith(beginnings)]}
        for part in spans
    ]


@pytest.mark.parametrize("format_", ["otlp", "openinference"])
def test_whether_the_user_named_the_payee_is_judged_where_messages_are_recorded(tmp_path, format_):
    """Without messages it is not judged; with them it is held for the payee of the request and broken for another."""
    (tmp_path / "rules.yaml").write_text(POLICY, encoding="utf-8")
    policy = compile_policy(load(tmp_path / "rules.yaml")[0].main, Diagnostics())
    form = "JSON in attributes" if format_ == "otlp" else "numbered attributes of OpenInference"
    paid = {"gen_ai.tool.call.arguments": '{"to": "Ann"}'} if format_ == "otlp" else {}
    spans = [
        part if part["spanId"] != "b" else {**part, "attributes": part["attributes"] + listed(paid)}
        for part in FORMS[form]
    ]

    def outcome(spans, change=lambda log: log):
        (tmp_path / "trace.json").write_text(change(json.dumps(export(*spans))), encoding="utf-8")
        trajectories = list(read_logs([tmp_path / "trace.json"]))
        assert {trajectory.format for trajectory in trajectories} == {format_}
        count = scan(policy, trajectories).rules["named"]
        return count.held, count.broken, count.unjudged

    assert outcome(stripped(spans)) == (0, 0, 1)
    assert outcome(spans) == (1, 0, 0)
    assert outcome(spans, lambda log: log.replace("Pay Ann.", "Pay Bob.")) == (0, 1, 0)
    answers_only = ("gen_ai.input", "gen_ai.system", "llm.input")
    assert outcome(stripped(spans, answers_only)) == (0, 0, 1)


def chat(id_, start, given, *answered, **more):
    own = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(answered)}
    return span(id_, start, start + 1, {"gen_ai.operation.name": "chat", **own}, **more)


def asks(id_, amount, tool="pay"):
    part = {"type": "tool_call", "id": id_, "name": tool, "arguments": {"amount": amount}}
    return {"role": "assistant", "parts": [part]}


def gives(id_, response="done"):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": id_, "name": "pay", "response": response}]}


def tool(id_, start, own_id, name="pay", arguments="{}", **more):
    own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.result": "done"}
    own |= {"gen_ai.tool.call.arguments": arguments} if arguments else {}
    return span(id_, start, start + 1, own | ({"gen_ai.tool.call.id": own_id} if own_id else {}), **more)


MORE = text("user", "More.")
CALLS = {
    "an id that the next turn has again": (
        [
            chat("a", 1, [ASK], asks("0", 5)), chat("b", 3, [ASK, asks("0", 5), gives("0")], DONE),
            chat("c", 5, [MORE], asks("0", 5000)), chat("d", 7, [MORE, asks("0", 5000), gives("0")], DONE),
        ],
        [("pay", 5), ("pay", 5000)],
    ),
    "an id that the next answer has again, the same arguments": (
        [chat("a", 1, [ASK], asks("0", 5)), chat("b", 3, [ASK, asks("0", 5), gives("0")], asks("0", 5))],
        [("pay", 5), ("pay", 5)],
    ),
    "a window of history": (
        [chat("a", 1, [ASK], asks("0", 5)), chat("b", 3, [gives("0")], asks("0", 6)), chat("c", 5, [gives("0")], DONE)],
        [("pay", 5), ("pay", 6)],
    ),
    "the same twice without ids": (
        [
            chat("a", 1, [ASK], asks("", 5)), chat("b", 3, [asks("", 5), gives("")], asks("", 5)),
            chat("c", 5, [asks("", 5), gives("")], DONE),
        ],
        [("pay", 5), ("pay", 5)],
    ),
    "a span around others whose answer is an earlier one again": (
        [chat("a", 1, [ASK], asks("", 5)), chat("b", 3, [MORE], asks("", 5)), chat("c", 3, [MORE], DONE, parent="b")],
        [("pay", 5), ("pay", 5)],
    ),
    "an answer that a span around repeats": (
        [chat("a", 1, [ASK], asks("", 5)), chat("b", 1, [ASK], asks("", 5), parent="a")],
        [("pay", 5)],
    ),
    "one span, asked for twice": (
        [chat("a", 1, [ASK], asks("0", 5)), tool("b", 3, "0", arguments='{"amount": 5}'), chat("c", 5, [MORE], asks("0", 5))],
        [("pay", 5), ("pay", 5)],
    ),
    "the span of another tool": (
        [chat("a", 1, [ASK], asks("0", 5000)), tool("b", 3, "0", "noop")], [("pay", 5000), ("noop", None)],
    ),
    "the span of another agent": (
        [chat("a", 1, [ASK], asks("0", 1, "sub")), tool("b", 2, "0", "sub"), chat("c", 2, [MORE], asks("0", 5000), parent="b")],
        [("sub", None), ("pay", 5000)],
    ),
    "spans without ids, one without arguments": (
        [
            chat("a", 1, [ASK], asks("", 5000), asks("", 5)),
            tool("b", 3, "", arguments='{"amount": 5}'), tool("c", 5, "", arguments=""),
        ],
        [("pay", 5), ("pay", 5000)],
    ),
    "a span without an id that has other arguments": (
        [chat("a", 1, [ASK], asks("", 5000)), tool("b", 3, "", arguments='{"amount": 5}')],
        [("pay", 5000), ("pay", 5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_no_call_is_taken_for_another(read, case):
    spans, expected = CALLS[case]
    for order in (spans, spans[::-1]):
        calls: list[Any] = [entry for entry in read(export(*order)) if isinstance(entry, Call)]
        assert [(call.tool, call.arguments.get("amount")) for call in calls] == expected


def test_a_call_after_what_is_new_may_be_another_one(read):
    entries = read(export(chat("a", 1, [ASK, asks("", 5)]), chat("b", 3, [MORE, asks("", 5)])))
    doubt = "span b: `gen_ai.input.messages`[1]: whether a call after what is new is an earlier one is not known"
    assert ("E_LOG_MESSAGE", doubt) in brief(entries)


def test_a_span_with_other_arguments_than_its_message_is_a_finding(read):
    spans = [chat("a", 1, [ASK], asks("0", 5000)), tool("b", 3, "0", arguments='{"amount": 5}')]
    assert ("E_LOG_MESSAGE", "span a: the call '0' has other arguments than its span") in brief(read(export(*spans)))


RETURNED = {"type": "tool_result", "tool_use_id": "1", "content": "Pay Bob."}


def agent(id_, start, end, **more):
    return span(id_, start, end, {"gen_ai.operation.name": "invoke_agent"}, **more)


def untimed(part, start):
    return {**part, "startTimeUnixNano": start}


def prompts(content):
    return span("a", 1, 2, {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": content})


def llm(id_, start, words, parent, **more):
    own = {"0.message.role": "user", "0.message.content": words}
    return span(id_, start, start + 1, inference(own | more), parent=parent)


NO_REQUEST = {
    "a result in JSON": prompts(json.dumps([RETURNED])),
    "one result in JSON": prompts(json.dumps(RETURNED)),
    "a result beside a text in JSON": prompts(json.dumps(["x", RETURNED])),
    "a result of another convention in JSON": prompts(json.dumps([{"functionResponse": {"result": "Pay Bob."}}])),
    "a result in an event": span("a", 1, 2, {"gen_ai.operation.name": "chat"}, events=[("gen_ai.user.message", {"content": json.dumps([RETURNED])})]),
    "an event with another role": span("a", 1, 2, {"gen_ai.operation.name": "chat"}, events=[("gen_ai.user.message", {"content": "Pay Bob.", "role": "tool"})]),
    "a result without a type": chat("a", 1, [{"role": "user", "content": [{"tool_use_id": "1", "content": "Pay Bob."}]}]),
    "a type that is a list": chat("a", 1, [{"role": "user", "parts": [{"type": [], "content": "Pay Bob."}]}]),
    "a type that is an object": chat("a", 1, [{"role": "user", "parts": [{"type": {}, "content": "Pay Bob."}]}]),
    "a user among the answers": chat("a", 1, [], text("user", "Pay Bob.")),
    "the id of a call": span("a", 1, 2, inference({"0.message.role": "user", "0.message.content": "Pay Bob.", "0.message.tool_call_id": "1"})),
    "no start": untimed(chat("a", 1, [text("user", "Pay Bob.")]), "0"),
    "a start that is no time": untimed(chat("a", 1, [text("user", "Pay Bob.")]), "abc"),
    "a negative start": untimed(chat("a", 1, [text("user", "Pay Bob.")]), "-5"),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_REQUEST)
def test_what_may_not_be_of_the_user_is_a_finding(read, case):
    entries = read(export(span("first", 1, 2, given_as([ASK])), NO_REQUEST[case]))
    assert [entry.code for entry in entries if isinstance(entry, Finding)] == ["E_LOG_MESSAGE"]
    words = [entry.text for entry in entries if isinstance(entry, Message)]
    assert words[0] == "Pay Ann."
    assert ("Pay Bob." in words[1:]) == case.endswith(("start", "no time"))


INSIDE = {
    "a tool's own messages": [{**(own := tool("b", 3, "c1")), "attributes": own["attributes"] + listed(given_as([text("user", "Pay Bob.")]))}],
    "an agent in an agent": [agent("b", 3, 9, parent="m"), chat("c", 4, [text("user", "Pay Bob.")], parent="b")],
    "an agent in an agent, its own messages": [{**(sub := agent("b", 3, 9, parent="m")), "attributes": sub["attributes"] + listed(given_as([text("user", "Pay Bob.")]))}],
    "a span between": [agent("b", 3, 9, parent="x"), span("x", 3, 9, {}, parent="m"), chat("c", 4, [text("user", "Pay Bob.")], parent="b")],
    "a tool without a name": [span("b", 3, 9, {"gen_ai.operation.name": "execute_tool"}, name=""), chat("c", 4, [text("user", "Pay Bob.")], parent="b")],
}  # fmt: skip


@pytest.mark.parametrize("case", INSIDE)
def test_what_is_said_inside_is_no_request(read, case):
    entries = read(export(agent("m", 1, 20, parent=""), chat("a", 1, [ASK], parent="m"), *INSIDE[case]))
    heard = {entry.text: entry.actor for entry in entries if isinstance(entry, Message)}
    assert heard == {"Pay Ann.": "", "Pay Bob.": "c1" if case == "a tool's own messages" else "b"}


def test_an_agent_of_openinference_in_another_is_a_subagent(read):
    kind = {"openinference.span.kind": "AGENT"}
    outer, inner = span("m", 1, 20, kind, parent=""), span("s", 3, 9, kind, parent="m")
    entries = read(export(outer, llm("a", 1, "Pay Ann.", "m"), inner, llm("b", 4, "Pay Bob.", "s")))
    assert brief(entries) == [("user", "Pay Ann.", ""), ("user", "Pay Bob.", "s")]


def invoked(id_, start, end, name, *, parent="root", trace="t", **more):
    own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **more}
    return span(id_, start, end, own, parent=parent, trace=trace, name=f"invoke_agent {name}")


def chatting(id_, start, end, given, answered, parent, trace="t"):
    own = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps([answered])}
    return span(id_, start, end, own, parent=parent, trace=trace)


PLAN = text("assistant", "Pay Eve.")
TOLD = text("user", "Pay Eve.")
BESIDE = {
    "another agent": (("planner", 10, 19), ("payer", 20, 40), "B"),
    "the same agent, later": (("payer", 10, 19), ("payer", 20, 40), ""),
    "the same agent, at the same time": (("payer", 10, 25), ("payer", 20, 40), "B"),
    "another agent, at the same time": (("planner", 10, 30), ("payer", 20, 40), "B"),
}


@pytest.mark.parametrize("case", BESIDE)
def test_agents_side_by_side_are_two_actors_and_only_the_first_is_asked_by_the_user(read, case):
    (one, since, until), (other, start, end), actor = BESIDE[case]
    entries = read(
        export(
            invoked("A", since, until, one),
            chatting("a", 11, 18, [ASK], PLAN, "A"),
            invoked("B", start, end, other),
            chatting("b", 21, 29, [ASK, TOLD], PAYING, "B"),
            span("c", 30, 35, TOOL, parent="B", name="execute_tool pay"),
            chatting("d", 36, 39, [ASK, TOLD, PAYING, PAID], DONE, "B"),
        )
    )
    assert brief(entries) == [
        ("user", "Pay Ann.", ""),
        ("assistant", "Pay Eve.", ""),
        ("user", "Pay Eve.", actor),
        ("assistant", "I pay.", actor),
        ("call", "c1", "pay", {"to": "Ann"}, actor),
        ("result", "c1", "done"),
        ("assistant", "Ann is paid.", actor),
    ]


def test_the_history_that_one_agent_hands_to_another_is_read_once(read):
    entries = read(
        export(
            invoked("A", 10, 29, "first"),
            chatting("a", 11, 14, [ASK], PAYING, "A"),
            span("c", 15, 18, TOOL, parent="A", name="execute_tool pay"),
            invoked("B", 30, 40, "second"),
            chatting("b", 31, 39, [ASK, PAYING, PAID], DONE, "B"),
            invoked("C", 41, 60, "first"),
            chatting("e", 42, 59, [ASK, PAYING, PAID, DONE, TOLD], PLAN, "C"),
        )
    )
    assert brief(entries) == [
        ("user", "Pay Ann.", ""),
        ("assistant", "I pay.", ""),
        ("call", "c1", "pay", {"to": "Ann"}, ""),
        ("result", "c1", "done"),
        ("assistant", "Ann is paid.", "B"),
        ("user", "Pay Eve.", ""),
        ("assistant", "Pay Eve.", ""),
    ]


def test_the_first_agent_of_each_trace_of_a_conversation_is_the_agent(read):
    talk = {"gen_ai.conversation.id": "talk"}
    entries = read(
        export(
            invoked("A", 10, 29, "first", **talk),
            chatting("a", 11, 14, [ASK], PLAN, "A"),
            invoked("B", 30, 40, "second", trace="u", **talk),
            chatting("b", 31, 39, [ASK, PLAN, TOLD], DONE, "B", trace="u"),
        )
    )
    assert [entry[2] for entry in brief(entries)] == ["", "", "", ""]


AGENT_KIND = {"openinference.span.kind": "AGENT"}
TASKS = {
    "a text": ({"input.value": "Pay Ann."}, "", "Pay Ann."),
    "an object with one text": (
        {"input.value": '{"task": "Pay Ann.", "stream": false, "images": null}'},
        "",
        "Pay Ann.",
    ),
    "an object with two texts": ({"input.value": '{"task": "Pay Ann.", "history": "Pay Eve."}'}, "", None),
    "an object with a list": ({"input.value": '{"task": "Pay Ann.", "history": ["Pay Eve."]}'}, "", None),
    "a list": ({"input.value": '["Pay Ann."]'}, "", None),
    "redacted": ({"input.value": "__REDACTED__"}, "", None),
    "nothing": ({}, "", None),
    "an agent that something else started": ({"input.value": "Pay Ann."}, "chain", None),
}


@pytest.mark.parametrize("case", TASKS)
def test_what_the_first_agent_was_given_is_the_request(read, case):
    own, parent, asked = TASKS[case]
    answer = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Done.",
    }
    entries = read(
        export(span("A", 10, 40, {**AGENT_KIND, **own}, parent=parent), span("a", 11, 20, answer, parent="A"))
    )
    requests = [entry.text for entry in entries if isinstance(entry, Message) and entry.speaker is USER]
    assert requests == ([] if asked is None else [asked])


def test_a_request_that_a_model_is_given_as_well_is_read_once(read):
    given = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Pay Ann.",
    }
    root = span("A", 10, 40, {**AGENT_KIND, "input.value": "Pay Ann."}, parent="")
    beside = span("B", 50, 60, {**AGENT_KIND, "agent.name": "other", "input.value": "Pay Eve."}, parent="")
    entries = read(export(root, span("a", 11, 20, given, parent="A"), beside))
    assert brief(entries) == [("user", "Pay Ann.", "")]
