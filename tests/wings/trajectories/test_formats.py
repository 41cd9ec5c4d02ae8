"""Formats that are data: a log that no reader knows is read by a document of the kind `format`."""

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.formats.reader import _described, _Entry
from specledger.wings.trajectories.lines import read_lines, write_lines
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker
from specledger.wings.trajectories.reading import read_logs

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "fixtures/trajectories/formats"
WRITTEN = ROOT / "fixtures/trajectories/written"
"""Logs that programs wrote themselves."""
USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
MINE = """
spec: format/v1
name: mine
calls: [{when: {entry.kind: tool}, name: entry.tool, arguments: entry.input, id: entry.id, result: entry.output}]
"""


def reader(target):
    return compile_format(load(target, kind="format")[0].main, Diagnostics())


def shipped(name, file, folder=LOGS):
    return [entry for trajectory in read_logs([folder / file], reader(name)) for entry in trajectory.entries]


@pytest.fixture
def read(tmp_path):
    """What a format gives of records, a line each."""

    def run(text, *records, name="log.jsonl"):
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        (tmp_path / name).write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
        return list(read_logs([tmp_path / name], reader(tmp_path / "mine.yaml")))

    return run


@pytest.mark.parametrize("file", sorted(path.name for path in LOGS.iterdir()))
def test_no_reader_knows_the_log(file):
    (trajectory,) = read_logs([LOGS / file])
    assert [entry.code for entry in trajectory.entries if isinstance(entry, Finding)] == ["E_LOG_FORMAT"]
    assert len(trajectory.entries) == 1


PAGE = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs/formats.md").read_text(encoding="utf-8"), re.M | re.S)
EVENTS = [
    {"event": "open"},
    {"event": "said", "words": "Pay Ann."},
    {"event": "tool", "tool": "pay", "input": {"to": ["Ann"]}, "output": "paid"},
]


@pytest.mark.parametrize("entries", ["record.events", '"record.events[*]"'])
def test_the_format_of_the_page_reads_a_list_of_events(read, entries):
    (text,) = PAGE
    written = text.replace("entries: record.events\n", f"entries: {entries}\n")
    (trajectory,) = read(written, {"events": EVENTS}, name="log.json")
    assert trajectory.entries == (
        Message(USER, "Pay Ann."),
        Call("#1", "pay", {"to": ["Ann"]}, 1),
        Result("#1", "paid"),
    )


@pytest.mark.parametrize("several", ["", "[*]"])
def test_a_list_at_the_end_of_a_path_of_several_stands_for_its_elements(read, several):
    text = f"""
spec: format/v1
name: mine
trajectories: "record.runs{several}"
entries: "trajectory.steps{several}"
calls: [{{each: "entry.calls{several}", name: item.tool, arguments: item.input}}]
"""
    steps = [{"calls": [{"tool": "a", "input": {"of": []}}, {"tool": "b", "input": {}}]}, {"calls": [{"tool": "c"}]}]
    trajectories = read(text, {"runs": [{"steps": steps}, {"steps": steps[:1]}]})
    called = [[entry.tool for entry in one.entries if isinstance(entry, Call)] for one in trajectories]
    assert called == [["a", "b", "c"], ["a", "b"]]


def test_messages_of_langchain():
    assert shipped("langchain", "langchain.json") == [
        Message(Speaker.SYSTEM, "You pay bills."),
        Message(USER, "Pay 10.50 to Ann."),
        Message(ASSISTANT, "First the balance."),
        Call("c1", "balance", {}, 1),
        Call("c2", "pay", {"to": "Ann", "amount": {"$number": "10.50"}}, 1),
        Result("c1", "99", False),
        Result("c2", "no such payee", True),
        Message(ASSISTANT, "It failed."),
    ]


