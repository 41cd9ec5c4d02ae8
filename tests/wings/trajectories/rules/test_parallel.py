"""Calls of one message hear nothing of each other: their order in the log decides no verdict."""

from itertools import permutations, product
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import outcomes

HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
ASKED = Message(Speaker.USER, "Do it.")
APPROVED = "{when: {tool: pay}, after: {tool: ask, read: {ok: {path: result.ok, as: bool}}, if: ok}}"
SECRET = "{when: {tool: mail}, not_after: {tool: read}}"
FOUND = "{when: {tool: pay}, each: args.to, as: name, from: [{result_of: look, field: name}]}"
NAMED = "{when: {tool: pay}, each: args.to, as: name, from: [{text_of: look}]}"
STEMS = "{when: {tool: pay}, each: args.to, as: name, stems: true, from: [{text_of: look}]}"
LEAK = "{when: {tool: mail}, each: args.body, not_from: [{text_of: read}]}"
RECORD = "{when: {tool: pay}, read: {owner: {path: result.name, as: text, of: look}}, require: 'owner == \"Ann\"'}"
TESTED = "{when: {tool: deploy}, after: {tool: test, since: edit}}"
SERVED = (
    "{when: {tool: pay, if: amount > 9}, read: {amount: {path: args.amount, as: int}}, after: {tool: ask, since: pay}}"
)
Made = tuple[str, dict[str, Any], Any]
ASK: Made = ("ask", {}, {"ok": True})
READ: Made = ("read", {}, "We buy the old mill.")
LOOK: Made = ("look", {}, {"name": "Ann"})
EVE: Made = ("look", {}, {"name": "Eve"})
MAIL: Made = ("mail", {"body": "we buy the old mill"}, "sent")
PAY: Made = ("pay", {"to": "Ann", "amount": 10}, "paid")
SMALL: Made = ("pay", {"to": "Ann", "amount": 1}, "paid")
EDIT: Made = ("edit", {}, "")
TEST: Made = ("test", {}, "")
DEPLOY: Made = ("deploy", {}, "")
CASES: dict[str, tuple[str, list[Made], list[Made], list[Status]]] = {
    "an approval in the message": (APPROVED, [], [ASK, PAY], [BROKEN]),
    "an approval before it": (APPROVED, [ASK], [PAY, TEST], [HELD]),
    "an approval before it and one in it": (APPROVED, [ASK], [ASK, PAY], [HELD]),
    "a secret in the message": (SECRET, [], [READ, MAIL], [HELD]),
    "a secret before it": (SECRET, [READ], [READ, MAIL], [BROKEN]),
    "a field in the message": (FOUND, [], [LOOK, PAY], [BROKEN]),
    "a field before it and in it": (FOUND, [LOOK], [LOOK, PAY], [HELD]),
    "a text in the message": (NAMED, [], [LOOK, PAY], [BROKEN]),
    "a text before it and in it": (NAMED, [LOOK], [LOOK, PAY], [HELD]),
    "stems in the message": (STEMS, [], [LOOK, PAY], [BROKEN]),
    "a leak in the message": (LEAK, [], [READ, MAIL], [HELD]),
    "a leak before it and in it": (LEAK, [READ], [READ, MAIL], [BROKEN]),
    "a record in the message": (RECORD, [], [LOOK, PAY], [UNJUDGED]),
    "a record before it": (RECORD, [LOOK], [EVE, PAY], [HELD]),
    "a change in the message": (TESTED, [TEST], [EDIT, DEPLOY], [HELD]),
    "a change before it": (TESTED, [TEST, EDIT], [TEST, DEPLOY], [BROKEN]),
    "two payments by one approval": (SERVED, [ASK], [PAY, PAY], [BROKEN, HELD]),
    "three payments by one approval": (SERVED, [ASK], [PAY, PAY, PAY], [BROKEN, BROKEN, HELD]),
    "a small payment beside one": (SERVED, [ASK], [SMALL, PAY], [HELD]),
    "a small payment before it": (SERVED, [ASK, SMALL], [PAY, ASK], [BROKEN]),
}  # fmt: skip


