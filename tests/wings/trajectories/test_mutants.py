"""Mutants: changes of rules and of logs, and whether a verdict differs."""

import json
import re
from typing import Any

import pytest

from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.mutants import mutation
from specledger.wings.trajectories.mutants.expressions import mutants_of
from specledger.wings.trajectories.mutants.logs import OPERATORS, Focus
from specledger.wings.trajectories.mutants.mutation import Mutation
from specledger.wings.trajectories.mutants.rules import rule_mutants
from specledger.wings.trajectories.rules.accesses import accesses

RULES = """
spec: policy/v1
name: mine
sets: {known: [Bob]}
tools: {payments: [pay, transfer]}
rules:
  payee: {when: {tool: payments}, each: args.to, as: name, from: [request, {set: known}]}
  often: {memory: {calls: {count: {}}}, require: calls <= 2}
  idle: {when: {tool: fly}, each: args.to, as: name, from: [request]}
  approved:
    when: {tool: pay, if: amount > 100.0}
    read: {amount: {path: args.amount, as: number}}
    after: {tool: ask, read: {ok: {path: result.ok, as: bool}}, if: ok}
"""
LOG = Trajectory(
    "t",
    "f",
    "x",
    (
        Message(Speaker.USER, "Pay Ann."),
        Call("a", "ask", {}, 1),
        Result("a", {"ok": True}),
        Call("p", "pay", {"to": "Ann", "amount": 200}, 2),
        Result("p", "done"),
    ),
)


@pytest.fixture
def resolved(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES, encoding="utf-8")
    return load(tmp_path / "rules.yaml")[0].main


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("a && b", {"(b)", "(a)", "!(a && b)"}),
        ("a <= 40", {"a < 40", "a <= 39", "a <= 41", "!(a <= 40)"}),
        ("a == 2.5", {"a != 2.5", "a == 2.25", "a == 2.75", "!(a == 2.5)"}),
        ("a > 0.0", {"a >= 0.0", "a > -1.0", "a > 1.0", "!(a > 0.0)"}),
        ("f(", set()),
    ],
)
def test_mutants_of_an_expression(text, mutants):
    assert {changed for _, changed in mutants_of(text)} == mutants


def test_mutants_of_a_rule_are_policies_of_one_rule(resolved):
    texts = [mutant.text for mutant in rule_mutants(resolved, "payee")]
    assert texts == [
        "from[0] dropped (request)",
        "from[1] dropped (set known)",
        "when.tool without pay",
        "when.tool without transfer",
    ]
    approved = [mutant.text for mutant in rule_mutants(resolved, "approved")]
    assert "after.if negated" in approved
    assert "when.if `100.0` is `110.0`" in approved
    assert "when.if dropped" in approved
    assert all(len(mutant.policy.rules) == 1 for mutant in rule_mutants(resolved, "approved"))


def shape(trajectory):
    return [
        entry.text if isinstance(entry, Message) else entry.id if isinstance(entry, Call) else f"={entry.call}"
        for entry in trajectory.entries
    ]


@pytest.mark.parametrize(
    ("operator", "rule", "shapes"),
    [
        ("drop", "approved", {("Pay Ann.", "p", "=p")}),
        ("drop", "payee", {("a", "=a", "p", "=p")}),
        ("drop", "often", set()),
        ("swap", "approved", {("Pay Ann.", "p", "=p", "a", "=a")}),
        ("repeat", "payee", {("Pay Ann.", "a", "=a", "p", "=p", "p~1", "=p~1")}),
        ("value", "idle", set()),
    ],
)
def test_mutants_of_a_trajectory(resolved, operator, rule, shapes):
    read = accesses(resolved.model, rule)
    request = rule == "payee"
    mutants = [OPERATORS[operator](LOG, Focus(read, request), Stream.named(seed, "x")) for seed in range(12)]
    made = {tuple(shape(mutant)) for mutant in mutants if mutant is not None}
    assert made >= shapes
    assert bool(made) is bool(shapes)
    assert not any(mutant == LOG for mutant in mutants)