def test_steps_of_smolagents():
    """What two calls gave together is the result of neither, and a finding says so."""
    assert shipped("smolagents", "smolagents.json") == [
        Message(USER, "How old is Ann?"),
        Message(ASSISTANT, "Look her up."),
        Call("call_1", "lookup", {"name": "Ann"}, 1),
        Result("call_1", "Ann is 42."),
        Message(ASSISTANT, "Both at once."),
        Call("call_2", "lookup", {"name": "Bob"}, 2),
        Call("call_3", "final_answer", {"code": "42"}, 2),
        Finding("E_LOG_RECORD", "a result is that of 2 calls, so it is that of none: `entry.tool_calls[*].id`"),
        Finding("E_LOG_NO_RESULT", "the call 'call_2' of lookup has no result"),
        Finding("E_LOG_NO_RESULT", "the call 'call_3' of final_answer has no result"),
    ]


def test_what_smolagents_itself_wrote_is_read():
    """A step whose calls failed has none, but for what the model wrote; code is an argument."""
    entries = shipped("smolagents", "smolagents-tool-calling.json", WRITTEN)
    calls = [entry for entry in entries if isinstance(entry, Call)]
    assert [(call.tool, call.batch) for call in calls] == [
        ("lookup", 1),
        ("send_mail", 2),
        ("lookup", 3),
        ("send_mail", 3),
        ("final_answer", 4),
    ]
    assert calls[1].arguments == {"to": "nobody", "text": "Ann is 42."}
    (failed,) = [entry for entry in entries if isinstance(entry, Result) and entry.call == "call_2"]
    assert "ValueError: no address" in str(failed.content)
    code = shipped("smolagents", "smolagents-code.json", WRITTEN)
    assert Call("call_1", "python_interpreter", {"code": "age = lookup(name='Ann')\nprint(age)"}, 1) in code
    assert not [entry for entry in code if isinstance(entry, Finding)]


def test_what_inspect_itself_wrote_is_read():
    (trajectory,) = read_logs([WRITTEN / "inspect-eval-mockllm.json"], reader("inspect-eval"))
    calls = [entry for entry in trajectory.entries if isinstance(entry, Call)]
    assert [(call.tool, call.batch) for call in calls] == [
        ("lookup", 1),
        ("send_mail", 2),
        ("lookup", 3),
        ("send_mail", 3),
    ]
    results = [entry for entry in trajectory.entries if isinstance(entry, Result)]
    assert [(result.call, result.error) for result in results] == [
        ("call_1", None),
        ("call_2", True),
        ("call_3", None),
        ("call_4", None),
    ]


def test_what_the_openai_agents_sdk_itself_wrote_is_read():
    (trajectory,) = read_logs([WRITTEN / "openai-agents-sdk.jsonl"], reader("openai-agents"))
    calls = [entry for entry in trajectory.entries if isinstance(entry, Call)]
    assert [(call.tool, call.batch) for call in calls] == [
        ("lookup", 1),
        ("send_mail", 2),
        ("lookup", 3),
        ("send_mail", 3),
    ]
    results = [entry for entry in trajectory.entries if isinstance(entry, Result)]
    assert [result.error for result in results] == [None, True, None, None]
    assert not [entry for entry in trajectory.entries if isinstance(entry, Finding)]


def test_spans_of_openai_agents_are_ordered_by_their_start():
    (trajectory,) = read_logs([LOGS / "openai-agents.jsonl"], reader("openai-agents"))
    assert (trajectory.id, trajectory.format) == ("trace_1", "openai-agents")
    assert list(trajectory.entries) == [
        Call("span_1", "balance", {}, 1, line=2, time=1_767_225_601_000_000),
        Result("span_1", "99", line=2),
        Call("span_2", "pay", {"to": "Ann", "amount": {"$number": "10.5"}}, 1, line=1, time=1_767_225_602_000_000),
        Result("span_2", UNSET, True, 1),
    ]


def test_samples_of_inspect_are_trajectories():
    first, second = read_logs([LOGS / "inspect-eval.json"], reader("inspect-eval"))
    assert (first.id, second.id) == ("s1", "s2")
    assert list(first.entries) == [
        Message(USER, "Pay Ann."),
        Message(ASSISTANT, "I pay."),
        Call("t1", "pay", {"to": "Ann", "amount": 10}, 1),
        Result("t1", "done"),
        Message(ASSISTANT, "Paid."),
    ]
    assert second.entries[2] == Result("t1", "", True)


def failures(trajectory):
    return [
        entry.message for entry in trajectory.entries if isinstance(entry, Finding) and entry.code == "E_LOG_FAILED"
    ]


