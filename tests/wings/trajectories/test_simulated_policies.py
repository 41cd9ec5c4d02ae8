"""Policies over agents that decide: an action is a call, what is simulated is its result, and one file judges logs too."""

import json
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.spec.base import format_qfixed
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tests.toys import documents_of, findings_of, write_specs
from tools.conformance import Laid

TAGS = {"type": "object", "additionalProperties": {"type": "integer"}}
NOTES = {"type": "array", "items": {"type": "string"}, "maxItems": 4}
WORLD: dict[str, Any] = {
    "state": {"at": "int", "pause": "qfixed", "tags": TAGS},
    "start": {"at": "0", "pause": "0.5", "tags": "{'$number': 1}"},
    "actions": {
        "ask": {
            "args": {"amount": "qfixed"},
            "result": {"ok": "bool", "limit": "qfixed", "notes": NOTES, "tags": TAGS},
            "simulate": {"ok": "amount <= 500.0", "limit": "500.5", "notes": '["for Alice"]', "tags": "tags"},
            "effects": [{"set": "at", "to": "at + 1"}],
        },
        "pay": {"args": {"amount": "qfixed", "to": "string"}, "effects": [{"set": "at", "to": "at + 1"}]},
        "look": {"result": {"text": "string"}, "effects": [{"set": "at", "to": "at + 1"}]},
    },
    "observe": {"at": "at"},
}
AGENT: dict[str, Any] = {
    "candidates": [
        {"op": "ask", "for_each": {"amount": "[150.5]"}, "when": "at == 0"},
        {"op": "pay", "for_each": {"amount": "[150.5]", "to": '["Alice"]'}, "when": "at == 1"},
        {"op": "pay", "for_each": {"amount": "[700.0]", "to": '["Mallory"]'}, "when": "at == 2"},
        {"op": "look", "when": "at == 3"},
    ],
    "score": "0",
}
BEST = {"gates": [], "choose": {"maximise": "proposal.score"}}
POLICY: dict[str, Any] = {
    "rules": {
        "payee": {"when": {"tool": "pay"}, "each": "args.to", "as": "name", "from": ["request"]},
        "noted": {"severity": "warn", "when": {"tool": "pay"}, "each": "args.to", "from": [{"text_of": "ask"}]},
        "approved": {
            "when": {"tool": "pay"},
            "read": {"amount": {"path": "args.amount", "as": "number"}},
            "after": {
                "tool": "ask",
                "read": {
                    "ok": {"path": "result.ok", "as": "bool"},
                    "limit": {"path": "result.limit", "as": "number"},
                    "asked": {"path": "args.amount", "as": "number"},
                },
                "if": "ok && asked == amount && amount < limit",
            },
        },
        "few": {"memory": {"calls": {"count": {}}}, "require": "calls <= 3", "else": "{calls} calls"},
    }
}
REQUEST = "Pay Alice what she is owed."


def loaded(folder, *, world=WORLD, agent=AGENT, policy=POLICY, **scenario):
    scenario = {"policies": ["rules"], "request": REQUEST, "horizon": 4, **scenario}
    documents = documents_of(world, agent, BEST, others={"policy/rules": policy}, **scenario)
    if "agents" in scenario:
        scenario |= {"agent": None, "governor": None}
    for key in [key for key, value in scenario.items() if value is None]:
        del documents["scenario"][key]
    return load(write_specs(folder / "specs", documents))[0]


def simulated(folder, **changes):
    """Run a simulated scenario: its result and its receipts."""
    finished = execute(loaded(folder, **changes), folder / "out", RunOptions())
    lines = (folder / "out/receipts.jsonl").read_bytes().splitlines()
    return finished.manifest["result"], [parse_canonical(line) for line in lines]


def of(lines, type_):
    return [line["body"] for line in lines if line["type"] == type_]


def test_actions_are_calls_and_what_is_simulated_is_their_result(tmp_path):
    summary, lines = simulated(tmp_path)
    assert summary["verdict"] == "FAIL"
    assert summary["rules"] == {
        "rules.approved": {"held": 1, "broken": 1, "unjudged": 0},
        "rules.few": {"held": 3, "broken": 1, "unjudged": 0},
        "rules.noted": {"held": 1, "broken": 1, "unjudged": 0},
        "rules.payee": {"held": 1, "broken": 1, "unjudged": 0},
    }
    assert (summary["violations"], summary["warnings"]) == (
        {"rules.approved": 1, "rules.payee": 1, "rules.few": 1},
        {"rules.noted": 1},
    )
    broken = {breach["rule"]: breach for body in of(lines, "rules") for breach in body["broken"]}
    assert broken["rules.payee"]["value"] == "Mallory"
    assert broken["rules.few"] == {
        "rule": "rules.few",
        "call": "#4",
        "reason": "4 calls",
        "value": "",
        "severity": "fatal",
        "source": "",
    }
    assert len(of(lines, "step")) == 4, "a broken rule ends no episode"


