"""Two causes of failure that a result counts under one name: each has its failing case, and the evidence verifies."""

import json
from typing import Any

from specledger.evidence.layout import COUNTEREXAMPLES
from tests.toys import FREE, write_specs

WORLD: dict[str, Any] = {
    "state": {"n": "int"},
    "start": {"n": 0},
    "actions": {"go": {"effects": [{"set": "n", "to": "n + 1"}]}},
    "observe": {"n": "n"},
    "agents": {"pol": {}, "other": {}},
}
LIMIT: dict[str, Any] = {"gates": [{"id": "enough", "deny": "n >= 3", "reason": "enough"}], "choose": {"maximise": "0"}}
AGENT: dict[str, Any] = {"candidates": [{"op": "go"}], "score": "0"}
SCENARIO: dict[str, Any] = {
    "world": "world",
    "agents": {"pol": {"agent": "agent", "governor": "limit"}, "other": {"agent": "agent", "governor": "governor"}},
    "order": ["pol", "other"],
    "turns": "order",
    "policies": ["pol"],
    "horizon": 4,
}


def test_a_rule_and_an_agent_without_an_action_may_have_one_name(spec, tmp_path):
    rules = {"progress": {"when": {"tool": "go"}, "require": "false"}}
    documents: dict[str, dict[str, Any]] = {
        "world": WORLD,
        "agent": AGENT,
        "governor": FREE,
        "governor/limit": LIMIT,
        "scenario": SCENARIO,
    }
    path = write_specs(tmp_path, documents | {"policy/pol": {"rules": rules}})
    out = tmp_path / "out"
    spec("run", str(path), "--out", str(out))
    assert "pol.progress" in json.loads((out / "manifest.json").read_bytes())["result"]["violations"]
    assert len(list((out / COUNTEREXAMPLES).glob("*.json"))) >= 2
    assert spec("verify", str(out)).status == 0