def test_a_sample_of_inspect_that_failed_is_a_finding(tmp_path):
    log = json.loads((LOGS / "inspect-eval.json").read_text(encoding="utf-8"))
    log["samples"][1]["error"] = {"message": "the model\n did not answer", "traceback": "..."}
    log |= {"status": "error", "error": {"message": "too many samples failed"}}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    first, second, whole = read_logs([tmp_path / "log.json"], reader("inspect-eval"))
    assert failures(first) == []
    assert failures(second) == ["the log says that this failed, with: the model did not answer"]
    assert [type(entry) for entry in second.entries[:3]] == [Message, Call, Result], "the rest of it is read"
    assert failures(whole) == ["the log says that this failed, with: too many samples failed"]
    assert len(whole.entries) == 1


def test_an_evaluation_that_did_not_end_is_a_finding(tmp_path):
    log = json.loads((LOGS / "inspect-eval.json").read_text(encoding="utf-8"))
    (tmp_path / "log.json").write_text(json.dumps(log | {"status": "started"}), encoding="utf-8")
    *_, whole = read_logs([tmp_path / "log.json"], reader("inspect-eval"))
    assert failures(whole) == ["the log says that this failed, by `record.status`"]


FAILING = """
spec: format/v1
name: mine
by: entry.of
calls: [{when: {entry.kind: tool}, name: entry.tool, arguments: entry.input, id: entry.id, result: entry.output}]
findings:
  - {when: {entry.kind: crash}, text: entry.why}
  - {has: entry.notes, each: "entry.notes[*]", when: {item.bad: true}, text: item.text}
ignore: [{has: entry.notes, each: "entry.notes[*]"}]
"""


def test_entries_and_items_that_failed_are_findings_of_their_trajectory(read):
    call = {"of": "a", "kind": "tool", "tool": "look", "input": {}, "id": "1", "output": "x"}
    notes = [{"bad": True, "text": "no disk"}, {"bad": False, "text": "fine"}, {"bad": True}]
    one, other = read(
        FAILING,
        {**call, "notes": notes},
        {"of": "b", "kind": "crash", "why": "x" * 900},
        {"of": "a", "kind": "crash", "why": 7},
        {"of": "b", "kind": "crash", "why": {"no": "text"}},
    )
    said = "the log says that this failed, "
    assert failures(one) == [f"{said}with: no disk", f"{said}by `item.bad`", f"{said}with: 7"]
    assert [entry.line for entry in one.entries if isinstance(entry, Finding)] == [1, 1, 3]
    assert failures(other) == [f"{said}with: {'x' * 400}", f"{said}by `entry.kind`"]
    assert {entry.code for entry in (*one.entries, *other.entries) if isinstance(entry, Finding)} == {"E_LOG_FAILED"}


def test_a_record_above_its_entries_fails_as_a_whole(read):
    text = FAILING.partition("findings:")[0].replace("by: entry.of", "entries: record.steps[*]")
    text += "findings: [{has: record.error, text: record.error}]\n"
    step = {"kind": "tool", "tool": "look", "input": {}, "id": "1", "output": "x"}
    (whole,) = read(text, {"steps": [step], "error": "out of money"}, {"steps": [{**step, "id": "2"}]})
    assert failures(whole) == ["the log says that this failed, with: out of money"]
    assert [entry.line for entry in whole.entries if isinstance(entry, Finding)] == [1]


@pytest.mark.parametrize(
    ("clause", "code", "words"),
    [
        ("{text: entry.why}", "E_SPEC_VALUE", "by which the log says"),
        ("{has: item.error}", "E_FORMAT_PATH", "`item` is one of those of `each`"),
        ("{has: entry.error, code: entry.code}", "E_SPEC_UNKNOWN_KEY", "code"),
        ("{has: entry.error, text: 3}", "E_SPEC_TYPE", "text"),
    ],
)
def test_a_wrong_finding_has_a_code_and_a_place(tmp_path, clause, code, words):
    (tmp_path / "mine.yaml").write_text(f"{MINE}findings: [{clause}]\n", encoding="utf-8")
    with pytest.raises(Rejected) as rejected:
        reader(tmp_path / "mine.yaml")
    (found,) = rejected.value.diagnostics
    assert found.code == code
    assert words in found.message
    assert found.span is not None
    assert found.span.start.line == 5