@pytest.mark.parametrize(
    ("types", "to", "changed"),
    [
        ((), "Ann", "Mallory Mutant"),
        ((), "ann@b.org", "mallory@mutant.example"),
        ((), "GB29 NWBK 6016 1331 9268 20", "DE75512108001245126199"),
        ((), "/a/b", "/mutant/mallory"),
        ((), "see www.x.org", "Mallory Mutant"),
        (("urls",), "see www.x.org", "see www.x.org https://mutant.example/mallory"),
        ((), True, False),
        ((), 5, 5007),
        ((), {"$number": "1.5"}, {"$number": "987654321.5"}),
        ((), [["Ann"], "Bob"], [["Mallory Mutant"], "Bob"]),
    ],
)
def test_a_changed_value_is_of_the_same_form_and_stands_nowhere_else(resolved, types, to, changed):
    log = Trajectory("t", "f", "x", (Call("p", "pay", {"to": to, "amount": 1}),))
    focus = Focus(accesses(resolved.model, "payee"), True, types)
    mutants: list[Any] = [OPERATORS["value"](log, focus, Stream.named(seed, "x")) for seed in range(5)]
    values = [mutant.entries[0].arguments for mutant in mutants]
    assert {"to": changed, "amount": 1} in values


def test_what_is_noticed(resolved):
    mutants = Mutation(resolved, 20, 7)
    mutants.hear(LOG)
    told = mutants.finish()
    assert not told.stopped
    payee, idle = told.rules["payee"], told.rules["idle"]
    assert payee.noticed == {"from[0] dropped (request)": "t", "when.tool without pay": "t"}
    assert payee.unnoticed == ["from[1] dropped (set known)", "when.tool without transfer"]
    assert payee.changed["value"] == payee.tried["value"] > 0
    assert payee.changed["repeat"] == 0 < payee.tried["repeat"]
    assert told.rules["often"].changed["repeat"] > 0
    assert told.rules["approved"].changed["drop"] == told.rules["approved"].tried["drop"] > 0
    assert not idle.reached
    assert sum(payee.tried.values()) <= 20


PACED = """
spec: policy/v1
name: paced
rules:
  pace: {when: {tool: pay}, memory: {calls: {count: {}, within: 100}}, require: calls <= 2}
  total:
    when: {tool: pay}
    read: {amount: {path: args.amount, as: number}}
    memory: {paid: {sum: amount, within: 5}}
    require: paid <= 900.0
  fresh:
    when: {tool: pay}
    read: {paid: {path: time, as: number}}
    after: {tool: ask, read: {asked: {path: time, as: number}}, if: paid - asked <= 600.0}
  timeless: {when: {tool: pay}, memory: {calls: {count: {}}}, require: calls <= 9}
"""


def timed(*seconds):
    """Payments at these seconds, after a question at 0."""
    calls = [Call(f"p{n}", "pay", {"amount": 1}, n + 1, time=s * 1_000_000) for n, s in enumerate(seconds)]
    return Trajectory("t", "f", "x", (Call("a", "ask", {}, time=0), *calls))


@pytest.fixture
def paced(tmp_path):
    (tmp_path / "paced.yaml").write_text(PACED, encoding="utf-8")
    return load(tmp_path / "paced.yaml")[0].main


def test_a_span_of_time_is_shifted_by_a_tenth_and_dropped(paced):
    shifts = {
        name: [m.text for m in rule_mutants(paced, name) if "within" in m.text]
        for name in ("pace", "total", "timeless")
    }
    assert shifts["pace"] == [
        "memory.calls.within `100` is `90`",
        "memory.calls.within `100` is `110`",
        "memory.calls.within dropped",
    ]
    assert [text.rpartition(" ")[2] for text in shifts["total"]] == ["`4`", "`6`", "dropped"]
    assert shifts["timeless"] == []


@pytest.mark.parametrize(
    ("seconds", "noticed"),
    [
        ((0, 50, 95), {"`90`"}),  # three within 100 seconds, not within 90
        ((0, 50, 105), {"`110`", "dropped"}),
        ((0, 500, 5000), {"dropped"}),
        ((0, 5000), set()),
    ],
)
def test_a_shifted_span_is_noticed_where_a_count_depends_on_it(paced, seconds, noticed):
    mutants = Mutation(paced, 50, 0)
    mutants.hear(timed(*seconds))
    texts = [text for text in mutants.finish().rules["pace"].noticed if "within" in text]
    assert {text.rpartition(" ")[2] for text in texts} == noticed


