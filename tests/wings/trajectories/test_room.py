"""What is kept of logs is bounded: a log that takes more is read in part, which is told, and never passes for the whole."""

from collections import Counter

import pytest

from bench.worst_inputs import WORST
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories import room as rooms
from specledger.wings.trajectories.findings import MalformedLine
from specledger.wings.trajectories.lines import read_lines, write_lines
from specledger.wings.trajectories.model import Call, Entry, Finding, Kept, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.room import MOST_KEPT, Room
from specledger.wings.trajectories.rules import past
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.kept import withhold
from specledger.wings.trajectories.scan import scan
from specledger.wings.trajectories.withholding import Withholding

KEEPING = [
    name for name, (_, _, does) in WORST.items() if does == "import" and "document" not in name and "canon" not in name
]


@pytest.fixture
def small(monkeypatch):
    """Rooms of a trajectory have a few kilobytes."""
    monkeypatch.setattr(Room.__init__, "__defaults__", (20_000,))
    monkeypatch.setattr("specledger.wings.trajectories.readers.spans._MOST_KEPT", 20_000)


@pytest.mark.parametrize("name", KEEPING)
def test_a_log_is_read_as_far_as_there_is_room(small, tmp_path, name):
    write, _, _ = WORST[name]
    log = write(tmp_path, 200_000)
    lines = log.read_bytes().count(b"\n")
    entries = [entry for trajectory in read_logs([log]) for entry in trajectory.entries]
    told = [entry.code for entry in entries if isinstance(entry, Finding)]
    assert "E_LOG_SIZE" in told
    assert len(entries) < lines // 2


def test_the_verdict_of_a_log_that_was_read_in_part_is_no_pass(small, tmp_path):
    (tmp_path / "p.yaml").write_text("spec: policy/v1\nname: p\nrules: {a: {when: {tool: x*}, require: 'true'}}\n")
    policy = compile_policy(load(str(tmp_path / "p.yaml"))[0].main, Diagnostics())
    messages = "".join(f'{{"role": "user", "content": "message {number}"}}\n' for number in range(1000))
    call = '{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "x", "arguments": "{}"}}]}\n'
    result = '{"role": "tool", "tool_call_id": "c", "content": "ok"}\n'
    verdicts = {}
    for name, text in (("short", call + result), ("long", call + result + messages)):
        (tmp_path / f"{name}.jsonl").write_text(text)
        verdicts[name] = str(scan(policy, read_logs([tmp_path / f"{name}.jsonl"])).verdict)
    assert verdicts == {"short": "PASS", "long": "INCONCLUSIVE"}


def test_what_was_read_in_part_can_be_written_and_read_again(small, tmp_path):
    write, _, _ = WORST["import: a session of Claude Code"]
    (trajectory,) = read_logs([write(tmp_path, 200_000)])
    assert list(read_lines(write_lines([trajectory]))) == [trajectory]


KEPT_OR_LARGER = {
    "what rules said": (lambda call: {"secret": call, "list": []}, "arguments.secret"),
    "digests in place of values": (lambda call: {"list": [{"secret": 1}] * 20}, "arguments.list.secret"),
}


@pytest.mark.parametrize(("arguments", "path"), KEPT_OR_LARGER.values(), ids=KEPT_OR_LARGER)
@pytest.mark.parametrize(("most", "whole"), [(10_000, False), (10_000_000, True)])
def test_what_is_written_without_some_values_can_be_read(tmp_path, monkeypatch, arguments, path, most, whole):
    (tmp_path / "p.yaml").write_text(
        "spec: policy/v1\nname: p\nrules:\n  a: {when: {tool: pay}, read: {x: {path: args.secret, as: text}}, "
        "require: x != '1'}\n"
    )
    policy = compile_policy(load(str(tmp_path / "p.yaml"))[0].main, Diagnostics())
    entries = [each for n in range(20) for each in (Call(str(n), "pay", arguments(str(n))), Result(str(n), "ok"))]
    monkeypatch.setattr("specledger.wings.trajectories.lines.MOST_OF_LINES", most)
    shown = withhold(Trajectory("a", "f", "openai", entries), Withholding([path], bytes(32)), [policy])
    assert (sum(type(entry) is Result for entry in shown.entries) == 20) == whole
    assert [entry.code for entry in shown.entries if isinstance(entry, Finding)] == ([] if whole else ["E_LOG_SIZE"])
    assert list(read_lines(write_lines([shown]))) == [shown]


LONG = Trajectory("a", "f", "openai", tuple(Message(Speaker.USER, str(n), line=n) for n in range(100)))
SHORT = Trajectory("b", "f", "openai", LONG.entries[:3])


def test_canonical_lines_of_more_than_any_reader_keeps_are_read_in_part(monkeypatch):
    lines = list(write_lines([LONG, SHORT]))
    assert list(read_lines(lines)) == [LONG, SHORT]
    monkeypatch.setattr("specledger.wings.trajectories.lines.MOST_OF_LINES", 10_000)
    part, short = read_lines(lines)
    assert short == SHORT
    assert (part.id, part.entries[:-1]) == ("a", LONG.entries[:37])
    message = "it takes more than 10000 bytes of memory, so the rest is not read"
    assert part.entries[-1] == Finding("E_LOG_SIZE", message, 37)
    assert list(read_lines(write_lines([part]))) == [part]


@pytest.mark.parametrize("change", [lambda lines: lines[:-2] + lines[-1:], lambda lines: [*lines[:-2], b"{}\n"]])
def test_lines_that_are_not_kept_are_checked(monkeypatch, change):
    monkeypatch.setattr("specledger.wings.trajectories.lines.MOST_OF_LINES", 10_000)
    with pytest.raises(MalformedLine):
        list(read_lines(change(list(write_lines([LONG])))))