def test_lines_are_told_apart_and_what_is_not_read_is_a_finding(read):
    start = (ROOT / "specs/new/format/new-format.yaml").read_text(encoding="utf-8")
    first, second, third = read(
        start,
        {"session": "a", "kind": "said", "who": "human", "text": "Hello", "at": 5},
        {"session": 7, "kind": "tool", "tool": "look", "input": '{"at": 1}', "id": 1},
        {"session": "a", "kind": "tool", "tool": "look", "input": "{", "id": "x"},
        {"session": 7, "kind": "failed", "of": 1, "output": [{"text": "no"}]},
        {"kind": "heartbeat"},
        {"session": "a", "kind": "moved", "to": 1},
        ["odd"],
    )
    assert (first.id, second.id, third.id) == ("a", "7", "log.jsonl")
    assert list(first.entries) == [
        Message(USER, "Hello", line=1, time=5_000_000),
        Finding("E_LOG_ARGUMENTS", first.entries[1].message, 3),
        Call("x", "look", "{", 1, line=3),
        Finding(
            "E_LOG_RECORD", "no clause of the format new-format reads this entry: its keys are kind, session, to", 6
        ),
        Finding("E_LOG_NO_RESULT", "the call 'x' of look has no result", 3),
    ]
    assert list(second.entries) == [Call("1", "look", {"at": 1}, 1, line=2), Result("1", "no", True, 4)]
    assert third.entries[0].message.endswith("it is no object but list")


def test_items_that_no_clause_reads_are_findings(read):
    text = """
spec: format/v1
name: mine
trajectories: record
id: trajectory.id
entries: trajectory.turns[*]
messages: [{each: "entry.parts[*]", when: {item.type: text}, speaker: assistant, text: item.text}]
calls: [{each: "entry.parts[*]", when: {item.type: use}, name: item.name, arguments: item.input, id: item.id}]
ignore: [{each: "entry.parts[*]", when: {item.type: thinking}}]
"""
    parts = [
        {"type": "thinking"},
        {"type": "text", "text": "so"},
        {"type": "use", "name": "go", "id": "g"},
        {"type": "audio"},
        {"type": "use", "id": "h"},
    ]
    (trajectory, empty) = read(text, {"id": "a", "turns": [{"parts": parts}]}, {"id": "b"})
    assert trajectory.id == "a"
    assert list(trajectory.entries)[:-1] == [
        Message(ASSISTANT, "so", line=1),
        Call("g", "go", UNSET, 1, line=1),
        Finding("E_LOG_RECORD", "`item.name` is no name of a tool", 1),
        Finding("E_LOG_RECORD", "no clause of the format mine reads item 4 of `entry.parts[*]`", 1),
    ]
    assert [entry.message for entry in empty.entries] == ["`trajectory.turns[*]` leads to nothing"]


def test_an_entry_without_its_order_stands_last(read):
    text = MINE + "order: entry.at\n"
    calls = [
        {"kind": "tool", "tool": name, "output": 1, **at}
        for name, at in (("a", {}), ("b", {"at": "x"}), ("c", {"at": 10}), ("d", {"at": 9}))
    ]
    (trajectory,) = read(text, *calls)
    assert [entry.tool for entry in trajectory.entries if isinstance(entry, Call)] == ["d", "c", "b", "a"]
    assert [entry.line for entry in trajectory.entries if isinstance(entry, Finding)] == [1]


