"""What nobody can tell of an earlier call is no reason to hold a later one: not in counts, and not where calls are compared."""

import pytest

from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import DIGEST, outcomes

HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
WHEN = "when: {tool: pay, if: urgent || amount > 100.0}, read: {amount: {path: args.amount, as: number}, urgent: {path: args.urgent, as: bool}}"  # fmt: skip
SURE, DOUBTED = {"amount": 5, "urgent": True}, {"amount": DIGEST, "urgent": False}
NOT_ONE = {"amount": 5, "urgent": False}
COUNTED = {
    "a count": ("{count: {}}", "n <= 2"),
    "a count within a time": ("{count: {}, within: 3600}", "n <= 2"),
    "a sum": ("{sum: amount}", "n <= 10.0"),
    "equal calls": ("{repeats: {}}", "n <= 2"),
}


def pay(number, arguments):
    return Call(str(number), "pay", arguments, time=number * 1_000_000)


@pytest.mark.parametrize("memory", COUNTED)
def test_what_may_have_counted_makes_a_count_unknown(tmp_path, memory):
    term, require = COUNTED[memory]
    rule = f"{{{WHEN}, memory: {{n: {term}}}, require: {require}}}"
    calls = [SURE, NOT_ONE, SURE, DOUBTED, SURE]
    statuses = [o.status for o in outcomes(tmp_path, rule, [pay(n, each) for n, each in enumerate(calls, 1)])]
    assert statuses == [HELD, HELD, UNJUDGED, UNJUDGED]


def test_equal_calls_are_counted_again_after_another_one(tmp_path):
    rule = f"{{{WHEN}, memory: {{n: {{repeats: {{}}}}}}, require: n <= 1}}"
    calls = [SURE, DOUBTED, SURE, {**SURE, "amount": 6}, {**SURE, "amount": 6}]
    statuses = [o.status for o in outcomes(tmp_path, rule, [pay(n, each) for n, each in enumerate(calls, 1)])]
    assert statuses == [HELD, UNJUDGED, UNJUDGED, HELD, BROKEN]


ASKED = {
    "it is the same": ({"payee": "Ann"}, HELD, BROKEN, HELD),
    "it is another": ({"payee": "Bob"}, BROKEN, HELD, UNJUDGED),
    "it is absent": ({}, BROKEN, HELD, UNJUDGED),
    "it is withheld": ({"payee": DIGEST}, UNJUDGED, UNJUDGED, UNJUDGED),
}


@pytest.mark.parametrize("case", ASKED)
def test_an_earlier_call_that_may_be_the_same_is_neither_there_nor_absent(tmp_path, case):
    arguments, after, not_after, read = ASKED[case]
    heard = [Call("1", "ask", arguments), Result("1", {"ok": True}), Call("2", "pay", {"to": "Ann"})]
    rules = {
        "after: {tool: ask, same: {args.payee: args.to}}": after,
        "not_after: {tool: ask, same: {args.payee: args.to}}": not_after,
        "read: {ok: {path: result.ok, as: bool, of: ask, same: {args.payee: args.to}}}, require: ok": read,
    }
    for demand, expected in rules.items():
        (outcome,) = outcomes(tmp_path, f"{{when: {{tool: pay}}, {demand}}}", heard)
        assert outcome.status is expected, demand


def test_an_earlier_call_whose_arguments_are_not_recorded_may_be_the_same(tmp_path):
    rule = "{when: {tool: pay}, after: {tool: ask, same: {args.payee: args.to}}}"
    (outcome,) = outcomes(tmp_path, rule, [Call("1", "ask"), Call("2", "pay", {"to": "Ann"})])
    assert (outcome.status, outcome.reason) == (UNJUDGED, "args is not recorded")
