"""Results that are drawn: by named streams, after the action, in the receipt, foreseen by no gate, judged by rules."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.report.states import states
from tests.conformance.tampered.verifiers import by_tool
from tests.toys import documents_of, findings_of, plan_of, shipped_plan, write_specs
from tools.conformance import Laid

SEED, EPISODES, STEPS = 3, 6, 5
ASK: dict[str, Any] = {
    "args": {"amount": "int"},
    "result": {"ok": "bool", "limit": "int"},
    "draw": {"answered": {"from": [True, False], "weights": [2, 1], "stream": "office"}, "limit": {"from": [50, 200]}},
    "simulate": {"ok": "answered && amount <= limit", "limit": "limit"},
    "let": {"given": "result.ok ? amount : 0"},
    "effects": [
        {"set": "asked", "to": "asked + 1"},
        {"set": "approved", "to": "approved + given"},
        {"set": "refused", "to": "refused + 1", "when": "!result.ok"},
    ],
}
WORLD: dict[str, Any] = {
    "state": dict.fromkeys(("asked", "approved", "refused", "steps"), "int"),
    "start": dict.fromkeys(("asked", "approved", "refused", "steps"), "0"),
    "actions": {"ask": ASK},
    "every_step": [{"set": "steps", "to": "steps + 1"}],
    "observe": {"asked": "asked"},
    "record": {"approved": "next.approved", "asked": "next.asked", "steps": "next.steps"},
}
AGENT: dict[str, Any] = {
    "candidates": [{"op": "ask", "for_each": {"amount": "[asked % 2 == 0 ? 100 : 20]"}}],
    "score": "0",
}
RULES: dict[str, Any] = {
    "agreed": {
        "read": {"ok": {"path": "result.ok", "as": "bool", "of": "ask"}},
        "require": "ok",
        "severity": "warn",
    }
}


def path_of(folder, *, world=None, action=None, governor=None, agent=None, **scenario):
    given = {**WORLD, **(world or {})}
    given["actions"] = {"ask": {key: value for key, value in {**ASK, **(action or {})}.items() if value is not None}}
    best = {"gates": [], "choose": {"maximise": "0"}} if governor is None else governor
    scenario = {"seed": SEED, "episodes": EPISODES, "horizon": STEPS, **scenario}
    scenario = {key: value for key, value in scenario.items() if value is not None}
    documents = documents_of(given, agent or AGENT, best, others={"policy/rules": {"rules": RULES}}, **scenario)
    if "horizon" not in scenario:
        del documents["scenario"]["horizon"]
    return write_specs(folder / "specs", documents)


def simulated(folder, **changes):
    """Run it: its result, its receipts, and their bodies of steps with the actions that were proposed."""
    bundle = load(path_of(folder, **changes))[0]
    finished = execute(bundle, folder / "out", RunOptions())
    lines: list[Any] = [parse_canonical(line) for line in (folder / "out/receipts.jsonl").read_bytes().splitlines()]
    commits = [line["body"]["proposals"][0]["action"] for line in lines if line["type"] == "commit"]
    steps = [line["body"] for line in lines if line["type"] == "step"]
    return finished.manifest["result"], lines, list(zip(steps, commits, strict=True))


def test_a_result_is_what_the_named_streams_and_the_expressions_give(tmp_path):
    """A second way to compute it: from the receipts, the seed and the names alone."""
    _, lines, steps = simulated(tmp_path)
    approved: dict[int, int] = {}
    seen = set()
    for step, action in steps:
        where = step["episode"], step["t"]
        answered = Stream.named(SEED, "action", "office", "ask", *where, "answered").integer(0, 2) < 2
        limit = Stream.named(SEED, "action", "limit", "ask", *where, "limit").choice([50, 200])
        result = {"ok": answered and action["amount"] <= limit, "limit": limit}
        assert step["inputs"] == {"result": result}
        assert step["chance"]["drawn"] == {"answered": answered, "limit": limit}
        before = approved.get(where[0], 0)
        after = approved[where[0]] = before + (action["amount"] if result["ok"] else 0)
        changed = {"approved": {"from": before, "to": after}} if result["ok"] else step["chance"]["changed"]
        assert step["chance"]["changed"] == changed
        assert ("refused" in step["chance"]["changed"]) == (not result["ok"])
        assert step["record"] == {"approved": after, "asked": where[1] + 1, "steps": where[1] + 1}
        seen.add((answered, limit, result["ok"]))
    assert len(seen) == 4 + (False in {ok for answered, _, ok in seen if answered})
    assert len(steps) == EPISODES * STEPS
    evidence: Any = SimpleNamespace(
        specs=load(path_of(tmp_path))[0], bodies=lambda: [(line["type"], line["body"]) for line in lines]
    )
    assert len(list(states(evidence))) == len(steps)


def test_no_gate_foresees_it(tmp_path):
    """Neither an approval nor a refusal is in the state that a gate judges; an effect that does not read it is."""
    unseen = {"id": "unseen", "require": "next.approved == approved && next.refused == refused", "reason": "foreseen"}
    seen = {"id": "seen", "require": "next.asked == asked + 1 && next.steps == steps + 1", "reason": "not_counted"}
    summary, _, steps = simulated(
        tmp_path,
        governor={"gates": [unseen, seen], "choose": {"maximise": "0"}, "potentials": {"a": {"is": "approved"}}},
    )
    assert not any(summary["rejections"].values())
    for step, _ in steps:
        caused = [rebase["cause"] for rebase in step["rebases"]]
        assert caused == (["chance"] if step["inputs"]["result"]["ok"] else [])


@pytest.mark.parametrize("when", [True, False])
def test_what_waits_by_its_when_or_otherwise_follows_the_draw(tmp_path, when):
    guarded: dict[str, Any] = {
        "let": None,
        "when": "result.ok" if when else "!result.ok",
        "effects": [],
        "otherwise": [],
    }
    guarded["effects" if when else "otherwise"] = [{"set": "approved", "to": "approved + 1"}]
    guarded["otherwise" if when else "effects"] = [{"set": "refused", "to": "refused + 1"}]
    _, _, steps = simulated(tmp_path, action=guarded)
    for step, _ in steps:
        assert [*step["chance"]["changed"]] == ["approved" if step["inputs"]["result"]["ok"] else "refused"]


@pytest.mark.parametrize("replay", [True, False])
def test_rules_judge_it_and_both_verifiers_take_the_evidence(tmp_path, replay):
    summary, _, steps = simulated(tmp_path, policies=["rules"])
    counts = summary["rules"]["rules.agreed"]
    earlier = [step["inputs"]["result"]["ok"] for step, _ in steps if step["t"] < STEPS - 1]
    assert (counts["held"], counts["broken"]) == (sum(earlier), len(earlier) - sum(earlier))
    assert 0 < counts["held"] < len(earlier)
    assert verify(tmp_path / "out", replay=replay).intact
    assert by_tool(Laid(tmp_path / "out", {})).exit == 0


def test_a_recording_takes_what_was_given_back_and_draws_nothing(tmp_path):
    recorded = """{"messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "ask", "arguments": "{\\"amount\\": 7}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "{\\"ok\\": true, \\"limit\\": 1}"}]}"""
    (tmp_path / "specs").mkdir()
    (tmp_path / "log.json").write_text(recorded, encoding="utf-8")
    agent = {"trajectories": {"files": ["log.json"]}}
    _, _, ((step, _),) = simulated(tmp_path, agent=agent, horizon=None, episodes=None)
    assert (step["record"]["approved"], "chance" in step) == (7, False)
    assert verify(tmp_path / "out").intact


def test_where_a_list_is_empty_there_is_no_result(tmp_path):
    nothing = {"draw": {"answered": {"from": "[true].filter(a, false)"}}, "simulate": {"ok": "answered", "limit": "1"}}
    summary, _, steps = simulated(tmp_path, action=nothing, policies=["rules"])
    assert [step["inputs"] for step, _ in steps] == [{}] * len(steps)
    assert {step["record"]["asked"] for step, _ in steps} == {*range(1, STEPS + 1)}
    assert summary["rules"]["rules.agreed"]["unjudged"] == EPISODES * STEPS


WRONG: dict[str, Any] = {
    "a draw that nothing reads": ({"simulate": None, "result": None, "let": None, "effects": []}, "no `chance` or"),
    "a simulation that reads no draw": ({"simulate": {"ok": "true", "limit": "1"}}, "reads nothing that is drawn"),
    "an outcome of it": ({"outcome": {"ok": "result.ok"}}, "after gates have judged"),
    "an outcome by let": ({"outcome": {"sum": "given"}}, "after gates have judged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_forms_have_a_code_and_a_place(tmp_path, name):
    changes, words = WRONG[name]
    findings_of(plan_of, path_of(tmp_path, action=changes), code="E_CHANCE", words=words, file="world.yaml")


def test_a_drawn_value_is_no_argument(tmp_path):
    taken = {"draw": {"amount": {"from": [1]}}, "simulate": {"ok": "amount == 1", "limit": "1"}}
    findings_of(plan_of, path_of(tmp_path, action=taken), code="E_NAME_TAKEN", words="'amount'", file="world.yaml")


@pytest.mark.medium
@pytest.mark.wing("kernel")
def test_no_result_is_drawn_under_a_kernel():
    drawn = ("world.actions.noop.draw={d: {from: '[1]'}}", "world.actions.noop.result={n: int}")
    settings = (*drawn, "world.actions.noop.simulate={n: d}")
    findings_of(shipped_plan, "axion-basic", *settings, code="E_CHANCE", words="'noop'")
