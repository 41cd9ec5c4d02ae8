"""What a dry run says of logs is what a live guard says of the same calls."""

import pytest

from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.wings.guard import dry_run as dry_run_module
from specledger.wings.guard.dry_run import dry_run, dry_run_text
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.reading import read_logs
from tests.wings.guard.conftest import KNOWN, OTHER, loaded


def made_up(number):
    """A conversation of the office with twenty calls, some of which are allowed."""
    draw = Stream.named(7, "guard", number)
    entries: list[Entry] = [Message(Speaker.USER, f"Pay 20 to {draw.choice([OTHER, KNOWN])}, and read the mail.")]
    for index in range(20):
        tool = draw.choice(["read_mail", "read_mail", "ask_approval", "send_money", "send_money", "unknown"])
        amount = draw.choice([20, 90, 250, 900, 1200])
        arguments, content = {
            "read_mail": ({"id": index}, f"An invoice of {amount} to {draw.choice([OTHER, KNOWN])}."),
            "ask_approval": ({"amount": amount}, {"ok": draw.choice([True, False])}),
            "send_money": ({"amount": amount, "to": draw.choice([OTHER, KNOWN])}, "sent"),
            "unknown": ({}, "done"),
        }[tool]
        call = f"{index}"
        entries += [Call(call, tool, arguments), Result(call, content, draw.choice([None, False, False, True]))]
    return Trajectory(f"t{number}", "made.jsonl", "canonical", tuple(entries))


def live(guard, trajectory):
    """The decisions of a live guard about the calls of a trajectory."""
    results = {entry.call: entry for entry in trajectory.entries if isinstance(entry, Result)}
    guard("begin", trajectory.id)
    for entry in trajectory.entries:
        if isinstance(entry, Message):
            guard("say", trajectory.id, speaker=entry.speaker.value, text=entry.text)
        elif isinstance(entry, Call):
            decision = guard("ask", trajectory.id, call=entry.id, tool=entry.tool, arguments=entry.arguments)
            yield {key: decision[key] for key in ("call", "tool", "decision", "denied_by", "unjudged")}
            if decision["decision"] == "allow":
                result = results[entry.id]
                guard("report", trajectory.id, call=entry.id, content=result.content, error=result.error)


@pytest.mark.medium
def test_a_dry_run_decides_a_thousand_calls_as_a_live_guard_does(guard_of, office, tmp_path):
    trajectories = [made_up(number) for number in range(50)]
    log = tmp_path / "made.jsonl"
    log.write_bytes(b"".join(write_lines(trajectories)))
    told = dry_run(loaded(office), read_logs([log]))
    guard = guard_of()
    lived = [{"trajectory": each.id, **decision} for each in trajectories for decision in live(guard, each)]
    said = [{key: value for key, value in each.items() if key not in ("file", "line")} for each in told["decisions"]]
    assert said == lived
    assert told["calls"] == len(lived) == 1000
    assert 100 < told["denied"] < 900
    assert {"approved", "payments.payee", "payments.few", "paid-cap", "unknown"} <= told["by"].keys()


def test_a_dry_run_is_a_command(spec, office, tmp_path, monkeypatch):
    monkeypatch.chdir(office)
    log = tmp_path / "made.jsonl"
    log.write_bytes(b"".join(write_lines([made_up(0)])))
    done = spec("guard", "office", "--dry-run", str(log))
    assert done.status == 1
    assert done.out.startswith("office: ")
    assert "20 calls denied, 1 trajectory" in done.out
    document = spec("guard", "office", "--dry-run", str(log), "--output", "json").json
    assert document["format"] == "specledger/guard-dry-run/v1"
    assert len(document["decisions"]) == 20


def test_a_dry_run_names_what_it_could_not_read(spec, office, tmp_path, monkeypatch):
    monkeypatch.chdir(office)
    logs = tmp_path / "logs"
    logs.mkdir()
    call = Trajectory("t", "made.jsonl", "canonical", (Call("1", "read_mail", {"id": 1}), Result("1", "text", False)))
    (logs / "made.jsonl").write_bytes(b"".join(write_lines([call])))
    assert spec("guard", "office", "--dry-run", str(logs)).status == 0
    (logs / "notes.txt").write_text("no log")
    (logs / "old.jsonl.gz").write_bytes(b"\x1f\x8b\x08 more")
    done = spec("guard", "office", "--dry-run", str(logs))
    assert done.status == 3
    assert [line for line in done.out.splitlines() if "not read" in line] == [
        "  not read: notes.txt:1: E_LOG_JSON: not JSON at line 1, column 1: invalid literal, expected 'null'",
        "  not read: old.jsonl.gz: E_LOG_FILE: the file is compressed: unpack it first",
    ]
    document = spec("guard", "office", "--dry-run", str(logs), "--output", "json").json
    assert [each["file"] for each in document["not_read"]] == ["notes.txt", "old.jsonl.gz"]


@pytest.mark.parametrize(("number", "shown", "more"), [(0, 0, None), (1, 1, None), (2, 2, None), (3, 2, 1), (5, 2, 3)])
def test_the_first_of_what_is_denied_and_not_read_is_shown(monkeypatch, number, shown, more):
    monkeypatch.setattr(dry_run_module, "_MOST_SHOWN", 2)
    why = [{"name": "rule", "reason": "because"}]
    denied = {"decision": "deny", "file": "a", "line": 3, "tool": "t", "call": "1", "denied_by": why, "unjudged": why}
    finding = {"file": "b", "line": 0, "code": "E_LOG_FILE", "message": "no"}
    result = {"scenario": "s", "denied": number, "calls": 9, "trajectories": 1, "by": {"rule": number, "other": 1}}
    result |= {"decisions": [{"decision": "allow"}, *[denied] * number], "not_read": [finding] * number}
    head, by, *rest = dry_run_text(result)
    assert head == f"s: {number} of 9 calls denied, 1 trajectory"
    assert by == f"  by rule {number}, other 1"
    assert rest == [
        *["  a:3: t, call 1: rule: because; rule: because"] * shown,
        *[f"  and {more} more, which --output json has"] * (more is not None),
        *["  not read: b: E_LOG_FILE: no"] * shown,
        *[f"  and {more} more that were not read"] * (more is not None),
    ]


@pytest.mark.medium
def test_a_scenario_without_a_recording_is_refused(spec, office, monkeypatch):
    monkeypatch.chdir(office)
    done = spec("guard", "hazard")
    assert done.status == 2
    assert "E_GUARD_SCENARIO" in done.err
    assert load("hazard")
