"""What a kernel is compiled to, and every mistake in one: its place, its words and its hint in full."""

from typing import Any

import pytest

from specledger.spec.agent import Requests
from specledger.wings.kernel.compile import _request
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.procedure import DecisionPoint
from tests.toys import number_scenario, plan_of, told_of

ALLOWED = {"max_calls": 2, "per_ms": 100, "expiry_ms": 300}
ADMISSION: Any = {
    "document": "open_proposal",
    "env": "now",
    "vocabulary": "axion-claims",
    "counterfactuals": 1,
    "grants": {"add": {"allowed_ops": ["add"], **ALLOWED}},
    "free": {"skip": {"allowed_ops": ["skip"], **ALLOWED}},
}
WORLD: Any = {
    "state": {"x": "int", "y": "int"},
    "start": {"x": 0, "y": 1},
    "inputs": None,
    "observe": {"x": "x", "y": "y"},
}
VARIABLES: Any = {
    "variables": {"x": {"read": "x", "effects": [{"set": "x", "to": "value"}]}},
    "alternatives": {"x": "[x + 1]"},
}
AGENT: Any = {"predicts": True, "narration": {"vary": ["x"]}}
OTHER: Any = {"predicts": True, "candidates": [{"op": "add", "for_each": {"n": "[3]"}}], "score": "0 - action.n"}


def kernel(
    folder, *, admission: Any = None, world: Any = None, agent: Any = None, others: Any = None, governor: Any = None
):
    given = {"supply": None, "admission": {**ADMISSION, **(admission or {})}, **(governor or {})}
    documents: Any = {
        "governor": given,
        "world": {**WORLD, **VARIABLES, **(world or {})},
        "agent": {**AGENT, **(agent or {})},
    }
    return number_scenario(folder, **documents, **(others or {}))


