"""The result of an action: read by effects and outcomes, simulated where nothing from outside answers."""

from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.expr import EvaluationError
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.toys import documents_of, write_specs

ASK: dict[str, Any] = {
    "args": {"amount": "int"},
    "result": {"ok": "bool", "left": {"type": "integer", "minimum": 0, "maximum": 9}},
    "simulate": {"ok": "amount < limit", "left": "amount"},
    "effects": [{"set": "approved", "to": "approved + result.left", "when": "result.ok"}],
    "outcome": {"agreed": "result.ok"},
}
AGENT: dict[str, Any] = {"candidates": [{"op": "ask", "for_each": {"amount": "[1, 2]"}}], "score": "action.amount"}
GOVERNOR: dict[str, Any] = {"gates": [], "choose": {"maximise": "proposal.score"}}
FINE: dict[str, Any] = {"require": "approved >= 0"}


def loaded(folder, **changes):
    world = {
        "state": {"approved": "int", "limit": "int"},
        "start": {"approved": "0", "limit": "2"},
        "actions": {"ask": {key: value for key, value in (ASK | changes).items() if value is not None}},
        "observe": {"approved": "approved"},
    }
    others = {"invariant/fine": FINE}
    documents = documents_of(world, AGENT, GOVERNOR, others, horizon=3, invariants=["fine"])
    return load(write_specs(folder, documents))[0]


def step_of(folder, **changes):
    return compile_scenario(loaded(folder, **changes)).actors[0].step


def test_a_result_from_outside_comes_before_what_is_simulated(tmp_path):
    step = step_of(tmp_path)
    state, call = {"approved": 0, "limit": 2}, {"op": "ask", "amount": 1}
    assert step(state, "ask", call, {}) == ({"approved": 1, "limit": 2}, {"agreed": True})
    told = {"result": {"ok": True, "left": 7}}
    assert step(state, "ask", call, told) == ({"approved": 7, "limit": 2}, {"agreed": True})
    refused = {"result": {"ok": False, "left": 7}}
    assert step(state, "ask", call, refused) == ({"approved": 0, "limit": 2}, {"agreed": False})


def test_a_result_that_nothing_gives_has_no_value(tmp_path):
    step = step_of(tmp_path, simulate=None)
    with pytest.raises(EvaluationError) as error:
        step({"approved": 0, "limit": 2}, "ask", {"op": "ask", "amount": 1}, {})
    assert error.value.code == "E_RESULT_ABSENT"


def test_a_result_that_nothing_reads_is_not_needed(tmp_path):
    step = step_of(tmp_path, simulate=None, effects=None, outcome=None)
    assert step({"approved": 0, "limit": 2}, "ask", {"op": "ask", "amount": 1}, {})[0]["approved"] == 0


def test_what_is_simulated_keeps_the_declared_type(tmp_path):
    step = step_of(tmp_path)
    with pytest.raises(EvaluationError):
        step({"approved": 0, "limit": 200}, "ask", {"op": "ask", "amount": 10}, {})


def test_a_simulated_run_verifies(tmp_path):
    finished = execute(loaded(tmp_path), tmp_path / "out")
    assert finished.verdict == "PASS"
    assert verify(tmp_path / "out").verdict == "PASS"


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"simulate": {"ok": "true"}}, {"E_WORLD_RESULT"}),
        ({"simulate": {"ok": "true", "left": "1", "more": "1"}}, {"E_WORLD_RESULT"}),
        ({"simulate": {"ok": "1", "left": "1"}}, {"E_EXPR_TYPE"}),
        ({"result": {"ok": "boolean", "left": "int"}}, {"E_DECLARATION"}),
    ],
    ids=["a field left out", "a field too many", "another type", "an unknown type"],
)
def test_wrong_results_are_findings(tmp_path, changes, codes):
    with pytest.raises(Rejected) as rejected:
        compile_scenario(loaded(tmp_path, **changes))
    assert codes <= {diagnostic.code for diagnostic in rejected.value.diagnostics}
