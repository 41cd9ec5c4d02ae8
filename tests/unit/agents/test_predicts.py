"""Agents that look one step ahead: what `now` and `next` are, and in which worlds an agent may know them."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.agents.agent import Agent
from specledger.agents.propose import compile_weigh
from specledger.compile.plan import Plan
from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.spans import Text
from specledger.expr import Environment, RecordType, check
from specledger.lang.memory import Memory
from specledger.lang.scope import Let
from tests.toys import compile_specs

Document = dict[str, Any]

WORLD: Document = {
    "state": {"x": "int", "t": "int"},
    "start": {"x": "3", "t": "0"},
    "derived": {"double_x": "2 * x"},
    "actions": {
        "add": {"args": {"n": "int"}, "when": "n < 10", "effects": [{"set": "x", "to": "x + n"}]},
        "rest": {},
    },
    "every_step": [{"set": "t", "to": "t + 1"}],
    "observe": {"x": "x", "t": "t"},
}
AGENT: Document = {
    "predicts": True,
    "candidates": [{"op": "rest"}, {"op": "add", "for_each": {"n": "[1, 5, 20]"}}],
    "score": "next.double_x * 100 + now.double_x * 10 + next.t",
}


def compiled(folder: Path, world: Document, agent: Document, governor: Document) -> Plan:
    documents = {
        "world": WORLD | world,
        "agent": AGENT | agent,
        "governor": {"gates": [], "choose": {"maximise": "proposal.score"}} | governor,
        "scenario": {"world": "world", "governor": "governor", "agent": "agent", "horizon": 3},
    }
    return compile_specs(folder, documents)


def scores(plan: Plan, seen: Document) -> list[int]:
    return [proposal["score"] for proposal in plan.actors[0].propose(seen, {})]


def test_next_is_the_state_after_the_worlds_own_step(tmp_path: Path) -> None:
    plan = compiled(tmp_path, {}, {}, {})
    seen = plan.actors[0].observe(plan.start(0))
    expected = []
    actions: list[Document] = [{"op": "rest"}, *({"op": "add", "n": n} for n in (1, 5, 20))]
    for action in actions:
        after, _ = plan.actors[0].step(plan.start(0), action["op"], action, {})
        expected.append(200 * after["x"] + 60 + after["t"])
    assert scores(plan, seen) == expected == [661, 861, 1661, 661]


def test_more_may_be_observed_than_the_state(tmp_path: Path) -> None:
    plan = compiled(
        tmp_path, {"observe": {"x": "x", "t": "t", "far": "x > 100"}}, {"let": {"bonus": "far ? 1 : 0"}}, {}
    )
    assert scores(plan, {"x": 1, "t": 0, "far": True}) == [221, 421, 1221, 221]


def test_what_an_agent_claims_may_be_what_it_predicts(tmp_path: Path) -> None:
    told: Document = {"each": {"gain": "next.x - now.x"}, "claims": {"expected": "next.x"}, "score": "gain"}
    plan = compiled(tmp_path, {}, told, {"claims": {"expected": "int"}})
    assert [(each["score"], each["expected"]) for each in plan.actors[0].propose({"x": 3, "t": 0}, {})] == [
        (0, 3),
        (1, 4),
        (5, 8),
        (0, 3),
    ]


REFUSED: dict[str, tuple[Document, Document, str]] = {
    "a field is hidden": ({"observe": {"x": "x"}}, {}, "E_AGENT_PREDICTS"),
    "a field is shown changed": ({"observe": {"x": "x + 0", "t": "t"}}, {}, "E_AGENT_PREDICTS"),
    "a field is shown under another name": ({"observe": {"x": "t", "t": "x"}}, {}, "E_AGENT_PREDICTS"),
    "it does not say that it predicts": ({}, {"predicts": False}, "E_EXPR_UNKNOWN_NAME"),
    "it predicts before there is an action": ({}, {"let": {"early": "next.x"}}, "E_EXPR_UNKNOWN_NAME"),
}


@pytest.mark.parametrize(("world", "agent", "code"), REFUSED.values(), ids=REFUSED)
def test_an_agent_that_cannot_know_is_refused(tmp_path: Path, world: Document, agent: Document, code: str) -> None:
    with pytest.raises(Rejected) as rejected:
        compiled(tmp_path, world, agent, {})
    assert {one.code for one in rejected.value.diagnostics} == {code}


def test_a_step_that_needs_inputs_cannot_be_predicted(tmp_path: Path) -> None:
    with pytest.raises(Rejected) as rejected:
        compiled(tmp_path, {"inputs": {"gift": "int"}}, {}, {"supply": {"gift": "1"}})
    (finding,) = rejected.value.diagnostics
    assert finding.code == "E_AGENT_PREDICTS"
    assert "its step needs the input `gift`" in finding.message


def test_an_agent_that_does_not_predict_weighs_no_offer() -> None:
    nothing, score = RecordType("nothing", {}), check(Text.inline("7"), Environment(), Diagnostics())
    assert score is not None
    memory = Memory(nothing, nothing, "episode", Let(), ())
    agent = Agent(memory=memory, let=Let(), candidates=(), each=Let(), claims=Let(), asked={}, score=score)
    with pytest.raises(ValueError, match="an agent that does not predict cannot weigh what an offer leads to"):
        compile_weigh(agent)
    assert compile_weigh(replace(agent, state=nothing))({}, {}, {"op": "rest"}, {}, []) == 7