def test_a_call_is_made_at_another_time_with_all_that_follows(paced):
    log = timed(10, 700)
    focus = Focus(accesses(paced.model, "fresh"), timed=True)
    mutants = [OPERATORS["time"](log, focus, Stream.named(seed, "x")) for seed in range(40)]
    entries: list[Any] = [mutant.entries for mutant in mutants if mutant is not None]
    times = {tuple(entry.time // 1_000_000 for entry in each) for each in entries}
    later = {(0, 10 + s, 700 + s) for s in (60, 3600, 86400)} | {(0, 10, 700 + s) for s in (60, 3600, 86400)}
    assert times == later | {(0, 0, 690), (0, 10, 10)}
    assert OPERATORS["time"](log, Focus(accesses(paced.model, "fresh")), Stream.named(0, "x")) is None
    timeless = Trajectory("t", "f", "x", (Call("a", "ask", {}), Call("p", "pay", {})))
    assert OPERATORS["time"](timeless, focus, Stream.named(0, "x")) is None


def test_rules_about_times_are_tried_by_times(paced):
    mutants = Mutation(paced, 40, 1)
    mutants.hear(timed(10, 90, 200))
    told = mutants.finish().rules
    assert 0 < told["fresh"].changed["time"] < told["fresh"].tried["time"]
    assert 0 < told["pace"].changed["time"] < told["pace"].tried["time"]
    assert told["timeless"].tried["time"] == 0


def test_a_rule_of_which_no_mutant_changes_a_verdict_is_named(spec, tmp_path, monkeypatch):
    from tests.wings.trajectories.test_scan import chat

    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.json").write_text(chat(("ask", {}), ("pay", {"amount": 2})), encoding="utf-8")
    flights = "  flights: {when: {tool: fly}, memory: {flown: {count: {}, within: 60}}, require: flown <= 1}\n"
    (tmp_path / "paced.yaml").write_text(PACED + flights, encoding="utf-8")
    text = spec("scan", "chat.json", "--policy", "paced.yaml", "--mutants", "30").out
    assert re.search(r"^no mutant of the rule itself changed a verdict of: flights$", text, re.M), text


def test_a_rule_that_is_broken_already_notices_more(resolved):
    """A further broken call is noticed; a copy of a broken call, or its absence, is not."""
    entries = (*LOG.entries[:4], Call("e", "pay", {"to": "Eve", "amount": 1}, 3), Call("q", "pay", {"to": "Ann"}, 4))
    mutants = Mutation(resolved, 40, 3)
    mutants.hear(Trajectory("t", "f", "x", entries))
    payee = mutants.finish().rules["payee"]
    assert 0 < payee.changed["value"] < payee.tried["value"]
    assert payee.changed["repeat"] == 0 < payee.tried["repeat"]
    assert payee.changed["drop"] > 0


@pytest.mark.medium
def test_the_same_seed_gives_the_same_mutants_and_work_is_bounded(resolved, monkeypatch):
    def tried(seed):
        mutants = Mutation(resolved, 3, seed)
        for _ in range(60):
            mutants.hear(LOG)
        told = mutants.finish()
        return [(rule.noticed, rule.unnoticed, rule.tried, rule.changed) for rule in told.rules.values()], told.stopped

    assert tried(1) == tried(1)
    assert tried(1) != tried(2)
    monkeypatch.setattr(mutation, "MOST_ENTRIES", 40)
    assert tried(1)[1] is True


def test_the_command_names_rules_that_no_mutant_reaches(spec, tmp_path, monkeypatch):
    from tests.wings.trajectories.test_scan import chat

    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(RULES, encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(("ask", {}), ("pay", {"to": "Ann", "amount": 20})), encoding="utf-8")
    words = ("scan", "chat.json", "--policy", "rules.yaml", "--mutants", "9", "--seed", "5")
    text = spec(*words).out
    assert re.search(r"^no mutant of a trajectory changed a verdict of: (?!.*payee).*idle$", text, re.M), text
    assert "payee: no verdict differs with from[1] dropped (set known)" in text
    document = json.loads(spec(*words, "--output", "json").out)["mutants"]
    assert (document["seed"], document["most"], document["stopped"]) == (5, 9, False)
    assert document["rules"]["idle"]["reached"] is False
    assert document["rules"]["payee"]["reached"] is True
    wrong = spec("scan", "chat.json", "--mutants", "-1")
    assert wrong.status == 2
    assert "--mutants" in wrong.err