@pytest.mark.parametrize("bound", ["MAX_LINE", "MAX_LINE_VOLUME"])
def test_a_canonical_line_that_is_too_large_leaves_what_was_before_it(tmp_path, monkeypatch, bound):
    entries = (*SHORT.entries, Message(Speaker.USER, "x," * 400), *SHORT.entries)
    log = tmp_path / "lines.jsonl"
    log.write_bytes(b"".join(write_lines([Trajectory("a", "f", "openai", entries), SHORT])))
    for module in ("lines", "readers.canonical"):
        monkeypatch.setattr(f"specledger.wings.trajectories.{module}.{bound}", 200, raising=False)
    long, short = read_logs([log])
    assert short == SHORT
    assert long.entries == (*SHORT.entries, Finding("E_LOG_SIZE", "a line is too large, so the rest is not read"))


ENTRIES: dict[str, tuple[Entry, int]] = {
    "a message": (Message(Speaker.USER, "a" * 1000), 1264),
    "a wide message": (Message(Speaker.USER, "\U0001f600" * 1000), 4264),
    "a call": (Call("c", "pay", {"to": "ann"}), 200 + 604 + 64 + 102 + 67),
    "a result": (Result("c", [1, 2, []]), 200 + 1 + 64 + 24 + 64 + 64),
    "a result that was not recorded": (Result("c"), 233),
    "a verdict that was kept": (Kept("p@1", "rule", "c", "held"), 200 + 64 + 3 + 4 + 1),
    "a finding": (Finding("E_LOG_JSON", "no"), 266),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_an_entry_is_charged(name):
    entry, most = ENTRIES[name]
    room = Room(most)
    assert room.take(entry)
    assert (room.used, room.full) == (most, False)
    assert not room.take(Message(Speaker.USER, "a"))
    assert not Room(most - 1).take(entry)
    assert room.full


def test_a_trajectory_of_usual_size_has_room():
    """Twenty thousand calls with results of a thousand characters."""
    room = Room(MOST_KEPT)
    assert all(
        room.take(Call(f"c{number}", "read", {"path": "a" * 60})) and room.take(Result(f"c{number}", "a" * 1000))
        for number in range(20_000)
    )


SOURCES = """
spec: policy/v1
name: sources
rules:
  name: {when: {tool: send}, each: args.to, as: name, from: [{text_of: read}]}
  text: {when: {tool: send}, each: args.text, as: text, not_from: [{text_of: read}]}
  field: {when: {tool: send}, each: args.to, as: name, from: [{result_of: read, field: payee}]}
"""


def judged(tmp_path, results, to="ann", text="a text of words"):
    """What each rule says of a call after some results."""
    (tmp_path / "p.yaml").write_text(SOURCES)
    policy = compile_policy(load(str(tmp_path / "p.yaml"))[0].main, Diagnostics())
    session = policy.begin()
    for number, content in enumerate(results):
        session.hear(Call(f"c{number}", "read", {}))
        session.hear(Result(f"c{number}", content))
    outcomes = session.hear(Call("last", "send", {"to": to, "text": text}))
    return {outcome.rule: (str(outcome.status.value), outcome.reason) for outcome in outcomes}


UNSEARCHED = ("unjudged", "more was heard than rules search")


def test_what_is_not_found_is_unknown_where_not_all_was_searched(tmp_path, monkeypatch):
    results = [f'{{"payee": "payee {number}", "note": "{"word " * 20}{number}"}}' for number in range(200)]
    complete = judged(tmp_path, results)
    assert {rule: status for rule, (status, _) in complete.items()} == {
        "name": "broken",
        "text": "held",
        "field": "broken",
    }
    monkeypatch.setattr("specledger.wings.trajectories.rules.policy.MOST_SEARCHED", 5_000)
    assert judged(tmp_path, results) == dict.fromkeys(complete, UNSEARCHED)


@pytest.mark.parametrize(("rule", "status"), {"name": "held", "text": "broken"}.items())
def test_what_was_found_before_there_was_no_room_is_known(tmp_path, monkeypatch, rule, status):
    monkeypatch.setattr("specledger.wings.trajectories.rules.policy.MOST_SEARCHED", 5_000)
    results = [f'{{"payee": "payee {number}", "note": "{"word " * 20}{number}"}}' for number in range(200)]
    monkeypatch.setattr(
        f"{__name__}.SOURCES",
        "\n".join(line for line in SOURCES.splitlines() if "when" not in line or line.startswith(f"  {rule}:")),
    )
    early = judged(tmp_path, results, to="payee 1", text="word word word word word word word")
    assert early == {rule: (status, early[rule][1])}


def test_a_text_that_is_too_long_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(past, "_MOST_TEXT", 100)
    assert judged(tmp_path, ["x" * 100])["name"][0] == "broken"
    assert judged(tmp_path, ["x" * 101])["name"] == UNSEARCHED
    assert judged(tmp_path, ["x" * 101, "ann"])["name"][0] == "held"


def test_different_texts_are_counted_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_COUNTED", 3)
    counts: Counter[str] = Counter()
    for text in ("a", "b", "a", "c" * 1000, "d", "e", "b"):
        rooms.count_text(counts, text)
    assert counts == {"a": 2, "b": 2, "c" * 400 + "...": 1, rooms.OTHERS: 2}


@pytest.mark.parametrize(
    "entry",
    [
        Call("c", "pay", {}, actor="a" * 1000),
        Call("c", "pay", {}, parent="a" * 1000),
        Message(Speaker.USER, "hi", actor="a" * 1000),
    ],
    ids=["actor", "parent", "actor of a message"],
)
def test_every_name_of_an_entry_is_charged(entry):
    room = Room()
    room.take(entry)
    assert room.used >= 1000
