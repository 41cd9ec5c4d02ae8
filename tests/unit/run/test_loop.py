"""The one loop: the order of its events, what errors and breaches do to it, and specs that a stranger writes."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.run.loop import run
from specledger.verify.checks import Broken, Status
from specledger.verify.run_order import RunOrder
from tests.toys import bodies, documents_of, followed, result, write_specs

WORLD: dict[str, Any] = {
    "state": {"x": "int"},
    "start": {"x": "0"},
    "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]}},
    "observe": {"x": "x"},
    "record": {"reached": "next.x"},
}
AGENT: dict[str, Any] = {"candidates": [{"op": "add", "for_each": {"n": "[1, 2]"}}], "score": "action.n"}
GOVERNOR: dict[str, Any] = {"gates": [], "choose": {"maximise": "proposal.score"}}
INNER: dict[str, Any] = {
    "state": {"n": "int"},
    "start": {"n": "0"},
    "actions": {"tick": {"args": {"by": "int"}, "effects": [{"set": "n", "to": "n + by"}]}},
    "receipt": {"grown": "next.n - n"},
}
PART = {"p": {"world": "inner", "follow": {"add": {"action": "tick", "args": {"by": "n"}}}}}
FINE: dict[str, Any] = {"require": "x >= 0"}


def loaded(folder, inner, invariant, jump, world, agent, governor, scenario):
    body = {"horizon": 4, "invariants": ["fine"], **scenario}
    others = {"world/inner": INNER | inner, "invariant/fine": FINE | invariant}
    others["drift/jump"] = {"at": "t == 2", "effects": [{"set": "x", "to": "x + 10"}]} | jump
    documents = documents_of(WORLD | world, AGENT | agent, GOVERNOR | governor, others, **body)
    return load(str(write_specs(folder, documents)))[0]


@pytest.fixture
def bundle(tmp_path):
    """Load the scenario; each keyword replaces fields of one spec."""

    def made(inner={}, invariant={}, jump={}, world={}, agent={}, governor={}, **scenario):  # noqa: B006 - only read
        return loaded(tmp_path, inner, invariant, jump, world, agent, governor, scenario)

    return made


@pytest.fixture
def make(bundle):
    return lambda **changes: compile_scenario(bundle(**changes))


def kinds(plan):
    return [event.type for event in run(plan)]


STEP = ["commit", "step"]


def test_the_order_of_events(make):
    plan = make(episodes=2, horizon=3)
    assert kinds(plan) == ["start", *["episode", *STEP * 3, "episode_end"] * 2, "end"]
    assert bodies(plan, "end") == [{"episodes": 2, "steps": 6, "gates": {"schema": 0}}]


def test_a_drift_comes_before_the_commitment_of_its_step(make):
    plan = make(drift=["jump"])
    assert kinds(plan) == ["start", "episode", *STEP, *STEP, "drift", *STEP, *STEP, "episode_end", "end"]
    (drift,) = bodies(plan, "drift")
    assert drift["changed"] == {"x": {"from": 4, "to": 14}}
    assert [step["record"] for step in bodies(plan)] == [{"reached": x} for x in (2, 4, 16, 18)]


def test_the_commitment_to_a_set_is_yielded_before_any_of_it_is_judged(make):
    told = []
    plan = make()

    def judge(*args):
        told.append("judge")
        return plan.actors[0].judge(*args)

    for event in run(replace(plan, actors=(replace(plan.actors[0], judge=judge),))):
        told.append(event.type)  # noqa: PERF401 - the order of both is the point
    assert told == ["start", "episode", *["commit", "judge", "step"] * 4, "episode_end", "end"]


def test_a_step_body_has_exactly_these_fields(make):
    (first, *_) = bodies(make(world={"parts": PART}))
    fields = "after before chosen chosen_hash cost decisions episode inputs parts potentials rebases record"
    assert sorted(first) == [*fields.split(), "success", "t", "token", "violations"]
    assert first["chosen"] == 1
    assert first["record"] == {"reached": 2}
    assert sorted(first["token"]) == ["commitment", "id", "proposal", "scope"]
    assert first["token"]["proposal"] == first["chosen_hash"]
    assert sorted(first["parts"]["p"]) == ["accepted", "after", "before", "grown", "tip", "tip_after"]


def test_steps_join_and_tokens_are_bound_to_the_commitment_of_their_step(make):
    plan = make(episodes=2)
    root = state = None
    identifiers = []
    for event in run(plan):
        if event.type == "episode":
            state = event.body["digest"]
        elif event.type == "commit":
            root = event.body["root"]
        elif event.type == "step":
            assert event.body["before"] == state
            assert event.body["token"]["commitment"] == root
            state = event.body["after"]
            identifiers.append(event.body["token"]["id"])
        elif event.type == "episode_end":
            assert event.body["state"] == state
    assert len(set(identifiers)) == len(identifiers) == 8


def test_a_run_is_a_pure_function_of_its_plan(make):
    plan = make(world={"parts": PART}, episodes=2)
    assert list(run(plan)) == list(run(plan))


# --- ends of episodes


def test_until_ends_an_episode_early_and_the_next_begins(make):
    plan = make(until="x >= 4", episodes=2, horizon=9)
    assert [(end["ended"], end["steps"]) for end in bodies(plan, "episode_end")] == [("until", 2)] * 2
    assert [step["t"] for step in bodies(plan)] == [0, 1, 0, 1]


def test_the_first_success_is_kept(make):
    plan = make(world={"success": "x >= 4 && x < 6"})
    assert [step["success"] for step in bodies(plan)] == [False, True, False, False]
    (end,) = bodies(plan, "episode_end")
    assert (end["success"], end["first_success"]) == (True, 1)
    (end,) = bodies(make(world={"success": "x > 99"}), "episode_end")
    assert (end["success"], end["first_success"]) == (False, None)


def test_a_success_that_no_action_brought_counts_too(make):
    """What a receipt calls a success, the episode's end does as well."""
    plan = make(world={"success": "x == 0"}, governor={"gates": [{"id": "never", "deny": "true", "reason": "r"}]})
    assert [step["success"] for step in bodies(plan)] == [True] * 4
    (end,) = bodies(plan, "episode_end")
    assert (end["success"], end["first_success"]) == (True, 0)


