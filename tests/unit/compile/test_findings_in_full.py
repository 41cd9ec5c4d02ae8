"""Mistakes in scenarios and their agents: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from tests.toys import number_scenario, plan_of, told_of

# what is changed in the world of one number, and all that is said about it
MISTAKES = {
    "a world for several agents and a scenario of one": (
        {"world": {"agents": {"ann": {}, "bob": {}}}},
        ["E_AGENTS at `world`: the world 'world' is for the agents ann, bob, and this scenario names one | hint: write `agents:` with an agent and a governor for each of them, and their `order`"],
    ),
    "a world for one agent and a scenario of several": (
        {"scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"]}},
        ["E_AGENTS at `agents`: the world 'world' is for one agent | hint: the world's `agents` says what each of them sees, and which actions it may take"],
    ),
    "an agent that the world does not have": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}, "bop": {"agent": "agent", "governor": "governor"}, "zed": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob", "bop", "zed"]}},
        [
            "E_AGENTS at `bop`: the world 'world' has no agent 'bop' | hint: did you mean `bob`?",
            "E_AGENTS at `zed`: the world 'world' has no agent 'zed' | hint: its agents are ann, bob",
        ],
    ),
    "an agent that is left out": (
        {"world": {"agents": {"ann": {}, "bob": {}, "cid": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"]}},
        ["E_AGENTS at `agents`: the agent 'cid' of the world 'world' is left out | hint: add `cid:`"],
    ),
    "no order": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": None}},
        ["E_AGENTS at `agents`: the agents have no order | hint: add `order: [ann, bob]`, as they act"],
    ),
    "an order of others": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "zed", "ann"]}},
        [
            "E_AGENTS at `order`: the order leaves out the agent 'bob' | hint: list each of ann, bob once, as they act",
            "E_AGENTS at `zed`: there is no agent 'zed' | hint: list each of ann, bob once, as they act",
            "E_AGENTS at `ann`: the agent 'ann' is listed twice | hint: list each of ann, bob once, as they act",
        ],
    ),
    "an agent outside among several": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "agent": {"candidates": None, "score": None, "outside": {"command": ["python", "a.py"]}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"]}},
        [
            "E_AGENTS at `agent`: 'agent' is asked outside, as one of several agents | hint: run it as the one agent of a scenario, whose world moves the others",
            "E_AGENTS at `agent`: 'agent' is asked outside, as one of several agents | hint: run it as the one agent of a scenario, whose world moves the others",
        ],
    ),
    "a memory that another agent reads": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "mind", "governor": "governor"}}, "order": ["ann", "bob"]}, "agent": {"memory": {"fields": {"kept": {"type": "int", "start": "0"}}}}, "agent/mind": {"candidates": [{"op": "add", "for_each": {"n": "[1, 2, 3]"}}], "score": "action.n + kept"}},
        ["E_AGENT_MEMORY at `kept`: `kept` is in the memory of the agent ann, which nothing else reads | hint: a label of the agent's `observe` shows what it may know of the state"],
    ),
    "a memory of a governor that an agent reads": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"]}, "governor": {"memory": {"fields": {"kept": {"type": "int", "start": "0"}}}}, "agent": {"score": "kept"}},
        ["E_AGENT_MEMORY at `kept`: `kept` is in the memory of the governor of bob, which nothing else reads | hint: a label of the agent's `observe` shows what it may know of the state"],
    ),
    "no horizon": (
        {"scenario": {"horizon": None}},
        ["E_SPEC_MISSING_KEY at `spec: scenario/v1`: a scenario needs the key `horizon` | hint: add `horizon: 50`"],
    ),
    "a time that is no integer": (
        {"scenario": {"time": "t > 1"}},
        ["E_EXPR_TYPE at `t > 1`: a time is seconds as int or qfixed, not bool | hint: as in `t * 60`"],
    ),
    "a memory of an invariant of several agents": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"]}, "governor": {"invariants": ["few"]}, "invariant/few": {"memory": {"fields": {"n": {"type": "int", "start": "0"}}}, "remember": [{"id": "w", "effect": {"set": "n", "to": "n + (has(outcome.was) ? 1 : 0)"}}], "require": "n < 9"}},
        ["E_MEMORY at `id: w`: 'outcome' is that of one agent, and a step has an action of each | hint: add `on: action` to write after every action"],
    ),
    "a memory of an invariant that reads who acts": (
        {"world": {"agents": {"ann": {}, "bob": {}}}, "scenario": {"agent": None, "governor": None, "agents": {"ann": {"agent": "agent", "governor": "governor"}, "bob": {"agent": "agent", "governor": "governor"}}, "order": ["ann", "bob"], "turns": "simultaneous"}, "governor": {"invariants": ["few"]}, "invariant/few": {"memory": {"fields": {"n": {"type": "int", "start": "0"}}}, "remember": [{"id": "w", "when": "actor == 'ann'", "effect": {"set": "n", "to": "1"}}], "require": "n < 9"}},
        ["E_MEMORY at `id: w`: 'actor' is that of one agent, and a step has an action of each | hint: add `on: action` to write after every action"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    assert told_of(plan_of, number_scenario(Path(), **changes)) == said
