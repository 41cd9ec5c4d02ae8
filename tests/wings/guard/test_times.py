"""Rules over time, live: entries have the time at which they came, and whoever judges them later reads that."""

import json
from pathlib import Path
from typing import Any

import pytest

from specledger.pipeline.verifying import verify
from specledger.wings.guard.log import E_GUARD_DIFFERS
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tests.wings.guard.conftest import BEGIN, KNOWN, Watch, carry_out
from tests.wings.guard.test_receipts import receipts_of, records_of
from tools.conformance import Laid

TIMED = """
spec: policy/v1
name: timed
rules:
  pace:
    when: {tool: send_money}
    memory: {payments: {count: {}, within: 3600}}
    require: payments <= 2
    else: "{payments} payments within an hour"
  fresh:
    when: {tool: send_money, if: amount > 100.0}
    read: {amount: {path: args.amount, as: number}, paid: {path: time, as: number}}
    after: {tool: ask_approval, read: {asked: {path: time, as: number}}, if: paid - asked <= 600.0}
  by-day:
    when: {tool: read_mail}
    read: {at: {path: time, as: number}}
    require: at < 1778774400.0
    else: read after 16:00
"""
SMALL, LARGE = {"amount": 50, "to": KNOWN}, {"amount": 500, "to": KNOWN}


@pytest.fixture
def clock():
    return Watch()


@pytest.fixture
def timed(office, guard_of, clock):
    """Makes guards of the office whose rules read times."""
    (office / "specs/policy/timed.yaml").write_text(TIMED, encoding="utf-8")
    return lambda *sets: guard_of("policies=[timed]", *sets, clock=clock)


def pay(guard, call, arguments):
    """What is decided of a payment, and by what."""
    answer = carry_out(guard, call, "send_money", arguments)
    return answer["decision"], answer["denied_by"] + answer["unjudged"]


def test_a_pace_is_judged_live(timed, clock):
    guard = timed()
    guard("begin")
    decisions = []
    for number, wait in enumerate([0, 600, 600, 2900, 10]):
        clock.seconds += wait
        decisions.append(pay(guard, str(number), SMALL)[0])
    assert decisions == ["allow", "allow", "deny", "allow", "deny"]
    _, by = pay(guard, "5", SMALL)
    assert by == [{"of": "rule", "name": "timed.pace", "reason": "3 payments within an hour"}]


def test_an_approval_is_fresh_or_not(timed, clock):
    guard = timed()
    guard("begin")
    guard("ask", call="a", tool="ask_approval", arguments={"amount": 500})
    guard("report", call="a", content={"ok": True})
    clock.seconds += 599
    assert pay(guard, "1", LARGE)[0] == "allow"
    clock.seconds += 2
    decision, by = pay(guard, "2", LARGE)
    assert (decision, [each["name"] for each in by]) == ("deny", ["timed.fresh"])


@pytest.fixture
def sealed(timed, clock):
    """A conversation with calls at several times, as what ended it was answered, and what was told of each call."""
    guard, told = timed(), {}
    guard("begin")
    guard("say", speaker="user", text="Pay.")
    for number, wait in enumerate([0, 600, 1, 3600]):
        clock.seconds += wait
        told[str(number)] = carry_out(guard, str(number), "send_money", SMALL)["receipt"]
    clock.seconds += 8 * 3600
    told["m"] = carry_out(guard, "m", "read_mail", {"id": 1})["receipt"]
    clock.seconds += 10**6  # when it ends, and is verified, counts for nothing
    return guard("end"), told


def test_its_evidence_is_judged_by_the_recorded_times(sealed):
    ended, told = sealed
    folder = Path(ended["evidence"])
    assert ended["guard"] == {"made": 3, "denied": 2, "bypassed": 0}, ended
    assert receipts_of(ended) == told
    assert verify(folder).intact
    assert (by_engine(Laid(folder, {})).exit, by_tool(Laid(folder, {})).exit) == (0, 0)
    entries = [json.loads(line) for line in (folder / "trajectories.jsonl").read_bytes().splitlines()]
    calls: list[Any] = [entry["call"]["time"] // 1_000_000 - BEGIN for entry in entries if "call" in entry]
    assert calls == [0, 600, 601, 4201, 33001]
    said = [entry["message"]["time"] for entry in entries if "message" in entry]
    assert said == [BEGIN * 1_000_000]


def test_a_time_that_was_changed_is_found(sealed):
    ended, _ = sealed
    path = Path(ended["evidence"]) / "trajectories.jsonl"
    path.write_bytes(path.read_bytes().replace(str(BEGIN + 601).encode(), str(BEGIN + 7777).encode()))
    assert not verify(Path(ended["evidence"])).intact


def test_a_guard_that_goes_on_decides_by_the_times_of_its_log(timed, clock):
    guard = timed()
    guard("begin")
    first = carry_out(guard, "1", "send_money", SMALL)
    guard.close()
    clock.seconds += 1800
    again = timed()
    assert again("begin")["resumed"] is True
    assert carry_out(again, "2", "send_money", SMALL)["decision"] == "allow"
    assert pay(again, "3", SMALL)[0] == "deny"
    clock.seconds += 1801
    assert pay(again, "4", SMALL)[0] == "allow"
    ended = again("end")
    assert receipts_of(ended)["1"] == first["receipt"]
    assert ended.get("code") != E_GUARD_DIFFERS


def test_a_call_that_is_asked_about_again_later_has_the_same_answer(timed, clock):
    guard = timed()
    guard("begin")
    first = guard("ask", call="1", tool="send_money", arguments=SMALL)
    clock.seconds += 60
    assert guard("ask", call="1", tool="send_money", arguments=SMALL) == first
    other = guard("ask", call="1", tool="send_money", arguments=LARGE)
    assert other["code"] == "E_GUARD_CALL"


def test_a_clock_that_goes_back_moves_no_entry_before_another(timed, clock):
    guard = timed()
    guard("begin")
    carry_out(guard, "1", "send_money", SMALL)
    clock.seconds -= 5000
    guard.close()
    again = timed()
    again("begin")
    carry_out(again, "2", "send_money", SMALL)
    assert pay(again, "3", SMALL)[0] == "deny"
    log = again.folder / "logs/a.jsonl"
    times = [
        record["body"]["call"]["time"]
        for record in records_of(log)
        if "call" in record["body"] and record["type"] == "entry"
    ]
    assert times == [BEGIN * 1_000_000] * 3


def test_a_message_of_a_client_has_no_time_of_its_own(timed):
    guard = timed()
    guard("begin")
    refused = guard("ask", call="1", tool="send_money", arguments=SMALL, time=5)
    assert refused["type"] == "error"
