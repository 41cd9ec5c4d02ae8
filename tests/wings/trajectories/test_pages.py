"""Trajectories on the page of a run: which are shown, and what stands in their rows."""

import re
from typing import Any

import pytest
from msgspec import UNSET

from specledger.report.sections import Block, Quoted, RowLink, Words
from specledger.wings.trajectories import pages
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.pages import _section, trajectory_names, trajectory_sections

FROM = "Of the format format. Receipts, which count from 0, call it episode 3."
HIDDEN = Withheld("sha256:" + "0" * 64)


def rules(episode=0, broken=(), unjudged=()) -> Any:
    return {"episode": episode, "broken": list(broken), "unjudged": list(unjudged)}


def breach(call="1", rule="r", **more):
    return {"call": call, "rule": rule, "reason": "because", **more}


def section(*entries, receipts=(), id_="log.jsonl:1"):
    return shown_in_full(*entries, receipts=receipts, id_=id_).section


def shown_in_full(*entries, receipts=(), id_="log.jsonl:1"):
    return _section(3, Trajectory(id_, "log.jsonl", "format", entries), receipts)


CALL = Call("1", "pay", {"n": 1})

ENTRIES = {
    "a message": (Message(Speaker.USER, "go"), "user", "go"),
    "of a subagent": (Message(Speaker.ASSISTANT, "go", actor="a"), "assistant (a)", "go"),
    "a finding": (Finding("E_LOG_RECORD", "no role", 2), "E_LOG_RECORD", "no role"),
    "a call": (CALL, "call pay", {"n": 1}),
    "a call without arguments": (Call("1", "pay"), "call pay", "not recorded"),
    "a withheld call": (Call("1", "pay", HIDDEN), "call pay", f"withheld: {HIDDEN.digest}"),
    "a result": (Result("1", "done"), "result of no call", "done"),
    "a failed result": (Result("1", "done", error=True), "result of no call (failed)", "done"),
    "a result that did not fail": (Result("1", "done", error=False), "result of no call", "done"),
    "a denied result": (Result("1", UNSET, error=True, denied=True), "result of no call (denied)", "not recorded"),
}


@pytest.mark.parametrize(("entry", "what", "content"), ENTRIES.values(), ids=ENTRIES)
def test_what_an_entry_is(entry, what, content):
    (row,) = section(entry).rows
    assert (row.name, row.mark, row.details) == ("1", "", [])
    assert row.cells == (Words(what), Quoted(content if isinstance(content, str) else '{"n":1}', 300), Words(""))


def test_rows_are_numbered_and_results_name_their_tool():
    first, second = section(CALL, Result("1", "x")).rows
    assert (first.name, second.name, second.cells[0]) == ("1", "2", Words("result of pay"))


def test_rules_stand_at_their_call():
    open_, broken = breach(rule="open"), breach(rule="broken", source="there")
    (row,) = section(CALL, receipts=[rules(broken=[broken], unjudged=[open_])]).rows
    assert (row.mark, row.cells[2]) == ("broken", Words("broken, open"))
    assert row.details == [
        ("call", Quoted(CALL.id)),
        ("broken", Quoted("because", 2000)),
        ("found in", Quoted("there", 2000)),
        ("open", Quoted("because", 2000)),
    ]
    (row,) = section(CALL, receipts=[rules(unjudged=[open_])]).rows
    assert row.mark == "cannot tell"
    (row,) = section(Result("1", "x"), receipts=[rules(broken=[broken])]).rows
    assert (row.mark, row.details) == ("", [])


def test_a_breach_by_a_later_receipt_counts_first():
    (row,) = section(CALL, receipts=[rules(unjudged=[breach()]), rules(broken=[breach(rule="b")])]).rows
    assert (row.mark, row.cells[2]) == ("broken", Words("r, b"))


@pytest.mark.parametrize(("size", "opened"), [(300, False), (301, True)])
def test_a_long_text_can_be_opened(size, opened):
    (row,) = section(Message(Speaker.USER, "a" * size)).rows
    assert row.details == ([("whole text", Block("a" * size))] if opened else [])


def test_a_section_says_where_it_is_from():
    shown = section(CALL)
    assert (shown.id, shown.title, shown.heads) == ("trajectory-3", "log.jsonl", ("entry", "what", "text", "rules"))
    assert section(CALL, id_="t").title == "log.jsonl, trajectory t"
    assert shown.intro == FROM
    said = section(CALL, receipts=[rules(broken=[breach(call="", rule="a")], unjudged=[breach(call="", rule="b")])])
    assert said.intro.endswith(" Of messages: a: because; b: because")