def test_nothing_admitted_is_receipted_also_for_parts(make):
    never = {"gates": [{"id": "never", "deny": "true", "reason": "r"}]}
    plan = make(world={"parts": PART}, governor=never, episodes=2)
    tip = "0" * 64
    for step in bodies(plan):
        part = step["parts"]["p"]
        tip = "0" * 64 if step["t"] == 0 else tip
        assert (step["chosen"], step["record"], step["cost"], step["inputs"]) == (None, None, None, {})
        assert step["before"] == step["after"]
        assert (part["accepted"], part["before"], part["grown"]) == (False, part["after"], 2)  # of the most valued
        assert part["tip"] == tip
        tip = part["tip_after"]
    assert result(plan)["violations"] == {"progress": 8}


@pytest.mark.parametrize("field", ["tip", "tip_after", "grown"])
def test_the_receipt_of_a_part_is_chained(make, field):
    """Its own tip covers what it says; an order that is given another one refuses the step."""
    events = list(run(make(world={"parts": PART}, horizon=1)))
    wrong = {"tip": "1" * 64, "tip_after": "1" * 64, "grown": 9}[field]
    order, other = RunOrder(), RunOrder()
    for event in events:
        known = SimpleNamespace(plan=SimpleNamespace(actors=[SimpleNamespace(name="", controller=None)]))
        order.know(cast(Any, known))
        other.know(cast(Any, known))
        order.add(event.type, event.body)
        if event.type == "step":
            part = event.body["parts"]["p"]
            with pytest.raises(Broken, match="the part 'p' at t = 0"):
                other.add("step", {**event.body, "parts": {"p": {**part, field: wrong}}})
            return
        other.add(event.type, event.body)


# --- evaluation errors