def spelled(before, message, results_last):
    entries: list[Any] = [ASKED]
    last: list[Any] = []
    for number, (tool, arguments, result) in enumerate([*before, *message]):
        batch = 7 if number >= len(before) else 0
        entries.append(Call(f"{number}", tool, arguments, batch))
        (last if batch and results_last else entries).append(Result(f"{number}", result))
    return [*entries, *last]


USED: dict[str, tuple[str, list[list[Made]], list[Status]]] = {
    "an approval in the message of a payment": (SERVED, [[ASK], [PAY, ASK], [PAY]], [HELD, HELD]),
    "a payment after such an approval": (SERVED, [[ASK, PAY], [PAY], [PAY]], [BROKEN, BROKEN, HELD]),
    "a change in the message of a test": (TESTED, [[TEST, EDIT], [DEPLOY]], [HELD]),
    "a change after it": (TESTED, [[TEST, EDIT], [EDIT], [DEPLOY]], [BROKEN]),
    "approvals that are no later than themselves": ("{when: {tool: pay}, after: {tool: [ask, look], since: ask}}", [[ASK, ASK], [PAY]], [BROKEN]),
    "a secret in the message of a mail": (SECRET[:-2] + ", since: mail}}", [[READ, MAIL], [MAIL], [MAIL]], [BROKEN, HELD, HELD]),
}  # fmt: skip


@pytest.mark.parametrize("case", USED)
def test_what_stands_beside_a_call_is_not_before_it_for_later_ones(tmp_path, case):
    rule, messages, expected = USED[case]
    for order in product(*map(permutations, messages)):
        entries: list[Any] = [ASKED]
        for batch, message in enumerate(order, 1):
            made = [(f"{batch}-{number}", one) for number, one in enumerate(message)]
            entries += [Call(id_, tool, arguments, batch) for id_, (tool, arguments, _) in made]
            entries += [Result(id_, result) for id_, (_, _, result) in made]
        assert sorted(outcome.status for outcome in outcomes(tmp_path, rule, entries)) == expected, order


