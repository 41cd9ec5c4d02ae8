"""The ten rules that people ask for first, over one trajectory that breaks and keeps them."""

from itertools import pairwise
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy

TEN = Path(__file__).with_name("ten.yaml")
USER, AGENT = Speaker.USER, Speaker.ASSISTANT


def judge(*entries):
    bundle, *_ = load(str(TEN), KINDS)
    session = compile_policy(bundle.main, Diagnostics()).begin()
    heard = [outcome for entry in entries for outcome in session.hear(entry)]
    return {(outcome.call, outcome.rule): outcome.status.value for outcome in heard if outcome.rule != "forty"}


def pay(id_, to, amount=20, batch=0):
    return Call(id_, "send_money", {"recipient": to, "amount": amount}, batch)


TRANSACTIONS = "- recipient: CH9300762011623852957\n  amount: 3.5\n  subject: to US133000000121212121212\n"
SECRET = [Call("s", "read_file", {"path": "/secrets/a/../key"}), Result("s", "the key is sk-abcdef-123456")]
RAN = [Call("t", "bash", {"command": "pytest -q"}), Result("t", "3 passed")]
PASS = Message(AGENT, "All tests pass.")

CASES = {
    "the user named a payee, in another grouping": ([Message(USER, "to GB29 NWBK 6016 1331 9268 20"), pay("1", "GB29NWBK60161331926820")], "1", "payee", "held"),
    "a known payee": ([pay("1", "city  WATER")], "1", "payee", "held"),
    "a payee at a field of a result": ([Call("0", "get_most_recent_transactions", {}), Result("0", TRANSACTIONS), pay("1", "CH9300762011623852957")], "1", "payee", "held"),
    "a payee only in the text of a result": ([Call("0", "get_most_recent_transactions", {}), Result("0", TRANSACTIONS), pay("1", "US133000000121212121212")], "1", "payee", "broken"),
    "a user who writes later": ([pay("1", "Ann Lee"), Message(USER, "Ann Lee")], "1", "payee", "broken"),
    "a result of the same message": ([Call("0", "get_most_recent_transactions", {}, 1), Result("0", TRANSACTIONS), pay("1", "CH9300762011623852957", batch=1)], "1", "payee", "broken"),
    "a result that is not recorded": ([Call("0", "get_most_recent_transactions", {}), pay("1", "CH9300762011623852957")], "1", "payee", "unjudged"),
    "a payment of no recipient": ([Call("1", "send_money", {"recipient": None, "amount": 1})], "1", "payee", None),
    "arguments that are not recorded": ([Call("1", "send_money")], "1", "payee", "unjudged"),
    "approved": ([Call("0", "ask_approval", {"amount": 300}), Result("0", {"ok": True}), pay("1", "x", 300)], "1", "approved", "held"),
    "approved for less": ([Call("0", "ask_approval", {"amount": 200}), Result("0", {"ok": True}), pay("1", "x", 300)], "1", "approved", "broken"),
    "not approved": ([Call("0", "ask_approval", {"amount": 300}), Result("0", {"ok": False}), pay("1", "x", 300)], "1", "approved", "broken"),
    "approved in the same message": ([Call("0", "ask_approval", {"amount": 300}, 1), Result("0", {"ok": True}), pay("1", "x", 300, batch=1)], "1", "approved", "broken"),
    "a small payment": ([pay("1", "x", 100)], "1", "approved", None),
    "an amount that is no number": ([pay("1", "x", "much")], "1", "approved", "unjudged"),
    "sums": ([pay("1", "x", 3000), pay("2", "x", {"$number": "2000.01"})], "2", "budget", "broken"),
    "after a secret": ([*SECRET, Call("1", "send_email", {"body": "hi"})], "1", "no-exfiltration", "broken"),
    "before a secret": ([Call("1", "send_email", {"body": "hi"}), *SECRET], "1", "no-exfiltration", "held"),
    "the text of a secret": ([*SECRET, Call("1", "send_email", {"cc": ["so SK-ABCDEF-123456 it is"]})], "1", "no-secret-text", "broken"),
    "no text of a secret": ([*SECRET, Call("1", "send_email", {"cc": ["a key"]})], "1", "no-secret-text", "held"),
    "a short text that is in a secret": ([*SECRET, Call("1", "send_email", {"cc": ["the key"]})], "1", "no-secret-text", "unjudged"),
    "inside the folder": ([Call("1", "write_file", {"path": "/srv/project/a/../b"})], "1", "folder", "held"),
    "out of the folder": ([Call("1", "write_file", {"path": "/srv/project/../b"})], "1", "folder", "broken"),
    "tests ran": ([*RAN, PASS], "", "tests-ran", "held"),
    "tests did not run": ([PASS, *RAN], "", "tests-ran", "broken"),
    "tests ran before a change": ([*RAN, Call("e", "edit_file", {"path": "/srv/project/a"}), PASS], "", "tests-ran", "broken"),
    "a link of the request": ([Message(USER, "see HTTPS://www.x.com/a."), Call("1", "send_email", {"body": "go to http://x.com/a"})], "1", "links", "held"),
    "a link from nowhere": ([Call("1", "send_email", {"body": "go to http://x.com/a"})], "1", "links", "broken"),
    "no link": ([Call("1", "send_email", {"body": "go"})], "1", "links", None),
    "a record that was read": ([Call("0", "get_reservation", {"id": "X"}), Result("0", '{"insurance": "yes"}'), Call("1", "cancel_reservation", {"id": "X"})], "1", "cancel", "held"),
    "another record": ([Call("0", "get_reservation", {"id": "Y"}), Result("0", '{"insurance": "yes"}'), Call("1", "cancel_reservation", {"id": "X"})], "1", "cancel", "unjudged"),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "call", "rule", "status"), CASES.values(), ids=CASES)
def test_a_rule_says_what_happened(entries, call, rule, status):
    assert judge(*entries).get((call, rule)) == status


@pytest.mark.parametrize(("calls", "last"), [(3, "held"), (4, "broken")])
def test_equal_calls_in_a_row(calls, last):
    bundle, *_ = load(str(TEN), KINDS)
    session = compile_policy(bundle.main, Diagnostics()).begin()
    outcomes = [session.hear(Call(str(number), "look", {"at": 1})) for number in range(calls)]
    assert [outcome.status.value for outcome in outcomes[-1]] == [last]


def test_rules_have_at_most_fifteen_lines():
    text = TEN.read_text(encoding="utf-8").partition("rules:\n")[2]
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("  ") and line[2] != " "] + [len(lines)]
    sizes = [end - start for start, end in pairwise(starts)]
    assert len(sizes) == 10
    assert max(sizes) <= 15
