"""The type `json`: what no rule reads is carried, hashed and bounded, and an expression that reads it is wrong."""

from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import MAX_DEPTH
from specledger.expr import JSON, conforms
from specledger.kinds import load
from tests.toys import documents_of, findings_of, write_specs
from tests.wings.trajectories.test_recording import AGENT, ASKED, call, of, recorded, result

WORLD: dict[str, Any] = {
    "state": {"notes": "int"},
    "start": {"notes": "0"},
    "actions": {
        "note": {
            "args": {"what": "json"},
            "result": {"told": "json"},
            "effects": [{"set": "notes", "to": "notes + 1"}],
        },
        "other": {"args": {"tool": "string"}, "effects": []},
    },
    "observe": {"notes": "notes"},
}
GOVERNOR = {
    "gates": [{"id": "few", "require": "notes < 5", "reason": "many"}],
    "choose": {"maximise": "proposal.score"},
}
LIMIT = {"require": "notes <= 1"}
FEW = {"rules": {"few": {"memory": {"calls": {"count": {}}}, "require": "calls <= 3"}}}


def test_any_value_is_carried_and_hashed(tmp_path):
    what = {"a": [1, "b", None, {"c": True}], "d": 0.5}
    log = [ASKED, call(1, "note", what=what), result(1, '{"told": [1, {"x": "y"}]}')]
    summary, lines = recorded(tmp_path, log, world=WORLD, governor=GOVERNOR, policy=FEW, limit=LIMIT)
    assert summary["verdict"] == "PASS"
    carried = {"a": [1, "b", None, {"c": True}], "d": {"$number": "0.5"}}
    assert of(lines, "commit")[0]["proposals"][0]["action"] == {"op": "note", "what": carried}
    assert of(lines, "step")[0]["inputs"] == {"result": {"told": [1, {"x": "y"}]}}


@pytest.mark.parametrize(
    ("value", "fits"),
    [(None, True), ({"a": [1, "b"]}, True), (True, True), (1.5, False), ({"a": 0.5}, False), (object(), False)],
)
def test_values_are_json_without_floats(value, fits):
    assert conforms(value, JSON) is fits


def test_values_are_bounded_in_depth():
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert not conforms(deep, JSON)


def changed(**action):
    return {**WORLD, "actions": {**WORLD["actions"], "note": {**WORLD["actions"]["note"], **action}}}


@pytest.mark.parametrize(
    ("world", "governor", "code", "words"),
    [
        (changed(when="what == 1"), GOVERNOR, "E_EXPR_TYPE", "`what` is json, which is carried and read by nothing"),
        (changed(outcome={"o": "result.told"}), GOVERNOR, "E_EXPR_TYPE", "`told` is json"),
        (
            WORLD,
            {**GOVERNOR, "gates": [{"id": "few", "require": "action.what == 1", "reason": "many"}]},
            "E_EXPR_TYPE",
            "`what` is json",
        ),
        ({**WORLD, "state": {"notes": "json"}}, GOVERNOR, "E_DECLARATION", "`json` is the type of an argument"),
        (changed(args={"what": {"type": "array", "items": "json"}}), GOVERNOR, "E_DECLARATION", "`json` is the type"),
        (changed(args={"what": "jsn"}), GOVERNOR, "E_DECLARATION", "unknown type 'jsn'"),
    ],
    ids=["an effect", "an outcome", "a gate", "a state", "inside another type", "misspelt"],
)
def test_what_reads_it_is_a_finding(tmp_path, world, governor, code, words):
    documents = documents_of(world, AGENT, governor, {"invariant/limit": LIMIT}, invariants=["limit"])
    del documents["scenario"]["horizon"]
    bundle = load(write_specs(tmp_path / "specs", documents))[0]
    findings_of(compile_scenario, bundle, code=code, words=words)