@pytest.mark.parametrize(
    ("more", "said"),
    [(0, ""), (1, " 1 entry more is in the evidence alone."), (2, " 2 entries more are in the evidence alone.")],
)
def test_the_first_entries_are_shown(monkeypatch, more, said):
    monkeypatch.setattr(pages, "MOST_ENTRIES", 2)
    shown = section(*[Message(Speaker.USER, "a")] * (2 + more))
    assert (len(shown.rows), shown.intro) == (2, f"{FROM}{said}")


@pytest.mark.parametrize(("episodes", "expected"), [([2, 0], "02"), ([0, 1, 2], "01"), ([1, 2, 1, 0], "12"), ([], "")])
def test_the_first_trajectories_with_a_rule_are_shown(tmp_path, monkeypatch, episodes, expected):
    monkeypatch.setattr(pages, "MOST_TRAJECTORIES", 2)
    monkeypatch.setattr(pages, "read_lines", lambda _: (Trajectory(str(n), "a", "f", [CALL]) for n in range(3)))
    (tmp_path / "trajectories.jsonl").write_bytes(b"")
    shown = list(trajectory_sections(tmp_path, [rules(episode) for episode in episodes]))
    assert "".join(str(each.episode) for each in shown) == expected


def test_a_call_is_found_by_its_row():
    calls = shown_in_full(Message(Speaker.USER, "go"), CALL, Result("1", "x")).calls
    assert calls == {"1": RowLink("trajectory-3.2", "entry 2")}


def test_trajectories_are_called_as_their_logs(tmp_path):
    heads = [{"file": "a.json", "id": "a.json:1"}, {"file": "b.jsonl", "id": "b.jsonl:2"}, {"file": "c", "id": "x"}]
    with (tmp_path / "trajectories.jsonl").open("wb") as lines:
        lines.writelines(write_lines(Trajectory(format="f", entries=[CALL], **head) for head in heads))
    assert trajectory_names(tmp_path) == ["a.json", "b.jsonl, trajectory 2", "c, trajectory x"]


def test_the_page_of_logs_is_called_as_its_policy_and_they(spec, tmp_path):
    """A rule without a `doc` is said in words; what failed is told with its log, its file and the row of its call."""
    spec("run", "recorded-clerk", "--set", "expect=null", "--out", tmp_path / "out")
    spec("report", tmp_path / "out", "--format", "html", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    head, _, tables = page.partition('<main id="main"')
    assert "<h1><bdi>invoices: " in head
    assert "(scenario recorded-clerk)" in head
    assert "specs/policy/invoices.yaml" in head
    assert re.search(r'<a href="#trajectory-\d+\.\d+"><bdi>entry \d+</bdi></a>', tables)
    assert "first in trajectory" not in head


def test_a_recording_is_told_by_what_it_can_show(spec, tmp_path):
    spec("run", "recorded-clerk", "--out", tmp_path / "out")
    counts = next(line for line in spec("report", tmp_path / "out").out.splitlines() if line.startswith("Evidence of"))
    assert "judgements 14" in counts
    assert re.search(r"calls \d+ in \d+ trajectories", counts)
    assert not [word for word in ("seed", "steps", "proposals", "successes", "drifts", "checks") if word in counts]


def test_the_page_of_a_recording_speaks_of_trajectories(spec, tmp_path):
    spec("run", "recorded-clerk", "--out", tmp_path / "out")
    spec("report", tmp_path / "out", "--format", "html", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    tables = page.partition('<main id="main"')[2]
    assert all(word in tables for word in ('"recorded":true', ">Trajectories<"))
    assert not [word for word in ("goal first reached", "step through", ">Episodes<") if word in tables]
    assert "Recorded calls, judged by the policy invoices" in page
    assert "It ended as expected: FAIL. So the verdict is PASS." in page
    assert "if no call of <code>ask_approval</code> was made before of which all of these hold: <code>ok</code>" in page
    assert "{&quot;amount&quot;:240.5}" in tables or '{"amount":240.5}' in tables
    assert "occurs in none of the request or the results of <code>read_invoice</code> at <code>payee</code>" in page


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": {"$number": "0.1"}, "b": [{"$number": "-1e400"}]}, '{"a":0.1,"b":[-1e400]}'),
        ({"a": '{"$number":"1"}'}, '{"a":"{\\"$number\\":\\"1\\"}"}'),
    ],
)
def test_numbers_are_shown_as_the_log_has_them(value, shown):
    call = Call("c", "t", value)
    assert section(call).rows[0].cells[1].value == shown


def test_a_rule_that_was_broken_before_a_value_was_withheld_stands_at_its_call_too():
    kept = [
        {"rule": rule, "call": CALL.id, "status": status} for rule, status in (("kept", "broken"), ("fine", "held"))
    ]
    (row,) = section(CALL, receipts=[{**rules(broken=[breach(rule="broken")]), "withheld": kept}]).rows
    assert (row.mark, row.cells[2]) == ("broken", Words("broken, kept"))
    assert row.details[-1] == ("kept", Quoted("broken before a value was withheld, as recorded", 2000))
