"""Decisions about live calls: who denies what, what is remembered, and what cannot be answered."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.pipeline.verifying import verify
from specledger.wings.guard.server import answer_line
from tests.toys.bundles import bodies_of
from tests.wings.guard.conftest import KNOWN, OTHER, Watch, carry_out

ROOT = Path(__file__).parents[3]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schemas/protocol/guard.schema.json").read_text(encoding="utf-8"))
)
PAY = {"amount": 50, "to": KNOWN}

DENIED = {
    "a rule": ("send_money", {"amount": 50, "to": OTHER}, "rule", "payments.payee"),
    "a gate": ("send_money", {"amount": 900, "to": KNOWN}, "gate", "approved"),
    "an invariant": ("send_money", {"amount": 2100, "to": KNOWN}, "invariant", "paid-cap"),
}
UNJUDGED = {
    "no such tool": ("delete", {}, "unknown_tool"),
    "an argument of another type": (
        "send_money",
        {"amount": "much", "to": KNOWN},
        "args.amount is of another type than its action declares",
    ),
    "no argument": ("send_money", {"to": KNOWN}, "args.amount is not recorded"),
}


@pytest.mark.parametrize(("tool", "arguments", "of", "name"), DENIED.values(), ids=DENIED)
def test_a_call_is_denied_by_name_and_reason(guard_of, tool, arguments, of, name):
    guard = guard_of()
    guard("begin")
    decision = guard("ask", call="1", tool=tool, arguments=arguments)
    assert decision["decision"] == "deny"
    assert (of, name) in {(each["of"], each["name"]) for each in decision["denied_by"]}
    assert name in decision["reason"]
    ended = guard("end")
    assert (ended["verdict"], ended["guard"]) == ("PASS", {"made": 0, "denied": 1, "bypassed": 0})
    assert bodies_of(Path(ended["evidence"]), "guard")[0]["denied_by"] == decision["denied_by"]


@pytest.mark.parametrize("to", [KNOWN, OTHER], ids=["allowed", "denied"])
def test_the_counts_of_a_single_call_are_numbers(guard_of, to):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "send_money", {"amount": 50, "to": to})
    evidence = Path(guard("end")["evidence"])
    counts = json.loads((evidence / "manifest.json").read_bytes())["result"]["guard"]
    assert [type(count) for count in counts.values()] == [int] * 3
    done = subprocess.run(
        [sys.executable, ROOT / "tools/verify.py", evidence], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_receipts_of_a_conversation_are_the_pinned_ones(guard_of):
    """`fixtures/guard/office.jsonl`: a call that was made and one that was denied."""
    guard = guard_of(clock=Watch())
    guard("begin")
    carry_out(guard, "1", "send_money", PAY)
    carry_out(guard, "2", "send_money", {"amount": 50, "to": OTHER})
    receipts = Path(guard("end")["evidence"]) / "receipts.jsonl"
    assert receipts.read_bytes() == (ROOT / "fixtures/guard/office.jsonl").read_bytes()


@pytest.mark.parametrize("fail", ["closed", "open"])
@pytest.mark.parametrize(("tool", "arguments", "reason"), UNJUDGED.values(), ids=UNJUDGED)
def test_what_cannot_be_judged_is_as_the_scenario_says(guard_of, fail, tool, arguments, reason):
    guard = guard_of(f"guard.fail={fail}")
    assert guard("begin")["fail"] == fail
    decision = carry_out(guard, "1", tool, arguments)
    assert decision["unjudged"][0] == {"of": "world", "name": tool, "reason": reason}
    assert decision["decision"] == {"closed": "deny", "open": "allow"}[fail]
    assert carry_out(guard, "2", "send_money", PAY)["decision"] == "allow", "the world goes on"
    assert guard("end")["verdict"] == {"closed": "PASS", "open": "INCONCLUSIVE"}[fail]


def test_a_denied_call_counts_for_nothing(guard_of):
    guard = guard_of()
    guard("begin")
    for number in range(9):
        assert carry_out(guard, f"denied {number}", "send_money", {"amount": 5, "to": OTHER})["decision"] == "deny"
    made = [carry_out(guard, f"made {number}", "read_mail", {"id": number})["decision"] for number in range(7)]
    assert made == ["allow"] * 6 + ["deny"], "six calls are allowed"


def test_a_result_counts_from_the_next_call_on(guard_of):
    guard = guard_of()
    guard("begin")
    large = {"amount": 900, "to": KNOWN}
    assert carry_out(guard, "1", "send_money", large)["decision"] == "deny"
    assert carry_out(guard, "2", "ask_approval", {"amount": 900}, {"ok": False})["decision"] == "allow"
    assert carry_out(guard, "3", "send_money", large)["decision"] == "deny"
    assert carry_out(guard, "4", "ask_approval", {"amount": 900}, '{"ok": true}')["decision"] == "allow"
    assert carry_out(guard, "5", "send_money", large)["decision"] == "allow"


SPELLINGS = {"today.txt": "allow", " today.txt": "deny", "file://today.txt": "deny", "x/../today.txt": "deny"}


@pytest.mark.parametrize(("path", "decision"), SPELLINGS.items(), ids=SPELLINGS)
def test_the_exact_text_of_a_path_may_be_demanded(guard_of, office, path, decision):
    """As docs/guard.md says: two spellings of a path are one by `as: path`, and two by `as: text`."""
    policy = office / "specs/policy/payments.yaml"
    rule = "{when: {tool: write}, read: {name: {path: args.path, as: text}}, require: \"name in ['today.txt']\"}"
    policy.write_text(f"{policy.read_text()}  exact: {rule}\n")
    agent = office / "specs/agent/office-agent.yaml"
    agent.write_text("{spec: agent/v1, name: office-agent, trajectories: {otherwise: call}}")
    guard = guard_of("world=any-call", "governor=any-action", "invariants=[]")
    guard("begin")
    assert guard("ask", call="1", tool="write", arguments={"path": path})["decision"] == decision


def test_what_the_user_wrote_is_read(guard_of):
    guard = guard_of()
    guard("begin")
    assert carry_out(guard, "1", "send_money", {"amount": 5, "to": OTHER})["decision"] == "deny"
    guard("say", speaker="user", text=f"Pay 5 to {OTHER}.")
    assert carry_out(guard, "2", "send_money", {"amount": 5, "to": OTHER})["decision"] == "allow"


def test_the_evidence_of_a_conversation_is_verified(guard_of):
    guard = guard_of()
    guard("begin")
    guard("say", speaker="user", text="Read the mail.")
    carry_out(guard, "1", "read_mail", {"id": 7})
    carry_out(guard, "2", "send_money", {"amount": 5, "to": OTHER})
    ended = guard("end")
    assert verify(Path(ended["evidence"])).verdict == "PASS"
    assert [body["made"] for body in bodies_of(Path(ended["evidence"]), "guard")] == [True, False]
    assert not list((guard.folder / "logs").iterdir())


def test_a_call_without_a_result_keeps_the_evidence_from_a_pass(guard_of):
    guard = guard_of()
    guard("begin")
    guard("ask", call="1", tool="read_mail", arguments={"id": 1})
    assert guard("end")["verdict"] == "INCONCLUSIVE"


def test_a_finding_keeps_the_evidence_from_a_pass(guard_of):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})
    assert guard("note", code="E_GUARD_TOOLS", message="a tool changed")["type"] == "noted"
    assert guard("end")["verdict"] == "INCONCLUSIVE"


def test_a_result_that_does_not_come_is_not_known(guard_of):
    guard = guard_of()
    guard("begin")
    assert guard("ask", call="1", tool="ask_approval", arguments={"amount": 5})["decision"] == "allow"
    assert guard("ask", call="2", tool="read_mail", arguments={"id": 1}, wait_ms=10)["decision"] == "allow"
    guard("report", call="2", content="text")
    large = guard("ask", call="3", tool="send_money", arguments={"amount": 900, "to": KNOWN})
    assert large["decision"] == "deny"
    assert ("approved", "gate", "the result is not recorded") in {tuple(each.values()) for each in large["unjudged"]}
    assert guard("report", call="1", content={"ok": True})["code"] == "E_GUARD_CALL"


@pytest.mark.parametrize("arguments", [{"id": True}, {"id": 1, "more": 1}], ids=str)
def test_an_answer_is_for_one_call_alone(guard_of, arguments):
    guard = guard_of()
    guard("begin")
    guard("ask", call="1", tool="read_mail", arguments={"id": 1})
    assert guard("ask", call="1", tool="read_mail", arguments=arguments)["code"] == "E_GUARD_CALL"
    guard("report", call="1", content="text")
    again = guard("ask", call="1", tool="read_mail", arguments={"id": 1})
    assert (again["code"], again["message"]) == ("E_GUARD_CALL", "the call '1' was made, and has its result")


def test_evidence_is_sealed_once(guard_of):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})

    async def both():
        line = canonical_bytes({"type": "end", "id": 1, "conversation": "a"}) + b"\n"
        return await asyncio.gather(*(answer_line(guard.service, line) for _ in range(2)))

    first, second = map(json.loads, guard.runner.run(both()))
    assert (first["type"], first["guard"]["made"], second["code"]) == ("ended", 1, "E_GUARD_CONVERSATION")
    assert verify(Path(first["evidence"])).verdict == "PASS"


def test_a_log_that_is_replaced_meanwhile_is_not_sealed(guard_of):
    guard = guard_of()
    guard("begin")
    log = guard.folder / "logs/a.jsonl"
    begun = log.read_bytes()
    carry_out(guard, "1", "read_mail", {"id": 1})
    log.rename(log.with_suffix(".old"))
    log.write_bytes(begun)
    assert guard("end")["code"] == "E_GUARD_UNWRITABLE"
    assert not (guard.folder / "sealed/a").exists()


def moved(log):
    log.parent.rename(log.parent.with_name("moved"))
    log.parent.mkdir()


def replaced(log):
    copy = log.with_suffix(".copy")
    copy.write_bytes(log.read_bytes())
    copy.replace(log)


@pytest.mark.parametrize("remove", [Path.unlink, moved, replaced])
def test_nothing_is_allowed_whose_receipt_nobody_would_find(guard_of, remove):
    guard = guard_of("guard.fail=open")
    guard("begin")
    assert carry_out(guard, "1", "read_mail", {"id": 1})["decision"] == "allow"
    remove(guard.folder / "logs/a.jsonl")
    for call in "23":
        assert guard("ask", call=call, tool="read_mail", arguments={"id": 2})["code"] == "E_GUARD_UNWRITABLE"


def test_a_call_that_is_asked_again_has_the_same_answer(guard_of):
    guard = guard_of()
    guard("begin")
    first = guard("ask", call="1", tool="read_mail", arguments={"id": 1})
    assert guard("ask", call="1", tool="read_mail", arguments={"id": 1}) == first


REFUSED = {
    "no conversation": ("E_GUARD_CONVERSATION", "ask", {"conversation": "b", "call": "1", "tool": "read_mail"}),
    "a conversation that was sealed": ("E_GUARD_SEALED", "begin", {"conversation": "z"}),
    "a result of no call": ("E_GUARD_CALL", "report", {"call": "9", "content": "x"}),
    "another call of the same id": ("E_GUARD_CALL", "ask", {"call": "1", "tool": "send_money", "arguments": PAY}),
}


@pytest.mark.parametrize(("code", "type_", "fields"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_answered_is_refused(guard_of, code, type_, fields):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})
    guard("begin", "z")
    guard("end", "z")
    assert guard(type_, **fields)["code"] == code
    assert carry_out(guard, "2", "read_mail", {"id": 2})["decision"] == "allow", "the conversation goes on"


MALFORMED = {
    "no JSON": b"ask\n",
    "no tool": b'{"type": "ask", "id": 1, "conversation": "a", "call": "1"}\n',
    "an unknown field": b'{"type": "end", "id": 1, "conversation": "a", "now": true}\n',
    "a name with a slash": b'{"type": "end", "id": 1, "conversation": "../a"}\n',
    "a name with a newline": b'{"type": "end", "id": 1, "conversation": "a\\n"}\n',
    "another protocol": b'{"type": "begin", "id": 1, "protocol": "specledger/guard/v9"}\n',
    "deeply nested": b'{"type": "end", "id": 1, "conversation": ' + b"[" * 9999 + b"]" * 9999 + b"}\n",
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_message_is_refused(guard_of, line):
    answer = guard_of().line(line)
    assert answer["code"] == "E_GUARD_MESSAGE"
    assert SCHEMA.is_valid(answer)
    if line.startswith(b'{"type": "e') and len(line) < 999 and b"\\n" not in line:  # Python has another `$`
        assert not SCHEMA.is_valid(json.loads(line))


def test_messages_and_answers_are_of_the_schema(guard_of):
    guard = guard_of()
    answers = [
        guard("begin"),
        guard("say", speaker="user", text="Hello"),
        guard("ask", call="1", tool="read_mail", arguments={"id": 1}, batch=1, actor="x", wait_ms=5),
        guard("report", call="1", content=None, error=False),
        guard("ask", call="2", tool="delete"),
        guard("note", code="E_X", message="m"),
        guard("end"),
        guard("end"),
    ]
    assert [answer["type"] for answer in answers] == [
        *("begun", "noted", "decision", "noted", "decision", "noted", "ended", "error")
    ]
    assert [list(SCHEMA.iter_errors(answer)) for answer in answers] == [[]] * 8


def test_a_conversation_goes_on_where_it_was(guard_of):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "ask_approval", {"amount": 900}, {"ok": True})
    asked = guard("ask", call="2", tool="read_mail", arguments={"id": 1})
    guard.service.close()
    later = guard_of()
    assert later("begin")["resumed"] is True
    assert later("ask", call="2", tool="read_mail", arguments={"id": 1})["decision"] == asked["decision"]
    later("report", call="2", content="text")
    assert carry_out(later, "3", "send_money", {"amount": 900, "to": KNOWN})["decision"] == "allow"
    assert later("end")["verdict"] == "PASS"


@pytest.mark.parametrize("torn", [b"", b'{"body":', b"half a line"])
def test_what_was_never_answered_is_cut_off(guard_of, torn):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})
    guard("ask", call="2", tool="read_mail", arguments={"id": 2})
    guard.service.close()
    log = guard.folder / "logs/a.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    assert b'"decision"' in lines[-1]
    log.write_bytes(b"".join(lines[:-1]) + torn)  # the call is there, and its decision is not
    later = guard_of()
    assert later("begin")["resumed"] is True
    assert log.read_bytes() == b"".join(lines[:-2])
    assert carry_out(later, "2", "read_mail", {"id": 3})["decision"] == "allow", "it was never answered"


def test_a_log_is_continued_by_the_same_scenario_alone(guard_of):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "send_money", {"amount": 5, "to": OTHER})
    guard.service.close()
    assert guard_of("policies=[]")("begin")["code"] == "E_GUARD_DIFFERS"
    other, changed = guard_of(), guard_of("invariants=[]", "policies=[]").service.plan
    other.service.plan = replace(changed, specs=other.service.plan.specs)
    assert other("begin")["code"] == "E_GUARD_DIFFERS"
    assert guard_of()("begin")["resumed"] is True


def test_a_log_that_was_changed_is_refused(guard_of):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})
    guard.service.close()
    log = guard.folder / "logs/a.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"made":true', b'"made":null'))
    assert guard_of()("begin")["code"] == "E_GUARD_LOG"


def test_what_cannot_be_logged_is_not_allowed(guard_of, monkeypatch):
    guard = guard_of("guard.fail=open")
    guard("begin")
    carry_out(guard, "1", "read_mail", {"id": 1})

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        assert guard("ask", call="2", tool="read_mail", arguments={"id": 2})["code"] == "E_GUARD_UNWRITABLE"
    assert guard("ask", call="3", tool="read_mail", arguments={"id": 2})["code"] == "E_GUARD_UNWRITABLE"
    guard.service.close()
    later = guard_of("guard.fail=open")
    later("begin")
    assert carry_out(later, "3", "read_mail", {"id": 2}, wait_ms=0)["decision"] == "allow"


@pytest.mark.parametrize("fail", ["closed", "open"])
def test_a_slow_decision_is_given_up(guard_of, monkeypatch, fail):
    from threading import Event

    from specledger.wings.trajectories.recording.live import LiveEpisode

    guard, release, decide = guard_of(f"guard.fail={fail}", "guard.deadline_ms=50"), Event(), LiveEpisode.decide

    def slow(self, call):
        assert release.wait(30)
        return decide(self, call)

    guard("begin")
    with monkeypatch.context() as patch:
        patch.setattr(LiveEpisode, "decide", slow)
        decision = guard("ask", call="1", tool="read_mail", arguments={"id": 1})
        assert decision["cause"] == "deadline"
        assert decision["decision"] == {"closed": "deny", "open": "allow"}[fail]
        busy = guard("ask", call="2", tool="read_mail", arguments={"id": 2}, wait_ms=0)
        assert busy["code"] == "E_GUARD_CONVERSATION", "its thread still decides"
        release.set()
        if fail == "open":
            guard("report", call="1", content="text")
    assert guard("ask", call="3", tool="read_mail", arguments={"id": 3})["decision"] == "allow"
    guard("report", call="3", content="text")
    ended = guard("end")
    assert ended["guard"] == {"made": 1 + (fail == "open"), "denied": fail == "closed", "bypassed": 0}
    assert verify(Path(ended["evidence"])).verdict == "PASS"