@pytest.mark.parametrize("replay", [True, False])
def test_both_verifiers_take_the_evidence(tmp_path, replay):
    simulated(tmp_path)
    assert verify(tmp_path / "out", replay=replay).intact
    assert (by_engine(Laid(tmp_path / "out", {})).exit, by_tool(Laid(tmp_path / "out", {})).exit) == (0, 0)


def as_log(lines):
    """What a run did as a chat: the reverse of a recording."""
    chat: list[dict[str, Any]] = [{"role": "user", "content": REQUEST}]
    results: dict[str, Any] = {
        "ask": {"ok": True, "limit": 500.5, "notes": ["for Alice"], "tags": {"$number": 1}},
        "pay": {},
    }
    for number, commit in enumerate(of(lines, "commit")):
        arguments = dict(commit["proposals"][0]["action"])
        tool = arguments.pop("op")
        if "amount" in arguments:
            arguments["amount"] = float(format_qfixed(arguments["amount"]))
        function = {"name": tool, "arguments": json.dumps(arguments)}
        chat.append(
            {"role": "assistant", "tool_calls": [{"id": str(number), "type": "function", "function": function}]}
        )
        if tool in results:
            chat.append({"role": "tool", "tool_call_id": str(number), "content": json.dumps(results[tool])})
    return chat


def test_a_recording_of_the_same_calls_comes_to_the_same_outcomes(tmp_path):
    summary, lines = simulated(tmp_path)
    again = tmp_path / "again"
    (again / "logs").mkdir(parents=True)
    (again / "logs/log.json").write_text(json.dumps(as_log(lines)), encoding="utf-8")
    recording = {"trajectories": {"files": ["logs/log.json"]}}
    bundle = loaded(again, agent=recording, horizon=None, request=None)
    repeated = execute(bundle, again / "out", RunOptions()).manifest["result"]
    assert repeated["rules"] == summary["rules"]


def test_what_the_simulation_does_not_give_is_not_judged(tmp_path):
    source = {"when": {"tool": "pay"}, "each": "args.to", "as": "name", "from": [{"text_of": "look"}]}
    agent: dict[str, Any] = {
        "candidates": [{"op": "look"}, {"op": "pay", "for_each": {"amount": "[1.0]", "to": '["Bob"]'}}]
    }
    agent["score"] = "at == 0 ? (action.op == 'look' ? 1 : 0) : (action.op == 'pay' ? 1 : 0)"
    summary, lines = simulated(tmp_path, agent=agent, policy={"rules": {"seen": source}}, horizon=2)
    assert summary["verdict"] == "INCONCLUSIVE"
    (unjudged,) = (entry for body in of(lines, "rules") for entry in body["unjudged"])
    assert unjudged["reason"] == "the result of look, call #1 is not recorded"
    assert verify(tmp_path / "out").intact


def test_a_denied_action_is_no_call(tmp_path):
    governor = {
        "gates": [{"id": "small", "deny": "action.op == 'pay' && action.amount > 500.0", "reason": "too_much"}],
        "choose": {"maximise": "proposal.score"},
    }
    documents = documents_of(
        WORLD,
        AGENT,
        governor,
        {"policy/rules": POLICY},
        policies=["rules"],
        request=REQUEST,
        horizon=4,
        on_denied="tell",
    )
    bundle = load(write_specs(tmp_path / "specs", documents))[0]
    summary = execute(bundle, tmp_path / "out", RunOptions()).manifest["result"]
    assert summary["rejections"]["small"] == 2
    assert summary["rules"]["rules.payee"] == {"held": 1, "broken": 0, "unjudged": 0}
    assert summary["rules"]["rules.few"] == {"held": 2, "broken": 0, "unjudged": 0}