@pytest.mark.parametrize("results_last", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_order_in_a_message_decides_nothing(tmp_path, case, results_last):
    rule, before, message, expected = CASES[case]
    for order in permutations(message):
        judged = outcomes(tmp_path, rule, spelled(before, order, results_last))
        assert sorted(outcome.status for outcome in judged) == expected, order
        assert len({outcome.reason for outcome in judged if outcome.status is not HELD}) <= 1, judged


@pytest.mark.parametrize("order", [0, 1])
def test_a_result_that_is_missing_in_the_message_leaves_nothing_open(tmp_path, order):
    message = [Call("1", "ask", {}, 7), Call("2", "pay", {}, 7)]
    (outcome,) = outcomes(tmp_path, APPROVED, [ASKED, *(message[::-1] if order else message)])
    assert outcome.status is BROKEN


@pytest.mark.parametrize("rule", [FOUND, NAMED, STEMS])
@pytest.mark.parametrize("shown", [{"name": "Ann"}, "name: Ann"])
def test_what_a_subagent_heard_between_parallel_calls_is_before_the_later_ones(tmp_path, rule, shown):
    """The first text with a value is of a parallel call, and another one of a call that is before."""
    calls = [Call("1", "look", {}, 7), Call("2", "look", {}, 7, "sub")]
    results = [Result("1", shown), Result("2", shown)]
    (outcome,) = outcomes(tmp_path, rule, [ASKED, *calls, *results, Call("3", "pay", {"to": "Ann"}, 7)])
    assert outcome.status is HELD
    assert "call 2" in outcome.source


def test_a_leak_that_a_subagent_heard_as_well(tmp_path):
    calls = [Call("1", "read", {}, 7), Call("2", "read", {}, 7, "sub")]
    results = [Result("1", READ[2]), Result("2", READ[2])]
    (outcome,) = outcomes(tmp_path, LEAK, [ASKED, *calls, *results, Call("3", "mail", MAIL[1], 7)])
    assert (outcome.status, "call 2" in outcome.source) == (BROKEN, True)


def test_a_result_that_is_missing_of_a_subagent_leaves_a_value_open(tmp_path):
    calls = [Call("1", "look", {}, 7), Call("2", "look", {}, 7, "sub")]
    results = [Result("1", {"$withheld": "0" * 64}), Result("2", {"$withheld": "0" * 64})]
    (outcome,) = outcomes(tmp_path, NAMED, [ASKED, *calls, *results, Call("3", "pay", {"to": "Ann"}, 7)])
    assert (outcome.status, outcome.reason) == (UNJUDGED, "the result of look, call 2 is withheld")


def test_an_approval_whose_result_came_late_does_not_replace_a_later_one(tmp_path):
    rule = "{when: {tool: pay}, after: {tool: ask, read: {ok: {path: result.ok, as: bool}}, if: ok, since: pay}}"
    asked = [Call("1", "ask", {}), Call("2", "pay", {}), Call("3", "ask", {}), Result("3", {"ok": True})]
    first, second = outcomes(tmp_path, rule, [*asked, Result("1", {"ok": True}), Call("4", "pay", {})])
    assert (first.status, second.status) == (UNJUDGED, HELD)


def test_approvals_of_two_agents_do_not_replace_each_other(tmp_path):
    rule = "{when: {tool: pay}, after: {tool: ask}}"
    calls = [Call("1", "ask", {}, 3, "a"), Call("2", "ask", {}, 3, "b"), Call("3", "pay", {}, 3, "b")]
    (outcome,) = outcomes(tmp_path, rule, calls)
    assert (outcome.status, outcome.source) == (HELD, "ask, call 1")


@pytest.mark.parametrize("since", ["", ", since: pay"])
def test_of_calls_that_read_alike_few_are_kept_whatever_their_messages_are(tmp_path, since):
    """Each call of a log may be of a message of its own; what is over for all later calls is forgotten."""
    path = tmp_path / "rules.yaml"
    rule = f"{{when: {{tool: pay}}, after: {{tool: ask, read: {{ok: {{path: result.ok, as: bool}}}}, if: ok{since}}}}}"
    path.write_text(f"spec: policy/v1\nname: rules\nrules:\n  a: {rule}\n", encoding="utf-8")
    session = compile_policy(load(path)[0].main, Diagnostics()).begin()
    for number in range(200):
        tool = "ask" if number % 3 else "pay"
        session.hear(Call(f"{number}", tool, {}, number + 1))
        if number % 3 != 1:
            session.hear(Result(f"{number}", {"ok": True}))
    (kept,) = session.earlier
    answered = [key for key in kept.candidates if key[0] != "pending"]
    assert len(answered) <= 1
    assert len(kept.candidates) <= (8 if since else 80)


def test_a_broken_rule_without_else_says_not_so_and_names_the_call_that_is_parallel(tmp_path):
    rule = APPROVED.replace("{when", "{doc: It was approved before., when", 1)
    ask, pay = (Call(id_, tool, {}, batch=1) for id_, tool in (("1", "ask"), ("2", "pay")))
    (beside,) = outcomes(tmp_path, rule, [ASKED, ask, pay])
    said = "ask, call 1, stands in the same message: it is parallel, not before"
    assert (beside.status, beside.reason) == (BROKEN, f"not so: It was approved before. ({said})")
    (alone,) = outcomes(tmp_path, rule, [ASKED, pay])
    assert (alone.reason, alone.source) == ("not so: It was approved before.", "")
    (refused,) = outcomes(tmp_path, rule, [ASKED, ask, Result("1", {"ok": False}), pay])
    assert refused.reason == "not so: It was approved before."