@pytest.mark.medium
@given(st.sampled_from(sorted(path.name for path in LOGS.iterdir())), st.data())
@settings(deadline=None, max_examples=120)
def test_a_value_of_another_form_gives_findings_and_never_an_exception(tmp_path_factory, file, data):
    """Any value in a log is another one: what comes of it can be written as canonical lines."""
    text = (LOGS / file).read_text(encoding="utf-8")
    values = re.findall(r'(?<=: )(?:"[^"]*"|null|[0-9.]+|true|\[\]|\{\})', text)
    value = data.draw(st.sampled_from(values))
    other = data.draw(st.sampled_from(["null", "[]", "{}", "1.5", "[[1]]", '{"$number": "1"}', '"x"', "true"]))
    log = tmp_path_factory.mktemp("odd") / file
    log.write_text(text.replace(f": {value}", f": {other}", data.draw(st.integers(1, 3))), encoding="utf-8")
    trajectories = list(read_logs([log], reader(Path(file).stem)))
    assert list(read_lines(write_lines(trajectories))) == trajectories


WRONG = {
    "a root that is not there": ("name: entry.tool", "name: record.tool.", "E_FORMAT_PATH", 4, "as in `entry.function.name`"),
    "an unknown root": ("name: entry.tool", "name: args.tool", "E_FORMAT_PATH", 4, "a path begins with record, trajectory, entry or item"),
    "an item of nothing": ("name: entry.tool", "name: item.tool", "E_FORMAT_PATH", 4, "`item` is one of those of `each`"),
    "a condition on an item of nothing": ("entry.kind: tool", "item.kind: tool", "E_FORMAT_PATH", 4, "what is: entry"),
    "trajectories of nothing": ("name: mine", "name: mine\ntrajectories: record.a", "E_FORMAT_FORM", 2, "needs `entries`"),
    "two ways of telling apart": ("name: mine", "name: mine\ntrajectories: record.a\nentries: trajectory.b\nby: entry.c", "E_FORMAT_FORM", 6, "`by` is for records"),
    "a batch of nothing": ("name: entry.tool", "name: entry.tool, batch: turn", "E_FORMAT_PATH", 4, "a path begins with"),
    "a plain argument without a name": ("name: entry.tool", 'name: entry.tool, plain: ""', "E_SPEC", 4, ""),
    "no calls": ("calls:", "results:", "E_SPEC", 4, ""),
    "a result of no call": ("calls: [", "results: [{content: entry.a}]\ncalls: [", "E_SPEC", 4, "the id of its `call`"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_format_is_a_finding_at_its_place(spec, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    right, wrong, code, line, words = WRONG[case]
    assert right in MINE
    (tmp_path / "mine.yaml").write_text(MINE.replace(right, wrong, 1), encoding="utf-8")
    done = spec("check", "mine.yaml")
    assert done.status == 2
    assert f"error[{code}" in done.err, done.err
    assert words in done.err
    if code != "E_SPEC":
        assert f"mine.yaml:{line}:" in done.err, done.err


def test_the_command_takes_a_format_by_its_name_or_file(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = str(LOGS / "langchain.json")
    by_name = spec("import", log, "--format", "langchain")
    assert by_name.status == 0
    assert by_name.out.count("\n") == 11
    (tmp_path / "own.yaml").write_bytes((ROOT / "specs/format/langchain.yaml").read_bytes())
    assert spec("import", log, "--format", "own.yaml").out == by_name.out
    scanned = spec("scan", log, "--format", "langchain", "--output", "json")
    assert json.loads(scanned.out)["formats"] == {"langchain": 1}
    misspelt = spec("import", log, "--format", "langchian")
    assert misspelt.status == 2
    assert "there is no format langchian; did you mean langchain?" in misspelt.err
    policy = spec("import", log, "--format", str(ROOT / "specs/new/policy/new-policy.yaml"))
    assert policy.status == 2


@pytest.mark.medium
def test_evidence_of_a_format_of_ones_own_is_verified_where_nobody_knows_it(spec, tmp_path, monkeypatch):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / "specs/format").mkdir(parents=True)
    elsewhere.mkdir()
    (project / "specs/format/mine.yaml").write_text(MINE, encoding="utf-8")
    (project / "log.jsonl").write_text('{"kind": "tool", "tool": "look", "input": {}, "output": 1}\n', encoding="utf-8")
    monkeypatch.chdir(project)
    done = spec("scan", "log.jsonl", "--format", "mine", "--out", "evidence", "--output", "json")
    assert json.loads(done.out)["evidence"] == "evidence"
    monkeypatch.chdir(elsewhere)
    verified = spec("verify", str(project / "evidence"))
    assert verified.status == 0, verified.out
    assert "replay gives the same bytes" in verified.out
    file = str((project / "specs/format/mine.yaml").rename(elsewhere / "own.yaml"))
    by_file = spec("scan", str(project / "log.jsonl"), "--format", file, "--out", "out", "--output", "json")
    assert json.loads(by_file.out)["evidence"] == "out"
    assert spec("verify", "out").status == 0
    lines = [(folder / "trajectories.jsonl").read_bytes() for folder in (project / "evidence", elsewhere / "out")]
    assert lines[0] == lines[1]


def test_an_archive_says_which_package_reads_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    (tmp_path / "b.eval").write_bytes(b"PK\x03\x04 and then nothing")
    (whole, damaged) = read_logs([tmp_path])
    assert isinstance(whole.entries[0], Finding)
    assert (whole.format, whole.entries[0].code) == ("inspect", "E_LOG_FORMAT")
    assert "the extra `inspect`" in whole.entries[0].message
    assert damaged.entries == (Finding("E_LOG_FILE", "the archive is damaged"),)


@pytest.mark.medium
def test_an_archive_that_holds_too_much_is_not_opened(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (65 << 20))
    (trajectory,) = read_logs([tmp_path])
    assert [entry.code for entry in trajectory.entries if isinstance(entry, Finding)] == ["E_LOG_SIZE"]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("[" + "[]," * 480_000 + "[]]", 191_520_532),
        ('"' + "a" * 30_000_000 + '"', None),
        ('"' + "a" * 30_000_000 + "\u00e9" + '"', None),
        ('"' + "a" * 32_000_000 + "\u0416" + '"', 192_000_024),
        ('"' + "a" * 16_000_000 + "\U0001f600" + '"', 192_000_072),
        ('"' + "a" * 16_000_000 + "\\ud83d\\ude00" + '"', 192_000_168),
    ],
)
def test_an_archive_that_takes_much_memory_is_not_opened(tmp_path, monkeypatch, text, memory):
    """The package keeps texts three times, all characters as wide as the widest, and 130 bytes for each value."""
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with zipfile.ZipFile(tmp_path / "large.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", text)
    (trajectory,) = read_logs([tmp_path])
    (finding,) = trajectory.entries
    assert isinstance(finding, Finding)
    assert finding.code == ("E_LOG_FORMAT" if memory is None else "E_LOG_SIZE")
    assert memory is None or f"takes about {memory} bytes of memory, more than 190000000" in finding.message


def test_a_member_that_cannot_be_unpacked_is_of_a_damaged_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    data = (tmp_path / "a.eval").read_bytes()
    (tmp_path / "a.eval").write_bytes(data.replace(b"{}", b"[]", 1))
    (trajectory,) = read_logs([tmp_path])
    assert trajectory.entries == (Finding("E_LOG_FILE", "the archive is damaged"),)


def test_plain_arguments_and_batches_are_those_of_the_clause(tmp_path):
    calls = "{name: entry.tool, arguments: entry.given, plain: command, batch: entry.turn}"
    (tmp_path / "own.yaml").write_text(f"spec: format/v1\nname: own\ncalls: [{calls}]\n", encoding="utf-8")
    lines = [("ls -l", 1), ('{"a": 1}', 1), ("7", 2), ("", 2)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({"tool": "run", "given": g, "turn": t}) + "\n" for g, t in lines))
    (trajectory,) = read_logs([log], reader(str(tmp_path / "own.yaml")))
    calls_read = [(entry.arguments, entry.batch) for entry in trajectory.entries if isinstance(entry, Call)]
    assert calls_read == [({"command": "ls -l"}, 1), ({"a": 1}, 1), ({"command": "7"}, 2), ({}, 2)]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ([1], "it is no object but list"),
        ({"b": 1, "a": 2}, "its keys are a, b"),
        (dict.fromkeys("ihgfedcba"), "its keys are a, b, c, d, e, f, g, h"),
        ({"k" * 500: 1}, "its keys are " + "k" * 387),
    ],
)
def test_an_entry_that_no_clause_reads_is_described(entry, said):
    assert _described(_Entry({"entry": entry}, 1)) == said