@pytest.mark.parametrize("turns", ["order", "simultaneous"])
def test_rules_hear_all_agents_in_the_order_in_which_they_act(tmp_path, turns):
    world = {
        "state": {"n": "int"},
        "start": {"n": "0"},
        "actions": {"pay": {"args": {"amount": "int"}, "effects": [{"set": "n", "to": "n + 1"}]}},
        "observe": {"n": "n"},
        "agents": {"ann": {}, "bob": {}},
    }
    agent = {"candidates": [{"op": "pay", "for_each": {"amount": "[10]"}}], "score": "0"}
    read = {"amount": {"path": "args.amount", "as": "int"}}
    policy = {"rules": {"total": {"read": read, "memory": {"paid": {"sum": "amount"}}, "require": "paid <= 30"}}}
    actor = {"agent": "agent", "governor": "governor"}
    several = {"agents": {"ann": actor, "bob": actor}, "order": ["ann", "bob"], "turns": turns}
    summary, lines = simulated(tmp_path, world=world, agent=agent, policy=policy, horizon=2, **several)
    assert summary["rules"]["rules.total"] == {"held": 3, "broken": 1, "unjudged": 0}
    (broken,) = (breach for body in of(lines, "rules") for breach in body["broken"])
    assert broken["call"] == "#4"
    assert verify(tmp_path / "out").intact
    assert by_tool(Laid(tmp_path / "out", {})).exit == 0


@pytest.mark.medium
def test_a_result_without_a_value_is_an_error(tmp_path):
    world = {**WORLD, "actions": {**WORLD["actions"]}}
    world["actions"]["ask"] = {**WORLD["actions"]["ask"]}
    world["actions"]["ask"]["simulate"] = {**WORLD["actions"]["ask"]["simulate"], "ok": "1 / at == 1"}
    summary, lines = simulated(tmp_path, world=world)
    assert summary["verdict"] == "ERROR"
    assert [body["code"] for body in of(lines, "error")] == ["E_EVAL_DIVISION_BY_ZERO"]


PACE = {"rules": {"pace": {"memory": {"calls": {"count": {}, "within": 60}}, "require": "calls <= 2"}}}


@pytest.mark.parametrize(
    ("time", "counts"),
    [
        ("t * 30", {"held": 2, "broken": 2, "unjudged": 0}),
        ("pause", {"held": 2, "broken": 2, "unjudged": 0}),
        (None, {"held": 0, "broken": 0, "unjudged": 4}),
        ("9000000000000 + at", {"held": 0, "broken": 0, "unjudged": 4}),
    ],
)
def test_an_action_has_the_time_of_its_state(tmp_path, time, counts):
    summary, _ = simulated(tmp_path, policy=PACE, time=time)
    assert summary["rules"]["rules.pace"] == counts
    assert verify(tmp_path / "out").intact


def test_a_time_without_a_value_is_an_error(tmp_path):
    summary, lines = simulated(tmp_path, policy=PACE, time="10 / (at - 2)")
    assert summary["verdict"] == "ERROR"
    assert [(body["code"], body["t"]) for body in of(lines, "error")] == [("E_EVAL_DIVISION_BY_ZERO", 2)]


WRONG: dict[str, Any] = {  # changes of the scenario, code, words, file
    "a request of no text": ({"request": ""}, "E_SPEC_VALUE", "`request`", "scenario.yaml"),
    "a request that is no text": ({"request": 3}, "E_SPEC_TYPE", "`request`", "scenario.yaml"),
    "no such policy": ({"policies": ["ruels"]}, "E_REF_MISSING", "ruels", "scenario.yaml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_forms_have_a_code_and_a_place(tmp_path, name):
    changes, code, words, file = WRONG[name]
    findings_of(loaded, tmp_path, **changes, code=code, words=words, file=file)


@pytest.mark.parametrize(
    ("time", "code"), [("at == 3", "E_EXPR_TYPE"), ("'now'", "E_EXPR_TYPE"), ("tme", "E_EXPR_UNKNOWN_NAME")]
)
def test_a_time_is_seconds(tmp_path, time, code):
    bundle = loaded(tmp_path, policy=PACE, time=time)
    findings_of(execute, bundle, tmp_path / "out", RunOptions(), code=code, file="scenario.yaml")


def test_findings_in_a_policy_are_those_of_the_policy(tmp_path):
    policy = {"rules": {"few": {"require": "calls <= 3"}}}
    bundle = loaded(tmp_path, policy=policy)
    findings_of(execute, bundle, tmp_path / "out", RunOptions(), code="E_EXPR_UNKNOWN_NAME", file="rules.yaml")
