"""The shown rules about approvals and mail: what a payment needs, and what uses an approval up."""

import re
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import outcomes

ROOT = Path(__file__).resolve().parents[4]
TUTORIAL = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs/agent-logs.md").read_text(encoding="utf-8"), re.M | re.S)
PAGE = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs/policies.md").read_text(encoding="utf-8"), re.M | re.S)
RULES = {
    "the tutorial": (TUTORIAL[0].replace("send_moeny", "send_money"), "approved", "to", "approved"),
    "the page": (PAGE[0], "approval", "recipient", "ok"),
    "the start": (
        (ROOT / "specs/new/policy/new-policy.yaml").read_text(encoding="utf-8"),
        "approved",
        "recipient",
        "ok",
    ),
}
US, THEM = "GB29NWBK60161331926819", "DE89370400440532013000"
ASK = ("ask", 900, US)
HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
CASES = {
    "nothing": ([], BROKEN),
    "this payment": ([ASK], HELD),
    "a smaller one": ([("ask", 250, US)], BROKEN),
    "another payee": ([("ask", 900, THEM)], BROKEN),
    "two halves": ([("ask", 900, THEM), ("ask", 250, US)], BROKEN),
    "not granted": ([("deny", 900, US)], BROKEN),
    "used up": ([ASK, ("pay", 900, US)], BROKEN),
    "used up by a small payment": ([ASK, ("pay", 5, US)], BROKEN),
    "used up by a payment to another": ([ASK, ("pay", 5, THEM)], BROKEN),
    "used up by a payment that failed": ([ASK, ("fail", 900, US)], BROKEN),
    "asked again": ([ASK, ("pay", 900, US), ASK], HELD),
    "a smaller one after it": ([ASK, ("ask", 250, US)], HELD),
}


@pytest.mark.parametrize("shown", RULES)
@pytest.mark.parametrize("case", CASES)
def test_an_approval_is_for_an_amount_and_a_payee_and_serves_one_payment(tmp_path, shown, case):
    text, name, payee, granted = RULES[shown]
    (tmp_path / "shown.yaml").write_text(text, encoding="utf-8")
    session = compile_policy(load(tmp_path / "shown.yaml")[0].main, Diagnostics()).begin()
    before, status = CASES[case]
    last = []
    for number, (what, amount, to) in enumerate([*before, ("pay", 900, US)]):
        tool = "send_money" if what in ("pay", "fail") else "ask_approval"
        last = session.hear(Call(f"{number}", tool, {payee: to, "amount": amount}))
        session.hear(Result(f"{number}", {granted: what == "ask"}, error=what == "fail"))
    assert next(outcome.status for outcome in last if outcome.rule == name) is status


def test_one_approval_does_not_serve_two_parallel_payments(tmp_path):
    rule = "{when: {tool: pay}, after: {tool: ask, since: [pay]}}"
    calls = [Call("0", "ask", {}), Call("1", "pay", {}, 1), Call("2", "pay", {}, 1)]
    assert [outcome.status for outcome in outcomes(tmp_path, rule, calls)] == [HELD, BROKEN]


@pytest.mark.parametrize(
    ("arguments", "read", "statuses"),
    [
        ({"cc": "x@a.example"}, True, [BROKEN]),
        ({"cc": ["x@a.example"]}, True, [BROKEN]),
        ({"cc": "x@a.example"}, False, [HELD]),
        ({"cc": []}, True, []),
        ({}, True, []),
    ],
)
def test_an_argument_that_nobody_may_use_after_a_call(tmp_path, arguments, read, statuses):
    rule = "{when: {tool: mail}, each: args.cc, not_after: {tool: read}}"
    calls = [Call("0", "read", {})] * read + [Call("1", "mail", arguments)]
    assert [outcome.status for outcome in outcomes(tmp_path, rule, calls)] == statuses


@pytest.mark.parametrize("demand", ["after", "not_after"])
@pytest.mark.parametrize(
    ("asked", "paid", "after", "not_after"),
    [
        ({"order": 1}, {"order": 1}, HELD, BROKEN),
        ({"order": 1}, {"order": 2}, BROKEN, HELD),
        ({}, {"order": 1}, BROKEN, HELD),
        ({"order": 1}, {}, UNJUDGED, UNJUDGED),
        ({}, {}, UNJUDGED, UNJUDGED),
        (None, {}, BROKEN, HELD),
    ],
    ids=["the same", "another", "theirs is absent", "ours is absent", "both are absent", "no call, and ours is absent"],
)
def test_an_argument_that_is_absent_is_the_same_as_no_other(tmp_path, demand, asked, paid, after, not_after):
    rule = f"{{when: {{tool: pay}}, {demand}: {{tool: ask, same: args.order}}}}"
    calls = [*([] if asked is None else [Call("0", "ask", asked)]), Call("1", "pay", paid)]
    (outcome,) = outcomes(tmp_path, rule, calls)
    assert outcome.status is (after if demand == "after" else not_after)
    assert (outcome.reason == "args.order is absent") is (outcome.status is UNJUDGED)