TWO: Any = {
    "variables": {**VARIABLES["variables"], "y": {"read": "y", "effects": [{"set": "y", "to": "value"}]}},
    "alternatives": {"x": "[x + 1]", "y": "[y + 1]"},
}
WITHOUT = (
    "E_ADMISSION at `agent`: its governor admits documents: it needs `predicts: true` and `narration` | hint: write in "
)
MISTAKES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an environment that is no record": (
        {"admission": {"env": "x"}},
        ["E_ADMISSION at `x`: `env` is a record, not int"],
    ),
    "a misspelt action of a grant": (
        {"admission": {"grants": {"add": {"allowed_ops": ["add", "adds"], **ALLOWED}}}},
        [
            "E_ADMISSION at `adds`: `add` allows 'adds', which is no action of the world | expected: one of add | "
            "hint: did you mean `add`?"
        ],
    ),
    "actions that are like none, of a grant and of what is free": (
        {
            "admission": {
                "grants": {"add": {"allowed_ops": ["zzz"], **ALLOWED}},
                "free": {"add": {"allowed_ops": ["yyy"], **ALLOWED}, "skip": {"allowed_ops": ["xxx"], **ALLOWED}},
            }
        },
        [
            "E_ADMISSION at `zzz`: `add` allows 'zzz', which is no action of the world | expected: one of add",
            "E_ADMISSION at `yyy`: `add` allows 'yyy', which is no action of the world | expected: one of add",
        ],
    ),
    "variables that there are not": (
        {"agent": {"narration": {"vary": ["y", "z"]}}},
        [
            "E_ADMISSION at `vary`: the world has none of these variables, so the agent has no reason to state | "
            "hint: the world has x"
        ],
    ),
    "variables that there are not, where there are two": (
        {"agent": {"narration": {"vary": ["z"]}}, "world": TWO},
        [
            "E_ADMISSION at `vary`: the world has none of these variables, so the agent has no reason to state | "
            "hint: the world has x, y"
        ],
    ),
    "an agent without narration where there are two variables": (
        {"agent": {"narration": None}, "world": TWO},
        [f"{WITHOUT}the agent `predicts: true` and `narration: {{vary: [x, y]}}`"],
    ),
    "a world that draws in a step": (
        {
            "world": {"chance": {"draw": {"d": {"from": "[1, 2]"}}, "effects": [{"set": "x", "to": "x + d"}]}},
            "agent": {"predicts": None},
        },
        [
            f"{WITHOUT}the agent `predicts: true` and `narration: {{vary: [x]}}`",
            "E_CHANCE at `governor`: the `chance` of every step of the world 'world' draws, and the governor is a kernel",
        ],
    ),
    "a world without variables": (
        {"world": {"variables": {}, "alternatives": {}}},
        [
            "E_ADMISSION at `vary`: the world has none of these variables, so the agent has no reason to state | "
            "hint: declare `variables` and `alternatives` in the world"
        ],
    ),
    "an agent that predicts nothing": (
        {"agent": {"predicts": None, "narration": {"vary": ["x"]}}},
        [f"{WITHOUT}the agent `predicts: true` and `narration: {{vary: [x]}}`"],
    ),
    "an agent without narration": (
        {"agent": {"narration": None}},
        [f"{WITHOUT}the agent `predicts: true` and `narration: {{vary: [x]}}`"],
    ),
    "an agent without narration in a world without variables": (
        {"agent": {"narration": None}, "world": {"variables": {}, "alternatives": {}}},
        [
            f"{WITHOUT}the world what a reason may name, such as `variables: {{x: {{read: x, effects: [{{set: x, to: value}}]}}}}`, "
            'with other values in `alternatives: {x: "[...]"}`, and in the agent `predicts: true` and `narration: {vary: [x]}`'
        ],
    ),
    "who explains has a memory of other fields": (
        {
            "agent": {"narration": {"vary": ["x"], "by": "other"}},
            "others": {"agent/other": {**OTHER, "memory": {"fields": {"m": {"type": "int", "start": "1"}}}}},
        },
        ["E_ADMISSION at `other`: an agent that explains for another one has no memory, or one of the same fields"],
    ),
    "what is declared has a memory of other fields": (
        {
            "agent": {"narration": {"vary": ["x"], "declares": "other"}},
            "others": {"agent/other": {**OTHER, "memory": {"fields": {"m": {"type": "int", "start": "1"}}}}},
        },
        ["E_ADMISSION at `other`: an agent that explains for another one has no memory, or one of the same fields"],
    ),
}


