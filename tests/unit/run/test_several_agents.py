"""Several agents in one scenario: turns, what each of them sees, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.binding import observation_digest
from specledger.core.rng import Stream
from specledger.evidence.result import Tally
from specledger.kinds import load
from specledger.run.loop import run
from specledger.verify.run_order import RunOrder
from tests.toys import findings_of

WORLD: dict[str, Any] = {
    "spec": "world/v1",
    "name": "two",
    "state": {"a": "int", "b": "int", "met": "bool", "told": "string"},
    "start": {"a": "0", "b": "5", "met": "false", "told": "''"},
    "actions": {
        "right": {"effects": [{"set": "a", "to": "a + 1"}, {"set": "told", "to": "others.b.op"}]},
        "left": {"effects": [{"set": "b", "to": "b - 1"}, {"set": "told", "to": "others.a.op"}]},
        "wait": {},
    },
    "every_step": [{"set": "met", "to": "met || a >= b"}],
    "observe": {"met": "met"},
    "agents": {
        "a": {"observe": {"mine": "a", "other": "b"}, "actions": ["right", "wait"]},
        "b": {"observe": {"mine": "b"}, "actions": ["left", "wait"]},
    },
    "record": {"a": "next.a", "b": "next.b", "told": "next.told"},
    "success": "met",
}
WALKER: dict[str, Any] = {
    "spec": "agent/v1",
    "name": "walker",
    "memory": {"fields": {"trail": {"type": {"type": "array", "items": "int", "maxItems": 99}, "start": "[mine]"}}},
    "remember": [{"id": "trail", "effect": {"append": "trail", "value": "seen.mine"}}],
    "candidates": [{"op": "right"}, {"op": "wait"}],
    "score": "action.op == 'wait' ? 0 : 1",
}
BACK = {**WALKER, "name": "back", "candidates": [{"op": "left"}, {"op": "wait"}]}
FREE: dict[str, Any] = {"spec": "governor/v1", "name": "free", "gates": [], "choose": {"maximise": "proposal.score"}}
METERED: dict[str, Any] = {
    "spec": "governor/v1",
    "name": "metered",
    "cost": {"stride": "action.op == 'wait' ? 0 : 1"},
    "memory": {"fields": {"spent": {"type": "int", "start": "0"}}},
    "remember": [{"id": "spent", "effect": {"set": "spent", "to": "spent + (seen.mine == mine ? 0 : 1)"}}],
    "potentials": {"gap": {"is": "now.b - now.a"}},
    "gates": [{"id": "budget", "deny": "cost > 0 && spent >= 2", "reason": "spent", "witness": {"spent": "spent"}}],
    "choose": {"maximise": "proposal.score"},
}
TWO: dict[str, Any] = {
    "spec": "scenario/v1",
    "name": "both",
    "world": "two",
    "agents": {"a": {"agent": "walker", "governor": "metered"}, "b": {"agent": "back", "governor": "free"}},
    "order": ["a", "b"],
    "horizon": 3,
}


@pytest.fixture
def bundle(tmp_path: Path):
    """The bundle of the scenario, with changes of it and of the other specs by name."""

    def make(more=(), **changes):
        specs = {each["name"]: each for each in (WORLD, WALKER, BACK, FREE, METERED, TWO)}
        specs["both"] = {key: value for key, value in {**TWO, **dict(more)}.items() if value is not None}
        for name, changed in changes.items():
            specs[name] = {key: value for key, value in {**specs[name], **changed}.items() if value is not None}
        for name, spec in specs.items():
            (tmp_path / f"{name}.yaml").write_text(json.dumps(spec), encoding="utf-8")
        return load(str(tmp_path / "both.yaml"))[0]

    return make


@pytest.fixture
def ran(bundle):
    """The events of a run."""
    return lambda more=(), **changes: list(run(compile_scenario(bundle(more, **changes))))


def of(events, *types):
    return [event.body for event in events if event.type in types]


@pytest.mark.medium
def test_in_turns_each_agent_acts_before_the_next_one_looks(ran):
    events = ran({"horizon": 2})
    told = [(event.type, event.body.get("agent")) for event in events if event.type in ("commit", "step")]
    assert told == [(kind, name) for name in ("a", "b") for kind in ("commit", "step")] * 2
    assert [step["record"] for step in of(events, "step")[:2]] == [
        {"a": 1, "b": 5, "told": ""},
        {"a": 1, "b": 4, "told": ""},
    ]
    assert [step["success"] for step in of(events, "step")] == [False] * 4


@pytest.mark.parametrize(
    ("turns", "seen"),
    [
        ("order", [{"mine": 0, "other": 5}, {"mine": 5}, {"mine": 1, "other": 4}, {"mine": 4}]),
        ("simultaneous", [{"mine": 0, "other": 5}, {"mine": 5}, {"mine": 1, "other": 4}, {"mine": 4}]),
    ],
)
def test_each_agent_sees_the_present_state(ran, turns, seen):
    """Also what another agent, or a drift, has changed since it acted."""
    events = ran({"turns": turns, "horizon": 2})
    told = [commit["observation"] for commit in of(events, "commit")]
    assert told == [observation_digest({"met": False, **each}) for each in seen]


def test_each_agent_draws_from_streams_of_its_own(ran):
    draw = {"toss": {"draw": {"n": {"from": "range(1000)", "stream": "coin"}}, "chance": [{"set": "a", "to": "n"}]}}
    may = {name: {**WORLD["agents"][name], "actions": ["toss"]} for name in ("a", "b")}
    toss = {"candidates": [{"op": "toss"}], "score": "0"}
    events = ran(
        {"seed": 7, "horizon": 2},
        two={"actions": draw, "agents": may},
        walker=toss,
        back=toss,
        metered={"cost": None, "gates": []},
    )
    drawn = [(step["t"], step["agent"], step["chance"]["drawn"]["n"]) for step in of(events, "step")]
    assert drawn == [
        (t, agent, Stream.named(7, "action", "coin", "toss", 0, t, "n", agent).choice(range(1000)))
        for t in range(2)
        for agent in ("a", "b")
    ]


def test_at_one_moment_all_sets_are_committed_before_any_is_judged(ran):
    events = ran({"turns": "simultaneous", "horizon": 2})
    told = [(event.type, event.body.get("agent")) for event in events if event.type in ("commit", "step")]
    assert told == [(kind, name) for kind in ("commit", "step") for name in ("a", "b")] * 2
    first, second = of(events, "step")[:2]
    assert (first["after"], first["success"], second["success"]) == (second["before"], None, False)
    assert [step["record"]["told"] for step in (first, second)] == ["left", "right"]
    assert second["inputs"] == {"others": {"a": {"op": "right"}, "b": {"op": ""}}}


@pytest.mark.parametrize("turns", ["order", "simultaneous"])
def test_each_agent_has_a_budget_a_memory_and_figures_of_its_own(ran, turns):
    events = ran({"turns": turns})
    last = of(events, "commit")[-2:]
    assert [len(commit["proposals"]) for commit in last] == [2, 2]
    assert [step["chosen"] for step in of(events, "step")] == [0, 0, 0, 0, 1, 0]
    end = of(events, "end")[0]
    assert end == {"episodes": 1, "steps": 3, "gates": {"a.schema": 0, "a.budget": 1, "b.schema": 0}}


def test_what_another_agent_does_is_a_rebase_of_a_potential(ran):
    steps = of(ran({"horizon": 1}), "step")
    assert steps[0]["potentials"] == {"gap": {"from": 5, "to": 4}}
    assert steps[1]["rebases"] == [{"agent": "a", "potential": "gap", "cause": "b", "from": 4, "to": 3}]


def test_a_token_of_one_agent_permits_nothing_to_another(ran):
    same = {"actions": {**WORLD["actions"], "right": {}, "left": {}}}
    steps = of(ran({"turns": "simultaneous"}, two=same), "step")
    assert len({step["token"]["scope"] for step in steps}) == len(steps)


def test_an_episode_that_ends_in_mid_step_counts_that_step(ran):
    events = ran({"until": "a == 2"})
    assert [len(of(events, "step")), *(end["steps"] for end in of(events, "episode_end"))] == [3, 2]


def test_an_invariant_that_remembers_every_action_is_judged_once_a_turn(ran, tmp_path):
    counts = {
        "spec": "invariant/v1",
        "name": "counts",
        "memory": {"fields": {"strides": {"type": "int", "start": "0"}}},
        "remember": [{"id": "stride", "on": "action", "effect": {"set": "strides", "to": "strides + 1"}}],
        "require": "now.a - previous.a <= 1 && strides < 5",
        "witness": {"strides": "strides"},
    }
    (tmp_path / "counts.yaml").write_text(json.dumps(counts), encoding="utf-8")
    events = ran({"turns": "simultaneous", "invariants": ["counts"]})
    broken = [[each["witness"] for each in step["violations"]] for step in of(events, "step")]
    assert broken == [[], [], [], [], [], [{"strides": 6}]]


WRONG: dict[str, Any] = {
    "an agent that the world does not have": (
        {"agents": {**TWO["agents"], "c": {"agent": "walker", "governor": "free"}}, "order": ["a", "b", "c"]},
        {},
        "E_AGENTS",
        "no agent 'c'",
    ),
    "an agent of the world is left out": (
        {"agents": {"a": TWO["agents"]["a"], "c": TWO["agents"]["b"]}, "order": ["a", "c"]},
        {},
        "E_AGENTS",
        "'b' of the world 'two' is left out",
    ),
    "an order that leaves an agent out": ({"order": ["a"]}, {}, "E_AGENTS", "leaves out the agent 'b'"),
    "no order": ({"order": None}, {}, "E_AGENTS", "have no order"),
    "an order with one agent twice": ({"order": ["a", "b", "a"]}, {}, "E_AGENTS", "'a' is listed twice"),
    "an order of unknown agents": ({"order": ["a", "b", "bb"]}, {}, "E_AGENTS", "no agent 'bb'"),
    "one agent in a world for two": ({"agents": None, "order": None, "agent": "walker", "governor": "free"}, {}, "E_AGENTS", "for the agents a, b"),
    "two agents in a world for one": ({}, {"two": {"agents": None, "actions": {"left": {}, "right": {}, "wait": {}}}}, "E_AGENTS", "for one agent"),
    "an agent beside the agents": ({"agent": "walker"}, {}, "E_SPEC_VALUE", "agent"),
    "turns of one agent": ({"agents": None, "order": None, "agent": "walker", "governor": "free", "turns": "order"}, {}, "E_SPEC_VALUE", "several `agents`"),
    "an action that the agent may not take": ({}, {"walker": {"candidates": [{"op": "left"}]}}, "E_AGENT_CANDIDATE", "'left' is not among `agents.a.actions`"),
    "an action that the world does not have": ({}, {"two": {"agents": {**WORLD["agents"], "b": {"actions": ["lift"]}}}}, "E_WORLD_AGENT", "no action 'lift'"),
    "a label that all agents see": ({}, {"two": {"agents": {**WORLD["agents"], "b": {"observe": {"mine": "b", "met": "met"}}}}}, "E_WORLD_AGENT", "'met'"),
    "a probe of no agent": ({"probes": ["p"]}, {}, "E_AGENTS", "names no agent"),
    "a probe of an agent without a kernel": ({"agents": {**TWO["agents"], "a": {**TWO["agents"]["a"], "probes": ["p"]}}}, {}, "E_ADMISSION", "this governor admits none"),
    "an agent that reads another one's memory": ({}, {"back": {"memory": None, "remember": [], "score": "size(trail)"}}, "E_AGENT_MEMORY", "`trail`"),
    "an observation that reads a memory": (
        {},
        {"two": {"agents": {**WORLD["agents"], "b": {"observe": {"mine": "b", "trod": "size(trail)"}}}}},
        "E_AGENT_MEMORY",
        "`trail`",
    ),
    "a governor that reads another governor's memory": ({}, {"free": {"choose": {"maximise": "spent"}}}, "E_AGENT_MEMORY", "`spent`"),
    "an agent from outside": (
        {},
        {"walker": {"candidates": None, "score": None, "memory": None, "remember": None, "outside": {"python": "a:b"}}},
        "E_AGENTS",
        "asked outside",
    ),
}  # fmt: skip


OF_PROBES = {"a probe of no agent", "a probe of an agent without a kernel"}


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=[pytest.mark.wing("kernel")] * (name in OF_PROBES)) for name in WRONG]
)
def test_what_is_wrong_has_a_code_a_place_and_words(what, bundle, tmp_path):
    more, changes, code, words = WRONG[what]
    (tmp_path / "p.yaml").write_text((Path("specs/probe/p4-bypass.yaml")).read_text().replace("p4-bypass", "p"))
    caught = findings_of(lambda: compile_scenario(bundle(more, **changes)))
    found = [one for one in caught if one.code == code and words in one.message]
    assert found, [(one.code, one.message) for one in caught]
    assert all(one.span is not None for one in found)


@pytest.mark.slow
def test_a_probe_challenges_the_agent_that_it_is_listed_under(tmp_path):
    grid = {"spec": "world/v1", "name": "grid", "extends": "toy-gridworld", "agents": {"a": {}, "b": {}}}
    (resource,) = load("toy-resource", kind="scenario", set=["with.seed=13"])
    kernels = {
        "spec": "scenario/v1",
        "name": "kernels",
        "world": {"use": "grid", "with": {"rng_seed": 13}},
        "map": resource.main.data["map"],
        "seed": 13,
        "agents": {
            "a": {"agent": "honest", "governor": "axion-kernel", "probes": ["p5-causal"]},
            "b": {"agent": "pseudo", "governor": "axion-kernel", "probes": ["p5-causal"]},
        },
        "order": ["a", "b"],
        "horizon": 4,
    }
    for spec in (grid, kernels):
        (tmp_path / f"{spec['name']}.yaml").write_text(json.dumps(spec), encoding="utf-8")
    order, tally = RunOrder(), Tally()
    for event in run(compile_scenario(load(str(tmp_path / "kernels.yaml"))[0])):
        order.add(event.type, event.body)  # one audit log of both kernels, and each in its turn
        tally.add(event.type, event.body)
    probes = tally.result()["probes"]
    assert probes.keys() == {"a.p5-causal", "b.p5-causal"}
    assert (probes["a.p5-causal"].get("FAIL"), probes["b.p5-causal"]["FAIL"] > 0) == (None, True)