SEEN_MEMORY: dict[str, Any] = {"memory": {"fields": {"m": {"type": "int", "start": "0"}}}}
WRITE = {"id": "w", "effect": {"set": "m", "to": "m + 1"}}
BIG = 2**53
# name: the changes, and the steps that are receipted before the error in the step that begins with x == 4
ERRORS: dict[str, Any] = {
    "observe": ({"world": {"observe": {"x": "x", "bad": "1 / (x - 4)"}}}, 1),
    "propose": ({"agent": {"let": {"bad": "1 / (x - 4)"}, "score": "action.n + bad"}}, 2),
    "score": ({"agent": {"score": "action.n + 1 / (x - 4)"}}, 2),
    "a candidate": ({"agent": {"candidates": [{"op": "add", "for_each": {"n": "[2 / (4 - x), 2]"}}]}}, 2),
    "the count of writes": ({"agent": {**SEEN_MEMORY, "remember": [{**WRITE, "when": "1 / (x - 4) > 9"}]}}, 2),
    "remember": ({"agent": {**SEEN_MEMORY, "remember": [{"id": "w", "effect": {"set": "m", "to": "6 / (seen.x - 6)"}}]}}, 2),
    "record": ({"world": {"record": {"reached": "6 / (next.x - 6)"}}}, 2),
    "success": ({"world": {"success": "6 / (x - 6) > 99"}}, 2),
    "until": ({"until": "6 / (x - 6) > 99"}, 2),
    "an invariant": ({"invariant": {"require": "6 / (x - 6) < 99"}}, 2),
    "a witness": ({"invariant": {"require": "x < 6", "severity": "warn", "witness": {"w": "6 / (x - 6)"}}}, 2),
    "a part's receipt": ({"world": {"parts": PART}, "inner": {"receipt": {"grown": "6 / (next.n - 6)"}}}, 2),
    "a number beyond 2^53 in the state": ({"world": {"every_step": [{"set": "x", "to": f"x == 6 ? {BIG} : x"}]}}, 2),
    "a number beyond 2^53 in an observation": ({"world": {"observe": {"x": "x", "big": f"x == 4 ? {BIG} : 0"}}}, 2),
    "a number beyond 2^53 in a proposal": ({"agent": {"score": f"x == 4 ? {BIG} : action.n"}}, 2),
    "a number beyond 2^53 in a record": ({"world": {"record": {"reached": f"next.x == 6 ? {BIG} : 0"}}}, 2),
    "a number beyond 2^53 in a part's receipt": (
        {"world": {"parts": PART}, "inner": {"receipt": {"grown": f"next.n == 6 ? {BIG} : 0"}}}, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_ends_its_episode_leaves_no_trace_and_the_run_goes_on(bundle, tmp_path, name):
    changes, receipted = ERRORS[name]
    made = bundle(episodes=2, **changes)
    plan = compile_scenario(made)
    found = list(run(plan))
    assert [event.type for event in found][-1] == "end"
    assert (found[-1].body["episodes"], found[-1].body["steps"]) == (2, 2 * receipted)
    for number in range(2):
        episode = [event for event in found if event.body.get("episode") == number]
        assert [event.type for event in episode if event.type in ("step", "error")] == ["step"] * receipted + ["error"]
        assert episode[-2].type == "error"
        assert episode[-2].body["code"] == ("E_CANON_RANGE" if "2^53" in name else "E_EVAL_DIVISION_BY_ZERO")
        if "2^53" in name:
            assert episode[-2].body["expression"].startswith("$.")
        end = episode[-1].body
        last = [event.body for event in episode if event.type == "step"][-1]
        assert (end["ended"], end["steps"], end["state"]) == ("error", receipted, last["after"])
    assert result(plan)["verdict"] == "ERROR"
    assert result(plan)["errors"] == 2
    execute(made, tmp_path / "evidence")
    assert {check.status for check in verify(tmp_path / "evidence").checks} == {Status.PASSED}


def test_an_error_says_where_in_which_expression(make):
    (error,) = bodies(make(world={"record": {"reached": "7 + 6 / (next.x - 4)"}}), "error")
    assert error["expression"] == "7 + 6 / (next.x - 4)"
    assert error["offset"] is not None
    assert (error["episode"], error["t"]) == (0, 1)


def test_an_error_in_the_step_itself_denies_the_proposal(make):
    """The step is predicted with every proposal, so nothing that cannot be computed is ever chosen."""
    actions = {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + 2 / (2 - n)"}]}}
    plan = make(world={"actions": actions})
    assert [step["chosen"] for step in bodies(plan)] == [0] * 4
    assert result(plan)["verdict"] == "ERROR"


def test_an_error_that_only_acting_meets_ends_the_episode(make):
    """What no gate reads of the outcome is not predicted."""
    add = {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"share": "1 / (x - 4)"}}
    plan = make(world={"actions": {"add": add}, "record": {"reached": "next.x"}})
    assert [event.type for event in run(plan)][-4:] == ["commit", "error", "episode_end", "end"]
    assert [step["record"] for step in bodies(plan)] == [{"reached": 2}, {"reached": 4}]


# --- what a stranger writes


STRANGER = {
    "scenario/island.yaml": """
spec: scenario/v1
name: island
doc: Another map, another drift beside the shipped one, and one more invariant.
world: {use: governed-gridworld, with: {budget: 350.0}}
governor: lexicographic
agent: greedy
map:
  drawing: |
    ############
    #S...!....##
    #.##....!..#
    #....!.....#
    #.!....##.G#
    ############
drift:
  - {use: goal-drift, with: {every: 15}}
  - flood
invariants: [no-hazard-entered, no-bump, coherence-descends, dry-feet]
seed: 99
episodes: 2
horizon: 40
""",
    "drift/flood.yaml": """
spec: drift/v1
name: flood
doc: One free cell that is neither the agent's nor the goal's becomes a hazard, unless that would cut the goal off.
at: t == 10 || t == 30
draw:
  spot: {from: "cells_at_least(ways(position), 2).filter(c, c != goal)", stream: flood}
effects:
  - set: grid
    to: "field_put(grid, spot, HAZARD)"
    when: "field_at(distances(mask(field_put(grid, spot, HAZARD), [WALL, HAZARD]), position), goal, -1) >= 0"
""",
    "invariant/dry-feet.yaml": """
spec: invariant/v1
name: dry-feet
doc: From wherever the agent stands, a safe path leads to the goal.
require: WISH
witness: {position: position, goal: goal}
""",
}


def island(folder, wish="field_at(ways(position), goal, -1) >= 0"):
    """Write the stranger's specs and load the scenario."""
    for name, text in STRANGER.items():
        path = folder / "specs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip().replace("WISH", wish))
    return load(str(folder / "specs" / "scenario" / "island.yaml"))[0]


@pytest.mark.medium
def test_a_stranger_writes_a_scenario_and_it_runs_and_verifies(tmp_path):
    made = island(tmp_path)
    finished = execute(made, tmp_path / "evidence")
    outcome = finished.manifest["result"]
    assert outcome["verdict"] == "PASS"
    assert outcome["steps"] == 80
    assert outcome["checks"] == 80 * 6
    assert outcome["drifts"] == 2 * 4
    assert outcome["rejections"]["hazard"] > 0
    assert {check.status for check in verify(tmp_path / "evidence").checks} == {Status.PASSED}
    drifts = bodies(compile_scenario(made), "drift")
    assert [drift["drift"] for drift in drifts[:4]] == ["flood", "goal-drift", "goal-drift", "flood"]
    assert any("grid" in drift["changed"] for drift in drifts)


@pytest.mark.medium
def test_the_drawn_values_are_those_of_the_named_stream(tmp_path):
    """Whoever knows the seed can draw them without the engine's loop."""
    plan = compile_scenario(island(tmp_path))
    checked = 0
    for event, state, _ in followed(plan, run(plan)):
        body = event.body
        if event.type == "drift":
            index = [drift.name for drift in plan.drifts].index(body["drift"])
            drift = plan.drifts[index]
            for name, source in zip(drift.draws, drift.sources(state) or [], strict=True):
                stream = Stream.named(99, "drift", drift.streams[0], index, body["episode"], body["t"], name)
                assert stream.choice(source) == body["drawn"][name]
                checked += 1
    assert checked == 8