@pytest.mark.parametrize(("changes", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_under_a_kernel_is_told_in_full(tmp_path, changes, told):
    path = kernel(tmp_path, **changes)
    assert told_of(plan_of, path) == told


def made(folder, **changes):
    plan = plan_of(kernel(folder, **changes))
    return plan, kernel_of(plan.actors[0])


def test_what_a_plain_kernel_is_compiled_to(tmp_path):
    plan, found = made(tmp_path)
    scope = {"allowed_ops": ["add"], "rate_limit": {"max_calls": 2, "per_ms": 100}, "expiry_ms": 300}
    assert found.admission.grants == {"add": scope}
    assert found.admission.free == {"skip": {**scope, "allowed_ops": ["skip"]}}
    assert (found.ms_per_tick, found.gate_docs, found.signing, found.probes) == (100, {}, None, [])
    assert (found.deterministic, found.is_choice("add(3)"), found.is_choice("fly")) == (True, True, False)
    state = plan.start(0)
    assert found.unused(state) == ["x"]
    told = found.narration
    assert (told.vary, told.least, told.steps, told.confidence) == (("x",), 1, 1, None)
    assert (told.nonces, told.directional, told.abstains) == ("fresh", False, False)
    assert told.decider == told.teller == told.declared
    assert told.foresee is not None
    assert told.foresee(state, {"op": "add", "n": 2}) == {**state, "x": 2}
    assert told.request({"op": "add", "n": 2}) == {
        "capability": "add",
        "scope": scope,
        "justification": "the first step of the plan",
    }
    assert told.views.env(state) == {"x": 0, "y": 1}
    point = DecisionPoint(0, 0)
    assert found.weigh({"x": 0, "y": 1}, {}, {"op": "add", "n": 3}, state, point) == 3


NARRATED: dict[str, tuple[dict[str, Any], str, Any]] = {
    "a variable named twice": ({"narration": {"vary": ["x", "y", "x"]}}, "vary", ("x", "y")),
    "a plan of steps": ({"narration": {"vary": ["x"], "steps": 5}}, "steps", 5),
    "nonces": ({"narration": {"vary": ["x"], "nonces": "late"}}, "nonces", "late"),
    "sure": ({"narration": {"vary": ["x"], "confidence": 1}}, "confidence", 1),
    "nearly sure": ({"narration": {"vary": ["x"], "confidence": "0.999999"}}, "confidence", 0.999999),
    "not sure at all": ({"narration": {"vary": ["x"], "confidence": 0}}, "confidence", 0.0),
}


@pytest.mark.parametrize(("agent", "name", "value"), NARRATED.values(), ids=NARRATED)
def test_what_an_agent_narrates(tmp_path, agent, name, value):
    _, found = made(tmp_path, agent=agent)
    narrated = getattr(found.narration, name)
    assert (narrated, type(narrated)) == (value, type(value))


OTHERS: Any = {"agent/other": OTHER, "agent/third": {**OTHER, "score": "7"}}
EXPLAINED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "itself": ({}, ["agent", "agent", "agent"]),
    "another one, whose procedure is declared": ({"by": "other"}, ["agent", "other", "other"]),
    "itself, by another one's procedure": ({"declares": "other"}, ["agent", "agent", "other"]),
    "another one, by a third one's": ({"by": "other", "declares": "third"}, ["agent", "other", "third"]),
}


@pytest.mark.parametrize(("who", "names"), EXPLAINED.values(), ids=EXPLAINED)
def test_who_explains_and_whose_procedure_is_declared(tmp_path, who, names):
    _, found = made(tmp_path, agent={"narration": {"vary": ["x"], **who}}, others=OTHERS)
    told = found.narration
    assert [each.name for each in (told.decider, told.teller, told.declared) if each is not None] == names


REQUESTS: dict[str, tuple[dict[str, int], tuple[int, int, int]]] = {
    "as much as is granted": ({}, (2, 100, 300)),
    "fewer calls": ({"max_calls": 1}, (1, 100, 300)),
    "more calls": ({"max_calls": 9}, (9, 100, 300)),
    "another time": ({"per_ms": 7}, (2, 7, 300)),
    "another end": ({"expiry_ms": 8}, (2, 100, 8)),
}
GRANTS: Any = {"add": {"allowed_ops": ["add", "more"], "rate_limit": {"max_calls": 2, "per_ms": 100}, "expiry_ms": 300}}


@pytest.mark.parametrize(("wanted", "asked"), REQUESTS.values(), ids=REQUESTS)
def test_an_action_asks_for_its_capability_alone(wanted, asked):
    request = _request(GRANTS, Requests.model_validate(wanted))
    scope = {
        "allowed_ops": ["add"],
        "rate_limit": {"max_calls": asked[0], "per_ms": asked[1]},
        "expiry_ms": asked[2],
    }
    assert request({"op": "add"}) == {
        "capability": "add",
        "scope": scope,
        "justification": "the first step of the plan",
    }
    assert request({"op": "skip"}) is None


def test_an_agent_that_draws_is_not_deterministic_and_weighs_what_it_drew(tmp_path):
    drawn = {"draw": {"luck": {"stream": "luck", "from": "[5]"}}, "score": "action.n + luck"}
    _, found = made(tmp_path, agent=drawn)
    assert not found.deterministic
    assert found.weigh({"x": 0, "y": 1}, {}, {"op": "add", "n": 3}, None, DecisionPoint(0, 0)) == 8
