"""Random policies over random trajectories: a plain evaluator agrees, and withholding changes no verdict that is kept."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec import UNSET

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.lines import read_lines, write_lines
from specledger.wings.trajectories.model import Call, Kept, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.reading import knows_request, read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.kept import withhold
from specledger.wings.trajectories.withholding import Withholding
from tests.wings.trajectories.rules.plain_formats import WRITERS
from tests.wings.trajectories.rules.plain_rules import BROKEN, HELD, UNJUDGED, Plain

NAMES = ["anna", "bert", "cleo", "dirk"]
DIGEST = {"$withheld": "0" * 64}
OK = {"read": {"ok": {"path": "result.ok", "as": "bool"}}, "if": "ok"}
PATHS = ["arguments", "arguments.to", "arguments.amount", "arguments.id", "result", "result.name", "result.ok", "messages", "messages.user", "messages.system"]  # fmt: skip
SETS = {"known": NAMES[:1]}


def seeds(number):
    """Seeds, of which the first few are tried by every run of the tests."""
    return [pytest.param(seed, marks=pytest.mark.medium) if seed >= 4 else seed for seed in range(number)]


def part(random, *, since):
    """What says which earlier calls count."""
    more: dict[str, Any] = {}
    more |= {"same": random.choice(["args.id", "args.to"])} if random.random() < 0.5 else {}
    more |= OK if random.random() < 0.4 else {}
    return more | ({"since": "pay"} if since and random.random() < 0.4 else {})


def source(random):
    sort = random.choice(["request", "system", "set", "field", "text", "text"])
    if sort in ("request", "system"):
        return sort
    if sort == "set":
        return {"set": "known"}
    found = {"result_of": "look", "field": "name"} if sort == "field" else {"text_of": random.choice(["look", "any"])}
    return found | part(random, since=False)


def rule(random, *, since):
    """A rule with one demand or more."""
    made: dict[str, Any] = {"when": {"tool": random.choice(["pay", "pay", "any"])}}
    if random.random() < 0.3:
        made["when"]["if"] = "amount > 2.0"
        made["read"] = {"amount": {"path": "args.amount", "as": "number"}}
    demands = random.sample(["from", "not_from", "after", "not_after", "memory"], random.choice([1, 1, 2]))
    if {"from", "not_from"} & {*demands}:
        made |= {"each": random.choice([["args.to"], ["args.to", "args.cc"]]), "as": "name"}
    for key in demands:
        if key in ("from", "not_from"):
            made[key] = [source(random) for _ in range(random.choice([1, 2]))]
        elif key != "memory":
            made[key] = {"tool": random.choice(["ask", "look", "any"]), **part(random, since=since)}
        elif "each" not in made:
            sort = random.choice(["count", "repeats", "sum"])
            if sort == "sum":
                made["read"] = {"amount": {"path": "args.amount", "as": "number"}}
            made["memory"] = {"n": {"sum": "amount"} if sort == "sum" else {sort: {}}}
            made["require"] = f"n <= {random.choice([1, 2, 4])}{'.0' * (sort == 'sum')}"
    return made if {"from", "not_from", "after", "not_after", "memory"} & {*made} else rule(random, since=since)


def sometimes(random, value, other, chance=0.1):
    return other if random.random() < chance else value


def trajectory(random, *, parallel):
    """A trajectory, of which some parts are not recorded or withheld."""
    entries: list[Any] = []
    waiting: list[str] = []
    for number in range(random.randrange(4, 14)):
        what = random.choice(["message", "call", "call", "call", "result"])
        if what == "message":
            speaker = random.choice([Speaker.USER, Speaker.USER, Speaker.SYSTEM, Speaker.ASSISTANT])
            text = " ".join(random.sample([*NAMES, "pay", "the"], 3))
            entries.append(Message(speaker, text, actor=sometimes(random, "", "x")))
        elif what == "call":
            listed = [random.choice(NAMES), sometimes(random, random.choice(NAMES), DIGEST)]
            to = random.choice([random.choice(NAMES), random.choice(NAMES), listed, None, DIGEST])
            amount = sometimes(random, random.randrange(1, 5), DIGEST)
            arguments = {"to": to, "amount": amount, "id": sometimes(random, random.randrange(2), DIGEST)}
            arguments |= {"cc": random.choice(NAMES)} if random.random() < 0.3 else {}
            given = arguments if random.random() > 0.05 else UNSET
            batch = random.choice([0, len(entries) // 3 + 1]) if parallel else 0
            entries.append(Call(str(number), random.choice(["pay", "pay", "ask", "look"]), given, batch=batch))
            waiting.append(str(number))
        elif waiting:
            content = {"name": random.choice(NAMES), "ok": random.random() < 0.5, "note": random.choice(NAMES)}
            content = sometimes(random, content, {**content, "note": DIGEST})
            text = sometimes(random, content, json.dumps(content)) if DIGEST not in content.values() else content
            entries.append(Result(waiting.pop(random.randrange(len(waiting))), UNSET if random.random() < 0.05 else text))  # fmt: skip
    return Trajectory("a", "f", "openai", tuple(entries))


def said(policy, heard, *, messages=True):
    session = policy.begin(messages=messages)
    return {(o.call, o.rule): o.status.value for entry in heard.entries for o in session.hear(entry)}


def plainly(entry):
    """A result as the plain evaluator reads it, which knows no text that is JSON."""
    is_text = isinstance(entry, Result) and isinstance(entry.content, str)
    return Result(entry.call, json.loads(entry.content)) if is_text else entry


def random_case(seed, folder):
    random = Random(seed)
    parallel = random.random() < 0.4
    rules = {f"r{number}": rule(random, since=not parallel) for number in range(4)}
    path = folder / "rules.yaml"
    path.write_text(json.dumps({"spec": "policy/v1", "name": "rules", "sets": SETS, "rules": rules}), encoding="utf-8")
    policy = compile_policy(load(path, kind="policy")[0].main, Diagnostics())
    return random, rules, policy, [trajectory(random, parallel=parallel) for _ in range(12)]


@pytest.mark.parametrize("seed", seeds(20))
def test_a_plain_evaluator_agrees(tmp_path, seed):
    _, rules, policy, trajectories = random_case(seed, tmp_path)
    for heard in trajectories:
        expected = Plain(SETS, rules, [*map(plainly, heard.entries)]).outcomes()
        assert said(policy, heard) == expected, heard
        assert said(policy, *read_lines(write_lines([heard]))) == expected


def test_all_outcomes_are_among_those_that_are_compared(tmp_path):
    found = Counter[str]()
    for seed in range(5):
        _, _, policy, trajectories = random_case(seed, tmp_path)
        found.update(status for heard in trajectories for status in said(policy, heard).values())
    assert min(found[status] for status in (HELD, BROKEN, UNJUDGED)) > 50


@pytest.mark.parametrize("seed", seeds(20))
def test_withholding_with_the_policy_changes_no_verdict(tmp_path, seed):
    random, _, policy, trajectories = random_case(seed, tmp_path)
    for heard in trajectories:
        paths = random.sample(PATHS, random.choice([1, 2, 3]))
        left = withhold(heard, Withholding(paths, b"0" * 32), [policy])
        messages = knows_request(heard)
        whole = said(policy, heard, messages=messages)
        assert said(policy, left, messages=messages) == whole, (paths, heard)
        without = [entry for entry in left.entries if not isinstance(entry, Kept)]
        bare = said(policy, Trajectory("a", "f", "openai", tuple(without)), messages=messages)
        assert {key: status for key, status in bare.items() if status != "unjudged"}.items() <= whole.items()


def conversation(random):
    """A conversation in which all is recorded, and what it is as entries."""
    said: list[Any] = [("user", " ".join(random.sample([*NAMES, "pay", "the"], 3)))]
    entries: list[Any] = [Message(Speaker.USER, said[0][1])]
    for batch in range(1, random.randrange(3, 8)):
        calls = []
        for number in range(random.choice([1, 1, 2, 3])):
            to = random.choice([random.choice(NAMES), random.sample(NAMES, 2), None])
            given = {"to": to, "amount": random.randrange(1, 5), "id": random.randrange(2)}
            calls.append((f"{batch}-{number}", random.choice(["pay", "pay", "ask", "look"]), given))
        said.append(("calls", calls))
        entries += [Call(id_, tool, given, batch=batch) for id_, tool, given in calls]
        for id_, _, _ in random.sample(calls, len(calls)):
            content = {"name": random.choice(NAMES), "ok": random.random() < 0.5, "note": random.choice(NAMES)}
            said.append(("result", id_, content))
            entries.append(Result(id_, content))
        if random.random() < 0.4:
            speaker = random.choice([Speaker.USER, Speaker.ASSISTANT])
            said.append((speaker.value, " ".join(random.sample(NAMES, 2))))
            entries.append(Message(speaker, said[-1][1]))
    said.append(("assistant", "done"))
    return said, entries


@pytest.mark.parametrize("seed", seeds(10))
def test_every_format_of_a_conversation_is_judged_as_the_plain_evaluator_does(tmp_path, seed):
    random, rules, policy, _ = random_case(seed, tmp_path)
    # a rule with `since` lets one of several parallel calls use an approval up, which is not plain
    rules = {name: made for name, made in rules.items() if "since" not in str(made)}
    judged = 0
    for _ in range(6):
        said_, entries = conversation(random)
        expected = Plain(SETS, rules, entries).outcomes()
        judged += len(expected)
        for name, write in WRITERS.items():
            (tmp_path / name).write_text(write(said_), encoding="utf-8", newline="")
            (heard,) = read_logs([tmp_path / name])
            assert heard.format == name
            found = {key: status for key, status in said(policy, heard).items() if key[1] in rules}
            assert found == expected, (name, said_)
    assert judged or not rules
