"""What a client was told is in the evidence: after a restart, of calls that were given up, and of logs that were changed."""

import json
from pathlib import Path
from threading import Event

import pytest

from specledger.core import events
from specledger.evidence.chain import Chain
from specledger.pipeline.verifying import verify
from specledger.wings.trajectories.recording.live import LiveEpisode
from tests.toys.bundles import bodies_of
from tests.wings.guard.conftest import KNOWN, OTHER, carry_out

PAY, STEAL = {"amount": 50, "to": KNOWN}, {"amount": 50, "to": OTHER}


def records_of(log):
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def sealed_again(log, records):
    """Write lines to a log whose digests fit them."""
    chain = Chain(records[0]["run"])
    lines = [chain.seal(events.Event(record["type"], record["body"])) for record in records]
    log.write_bytes(b"".join(line + b"\n" for line in lines))


def receipts_of(ended):
    return {body["call"]: body["receipt"] for body in bodies_of(Path(ended["evidence"]), "guard")}


def test_the_evidence_has_what_the_client_was_told(guard_of):
    guard = guard_of()
    guard("begin")
    guard("say", speaker="user", text="Pay.")
    told = {}
    for call, (tool, arguments) in enumerate([("send_money", PAY), ("send_money", STEAL), ("read_mail", {"id": 1})]):
        told[f"{call}"] = carry_out(guard, f"{call}", tool, arguments)["receipt"]
    guard("note", code="E_X", message="m")
    assert receipts_of(guard("end")) == told


@pytest.fixture
def given_up(guard_of, monkeypatch):
    """Asks a guard about a call that it does not decide in time; the guard and its answer."""

    def ask(fail):
        guard, release, decide = guard_of(f"guard.fail={fail}", "guard.deadline_ms=50"), Event(), LiveEpisode.decide

        def slow(self, call):
            assert release.wait(30)
            return decide(self, call)

        guard("begin")
        with monkeypatch.context() as patch:
            patch.setattr(LiveEpisode, "decide", slow)
            answer = guard("ask", call="1", tool="send_money", arguments=STEAL)
            release.set()
        if fail == "open":
            guard("report", call="1", content="text")
        return guard, answer

    return ask


@pytest.mark.parametrize("fail", ["closed", "open"])
def test_answers_after_a_restart_are_those_before_it(given_up, guard_of, fail):
    guard, late = given_up(fail)
    told = [late, carry_out(guard, "2", "send_money", STEAL)]
    told.append(guard("ask", call="3", tool="read_mail", arguments={"id": 1}))
    guard.service.close()
    later = guard_of(f"guard.fail={fail}", "guard.deadline_ms=50")
    assert later("begin")["resumed"] is True
    again = [
        later("ask", call=answer["call"], tool=answer["tool"], arguments=arguments)
        for answer, arguments in zip(told, (STEAL, STEAL, {"id": 1}), strict=True)
    ]
    assert again[1:] == told[1:]
    assert again[0] == told[0] if fail == "closed" else again[0]["code"] == "E_GUARD_CALL"
    later("report", call="3", content="text")
    ended = later("end")
    assert receipts_of(ended) == {answer["call"]: answer["receipt"] for answer in told}
    first = bodies_of(Path(ended["evidence"]), "guard")[0]
    assert (first["cause"], first["decision"], first["made"]) == ("deadline", "deny", fail == "open")
    assert ended["verdict"] == {"closed": "PASS", "open": "FAIL"}[fail]
    assert verify(Path(ended["evidence"])).intact


def test_a_call_that_was_made_is_not_hidden_as_one_that_was_given_up(guard_of):
    """Who changes a log and its digests still does not have those that the client was told."""
    guard = guard_of()
    guard("begin")
    told = carry_out(guard, "1", "send_money", PAY)["receipt"]
    guard.service.close()
    log = guard.folder / "logs/a.jsonl"
    records = records_of(log)
    call, decision, result = (record["body"] for record in records[1:4])
    reason = {"of": "guard", "name": "guard", "reason": "the decision took too long"}
    call["call"]["late"] = True
    decision.update(decision="deny", made=False, cause="deadline", unjudged=[reason])
    result["result"] = {"call": "1", "content": "guard: the decision took too long", "error": True, "denied": True}
    sealed_again(log, records)
    later = guard_of()
    assert later("begin")["resumed"] is True
    ended = later("end")
    assert ended["guard"] == {"made": 0, "denied": 1, "bypassed": 0}
    assert bodies_of(Path(ended["evidence"]), "guard")[0]["cause"] == "deadline"
    assert told not in (Path(ended["evidence"]) / "receipts.jsonl").read_text()


CHANGES = {
    "a decision": lambda records: records[2]["body"].update(decision="allow", made=True, denied_by=[]),
    "its cause": lambda records: records[2]["body"].update(cause="deadline"),
    "what was told": lambda records: records[3]["body"]["result"].update(content="made"),
    "another result": lambda records: records[3]["body"]["result"].pop("denied"),
    "no decision": lambda records: records.pop(2),
    "an end in its place": lambda records: records[2].update(type="end", body={"entries": 1}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_log_that_was_changed_and_sealed_again_is_refused(guard_of, change):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "send_money", STEAL)
    guard.service.close()
    records = records_of(guard.folder / "logs/a.jsonl")
    change(records)
    sealed_again(guard.folder / "logs/a.jsonl", records)
    assert guard_of()("begin")["code"] == "E_GUARD_DIFFERS"


def test_a_denial_whose_last_line_was_torn_is_told_again(guard_of):
    guard = guard_of()
    guard("begin")
    told = carry_out(guard, "1", "send_money", STEAL)
    guard.service.close()
    log = guard.folder / "logs/a.jsonl"
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    later = guard_of()
    later("begin")
    assert log.read_bytes() == whole
    assert later("ask", call="1", tool="send_money", arguments=STEAL) == told
    assert later("end")["guard"] == {"made": 0, "denied": 1, "bypassed": 0}


def test_what_is_decided_otherwise_at_the_end_leaves_no_evidence(guard_of, monkeypatch):
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "send_money", PAY)
    with monkeypatch.context() as patch:
        patch.setattr("specledger.wings.guard.sealing.DECISION", "none")
        ended = guard("end")
    assert ended["code"] == "E_GUARD_DIFFERS"
    assert not any((guard.folder / "sealed").iterdir())
    assert {path.name for path in guard.folder.iterdir()} == {"logs", "sealed"}
    assert guard("end")["verdict"] == "PASS", "the log is still there"
