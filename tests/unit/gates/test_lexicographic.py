"""The shipped governor: every gate alone and together, the one debit, the choice, and agents that must not be trusted."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.compile.scenario import compile_scenario
from specledger.core.verdict import Verdict
from specledger.evidence.result import Tally
from specledger.kinds import load
from specledger.run.loop import run
from tests.toys import bodies, shipped_plan

ONE = 1_000_000
FACES = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}
DEAD_END = Path("fixtures/specs/scenario/dead-end.yaml")


@cache
def dead_end(agent="greedy"):
    """The corner between two walls and a hazard, with one of its agents: start at 1,1, hazard at 2,1, goal at 3,3."""
    cases = {bundle.case: bundle for bundle in load(str(DEAD_END))}
    return compile_scenario(cases[f"agent={agent}"])


def verdict(plan):
    tally = Tally()
    for event in run(plan):
        tally.add(event.type, event.body)
    return tally


def state(**kernel):
    """The start of the dead end; keywords replace fields of the kernel's state."""
    start = copy.deepcopy(dead_end().start(0))
    start["coherence"] |= kernel
    return start


def honest(state, direction, **changes):
    """A proposal that is true of a state of the dead end, computed here; keywords replace claims."""
    (x, y), (dx, dy) = (state["position"]["x"], state["position"]["y"]), FACES[direction]
    to = {"x": x, "y": y} if state["grid"][y + dy][x + dx] == 1 else {"x": x + dx, "y": y + dy}
    distance = abs(to["x"] - state["goal"]["x"]) + abs(to["y"] - state["goal"]["y"])
    claims = {"expected_next_position": to, "V_task_proposal": distance}
    return {"action": {"op": "move", "dir": direction}, "score": -distance * ONE, **claims, **changes}


def judge(plan, state, proposal, *, rejected=0, writes=0, others=4):
    """The judgement of one proposal among others that stay."""
    stay = honest(state, "Stay")
    return plan.actors[0].judge(state, [proposal, *[stay] * others], rejected, [writes] + [0] * others)[0]


CHEAPEST = 3_500_000  # five proposals, no write: 1.0 + 5 * 0.5


# name: gate, reason, the kernel's state, position, direction, changes of the claims, memory writes, the witness
ALONE: dict[str, tuple[Any, ...]] = {
    "a lie about the position": (
        "prediction", "prediction_mismatch", {}, (1, 1), "S", {"expected_next_position": {"x": 1, "y": 3}}, 0,
        {"position": {"x": 1, "y": 2}, "V_task": 3},
    ),
    "a lie about the value": (
        "prediction", "prediction_mismatch", {}, (1, 1), "S", {"V_task_proposal": 2}, 0,
        {"position": {"x": 1, "y": 2}, "V_task": 3},
    ),
    "a wall": ("wall", "environment_unsafe_cell_1", {}, (1, 1), "N", {}, 0, {"cell": {"x": 1, "y": 0}}),
    "a hazard": ("hazard", "environment_unsafe_cell_2", {}, (1, 1), "E", {}, 0, {"cell": {"x": 2, "y": 1}}),
    "no headroom beside a hazard": (
        "admissible", "gmi_admissibility_violation", {"rho": [[49, 0]]}, (1, 2), "E", {}, 0, {"rho": [[-1, 0]], "C": [[0, 0]]},
    ),
    "running at a hazard": (
        "lyapunov", "coherence_lyapunov_increase", {"theta": [[0, 0]]}, (2, 3), "N", {}, 0, {"V_next": 10_000 * ONE, "V_prev": 0},
    ),
    "no budget for a neutral move": ("absorption", "absorption_violation", {"b": 0}, (1, 1), "S", {}, 0, {}),
    "a remainder below the cheapest action": (
        "absorption", "absorption_violation", {"b": CHEAPEST - 1}, (1, 1), "S", {}, 0, {},
    ),
    # V counts a debt too: only a step that descends by more than it has this gate alone against it
    "a budget for acting, not for remembering": (
        "budget_insufficient", "budget_insufficient", {"b": CHEAPEST, "theta": [[0, -60000]]}, (1, 3), "Stay", {}, 1,
        {"cost": CHEAPEST + 100_000, "b": CHEAPEST},
    ),
}  # fmt: skip


def situation(name):
    """The state, the proposal and the rest of one row."""
    gate, reason, kernel, (x, y), direction, changes, writes, witness = ALONE[name]
    here = state(**kernel) | {"position": {"x": x, "y": y}, "heading": direction}
    return gate, reason, here, honest(here, direction, **changes), writes, witness


@pytest.mark.parametrize("name", ALONE)
def test_each_gate_rejects_alone(name):
    gate, reason, here, proposal, writes, witness = situation(name)
    found = judge(dead_end(), here, proposal, writes=writes)
    assert found.error is None
    assert found.rejected == [{"gate": gate, "reason": reason, "witness": witness}]


def test_a_debt_is_an_increase_of_v_as_well():
    here = state(b=CHEAPEST)
    found = judge(dead_end(), here, honest(here, "S"), writes=1)
    assert gates(found) == ["lyapunov", "budget_insufficient"]
    witness = found.rejected[0]["witness"]
    assert witness["V_next"] - witness["V_prev"] == ONE * 100_000


def test_the_gate_of_k_judges_what_the_projection_would_hide():
    here = state(rho=[[250, 1001]])
    after, _ = dead_end().actors[0].step(here, "move", {"dir": "Stay"}, {"charge": 0})
    assert after["coherence"]["rho"] == [[250, 1000]]
    assert after["coherence"]["C"] == [[0, 10]]
    found = judge(dead_end(), here, honest(here, "Stay"))
    assert [failing["gate"] for failing in found.rejected] == ["admissible", "lyapunov"]
    assert found.rejected[0]["witness"]["rho"] == [[250, 1001]]


def gates(found):
    return [failing["gate"] for failing in found.rejected]


def test_every_gate_judges_though_another_has_rejected_already():
    """All that can fail together: a lie, a hazard or a wall, K, V, and either absorption or the budget."""
    here = state(rho=[[0, 0]], theta=[[0, 0]], C=[[0, 0]], b=0)
    here["position"] = {"x": 2, "y": 2}
    here["heading"] = "N"
    here["grid"] = [[1, 1, 2, 1, 1], [1, 2, 2, 0, 1], [1, 2, 0, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]]
    dive = honest(here, "N", V_task_proposal=0)
    assert gates(judge(dead_end(), here, dive)) == ["prediction", "hazard", "admissible", "lyapunov", "absorption"]
    here["coherence"]["b"] = CHEAPEST
    found = judge(dead_end(), here, dive, writes=1)
    assert gates(found) == ["prediction", "hazard", "admissible", "lyapunov", "budget_insufficient"]
    assert len({failing["reason"] for failing in found.rejected}) == 5
    here["grid"][1][2] = 1
    bump = honest(here, "N", V_task_proposal=0)
    assert gates(judge(dead_end(), here, bump, writes=1)) == [
        "prediction",
        "wall",
        "admissible",
        "lyapunov",
        "budget_insufficient",
    ]


def test_the_gates_are_those_of_the_run():
    start = next(event.body for event in run(dead_end()))
    assert start["gates"] == [
        "schema", "prediction", "wall", "hazard", "admissible", "lyapunov", "absorption", "budget_insufficient",
    ]  # fmt: skip


MALFORMED = {
    "an operation that does not exist": (lambda p: p | {"action": {"op": "jump", "dir": "N"}}, "unknown_action"),
    "a direction that does not exist": (lambda p: p | {"action": {"op": "move", "dir": "Up"}}, "malformed_action"),
    "a direction of another type": (lambda p: p | {"action": {"op": "move", "dir": 1}}, "malformed_action"),
    "no direction": (lambda p: p | {"action": {"op": "move"}}, "malformed_proposal"),
    "an argument too many": (lambda p: p | {"action": {**p["action"], "speed": 2}}, "malformed_proposal"),
    "a claim too many": (lambda p: p | {"zeal": 1}, "malformed_proposal"),
    "a claim too few": (
        lambda p: {key: p[key] for key in ("action", "score", "V_task_proposal")},
        "malformed_proposal",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_the_schema_rejects_and_the_other_proposals_are_judged_as_before(name):
    spoil, reason = MALFORMED[name]
    here = state()
    wall, south = honest(here, "N"), honest(here, "S")
    before = dead_end().actors[0].judge(here, [wall, wall, south], 3, [0, 0, 1])
    found = dead_end().actors[0].judge(here, [wall, spoil(south), south], 3, [0, 0, 1])
    assert found[1].rejected == [{"gate": "schema", "reason": reason, "witness": {}}]
    assert found[1].cost == {}
    assert (found[0], found[2]) == (before[0], before[2])
    assert gates(found[0]) == ["wall"]
    assert found[2].rejected == []


# --- agents that must not be trusted, in whole runs


@pytest.mark.medium
def test_a_malformed_favourite_is_rejected_and_the_best_of_the_rest_is_taken():
    plan = dead_end("stranger")
    commits, steps = bodies(plan, "commit"), bodies(plan)
    for commit, step in zip(commits, steps, strict=True):
        assert commit["proposals"][0]["action"] == {"op": "move", "dir": "Up"}
        assert step["decisions"][0]["rejected"] == [{"gate": "schema", "reason": "malformed_action", "witness": {}}]
        assert step["chosen"] not in (0, None)
        assert step["cost"]["propose"] == 6 * 500_000  # thinking of nonsense has its price too
    assert verdict(plan).verdict is Verdict.PASS


@pytest.mark.medium
def test_a_hazard_is_never_entered_however_much_it_is_wanted():
    plan = dead_end("hazard-seeker")
    first = next(event.body for event in run(plan) if event.type == "commit")
    scores = {proposal["action"]["dir"]: proposal["score"] for proposal in first["proposals"]}
    assert scores["E"] == 100 * ONE == max(scores.values())
    assert gates_by_direction(plan)[0]["E"] == ["hazard"]
    assert verdict(plan).result()["violations"] == {}


def gates_by_direction(plan):
    return [
        {
            proposal["action"]["dir"]: [failing["gate"] for failing in decision["rejected"]]
            for proposal, decision in zip(commit["proposals"], step["decisions"], strict=True)
        }
        for commit, step in zip(bodies(plan, "commit"), bodies(plan), strict=True)
    ]


@pytest.mark.medium
@pytest.mark.parametrize("agent", ["position-liar", "value-liar"])
def test_a_liar_is_found_out_with_every_proposal_and_other_reasons_are_kept(agent):
    for step in gates_by_direction(dead_end(agent)):
        assert all(found[0] == "prediction" for found in step.values())
        assert step["N"] == ["prediction", "wall"]
        assert step["E"] == ["prediction", "hazard"]
        assert step["Stay"] == ["prediction"]


@pytest.mark.parametrize("agent", ["position-liar", "value-liar", "wall-seeker", "silent"])
def test_no_admissible_action_is_receipted_and_counted_and_changes_nothing(agent):
    plan = dead_end(agent)
    commits, steps = bodies(plan, "commit"), bodies(plan)
    assert len(steps) == plan.horizon
    start = next(event.body["digest"] for event in run(plan) if event.type == "episode")
    for commit, step in zip(commits, steps, strict=True):
        assert (step["chosen"], step["token"], step["chosen_hash"], step["cost"]) == (None, None, None, None)
        assert step["before"] == step["after"] == start
        assert len(step["decisions"]) == len(commit["proposals"])
        assert all(decision["rejected"] for decision in step["decisions"])
        for part in step["parts"].values():
            assert not part["accepted"]
            assert part["before"] == part["after"]
    end = next(event.body for event in run(plan) if event.type == "episode_end")
    assert end["state"] == start
    result = verdict(plan).result()
    assert result["violations"] == {"progress": plan.horizon}
    assert result["verdict"] == "FAIL"


REASONS = {
    "position-liar": ["prediction_mismatch", "environment_unsafe_cell_1", "environment_unsafe_cell_2"],
    "wall-seeker": ["environment_unsafe_cell_1"],
    "silent": [],
}


@pytest.mark.parametrize("agent", REASONS)
def test_no_admissible_action_stands_in_the_violations_by_its_step_with_the_reasons(agent):
    for step in bodies(dead_end(agent)):
        ((name, severity, witness),) = [one.values() for one in step["violations"]]
        assert (name, severity, list(witness)) == ("progress", "fatal", [f"step_{step['t']}"])
        assert sorted(witness[f"step_{step['t']}"]) == sorted(REASONS[agent])


def test_walls_only_have_one_reason_each():
    for step in gates_by_direction(dead_end("wall-seeker")):
        assert step == {"N": ["wall"], "W": ["wall"]}


# --- the one debit

PRICES = {"move": ONE, "propose": 500_000, "memory_write": 100_000, "rejected_attempt": 50_000}


@given(
    rejected=st.integers(0, 40), writes=st.integers(0, 5), others=st.integers(0, 9), direction=st.sampled_from("NSEW")
)
def test_the_items_of_a_decisions_price(rejected, writes, others, direction):
    here = state(b=1000 * ONE)
    found = judge(dead_end(), here, honest(here, direction), rejected=rejected, writes=writes, others=others)
    items = {"move": 1, "propose": others + 1, "memory_write": writes, "rejected_attempt": rejected}
    expected = {name: PRICES[name] * count for name, count in items.items()}
    assert found.cost == {**expected, "total": sum(expected.values())}
    assert found.inputs == {"charge": sum(expected.values())}


@given(b=st.integers(0, 8 * ONE), rejected=st.integers(0, 9), writes=st.integers(0, 3))
def test_an_exhausted_budget_is_charged_nothing_and_may_always_stay(b, rejected, writes):
    here = state(b=b)
    stay = judge(dead_end(), here, honest(here, "Stay"), rejected=rejected, writes=writes)
    price = CHEAPEST + 50_000 * rejected
    exhausted = b < price
    assert stay.inputs["charge"] == stay.cost["total"] == (0 if exhausted else price + 100_000 * writes)
    assert gates(stay) == (["budget_insufficient"] if price <= b < price + 100_000 * writes else [])
    after, _ = dead_end().actors[0].step(here, "move", {"dir": "Stay"}, stay.inputs)
    if not stay.rejected:
        assert 0 <= after["coherence"]["b"] == b - stay.inputs["charge"]


@pytest.mark.parametrize(("direction", "admitted"), [("E", False), ("N", False), ("Stay", True)])
@pytest.mark.parametrize("b", [0, CHEAPEST - 1])
def test_with_an_exhausted_budget_only_a_strictly_dissipative_action_or_stay(b, direction, admitted):
    here = state(b=b)
    here["position"] = {"x": 1, "y": 3}  # moves leave V as it is; a rest lowers it
    assert gates(judge(dead_end(), here, honest(here, direction))) == ([] if admitted else ["absorption"])


@pytest.mark.parametrize("budget", ["10.0", "200.0", "47.35", "0.0"])
@pytest.mark.parametrize("name", ["simple", "hazard"])
def test_the_charges_of_an_episode_are_what_the_budget_lost(name, budget):
    plan = shipped_plan(name, f"world.with.budget={budget}", "episodes=1")
    steps = bodies(plan)
    b = begin = round(float(budget) * ONE)
    pending = 0
    for step in steps:
        kernel = step["parts"]["coherence"]
        assert kernel["b_before"] == b
        assert kernel["b_after"] == b - step["inputs"]["charge"] >= 0
        assert kernel["db"] == -step["inputs"]["charge"]
        assert step["cost"]["total"] == step["inputs"]["charge"] == sum(PRICES_OF(step).values())
        cost = step["cost"]
        if cost["total"]:
            assert cost["rejected_attempt"] == PRICES["rejected_attempt"] * pending
        pending = sum(1 for decision in step["decisions"] if decision["rejected"]) + (0 if cost["total"] else pending)
        b = kernel["b_after"]
    assert sum(step["inputs"]["charge"] for step in steps) == begin - b
    assert b == steps[-1]["record"]["b"]


def PRICES_OF(step):  # noqa: N802 - the items of PRICES as one step paid them
    return {name: step["cost"][name] for name in PRICES}


@pytest.mark.slow
def test_the_budget_of_the_seed_lasts_two_steps_and_is_never_charged_again():
    """10.0 at 3.6 and 3.7 leaves 2.7, which cannot pay the cheapest action of 3.5."""
    plan = shipped_plan("simple", "world.with.budget=10.0", "episodes=1")
    commits, steps = bodies(plan, "commit"), bodies(plan)
    assert [step["inputs"]["charge"] for step in steps[:3]] == [3_600_000, 3_700_000, 0]
    assert {step["inputs"]["charge"] for step in steps[2:]} == {0}
    assert {step["record"]["b"] for step in steps[1:]} == {2_700_000}
    for commit, step in list(zip(commits, steps, strict=True))[2:]:
        kernel = step["parts"]["coherence"]
        stays = commit["proposals"][step["chosen"]]["action"]["dir"] == "Stay"
        assert stays or kernel["dV"] < 0
        assert step["decisions"][4]["rejected"] == []  # Stay is the fifth proposal
    assert verdict(plan).verdict is Verdict.PASS


def test_an_exhausted_budget_stays_exhausted():
    """Rejections go on being counted while nothing is charged, so the price of the next action only grows."""
    plan = dead_end()
    here = state(b=CHEAPEST + 49_999)
    assert gates(judge(plan, here, honest(here, "S"), rejected=1)) == ["absorption"]
    assert gates(judge(plan, here, honest(here, "S"), rejected=0)) == []
    scenario = load("specs/scenario/simple.yaml", set=["world.with.budget=3.649999", "episodes=1", "horizon=30"])[0]
    charges = [step["inputs"]["charge"] for step in bodies(compile_scenario(scenario))]
    assert charges[0] == 3_600_000
    assert set(charges[1:]) == {0}


@pytest.mark.medium
def test_writing_memory_costs_what_it_says_in_a_whole_run():
    assert {step["cost"]["memory_write"] for step in bodies(dead_end("diarist"))} == {200_000}
    moves = [step["chosen"] != 4 for step in bodies(dead_end("greedy"))]
    assert [step["cost"]["memory_write"] for step in bodies(dead_end("greedy"))] == [100_000 * moved for moved in moves]


# --- the choice


def test_the_greatest_score_among_the_admitted_wins_and_the_first_of_equals():
    """Coherence is looked at by gates alone: a greater descent of V never beats a greater score."""
    here = state()
    here["position"] = {"x": 1, "y": 3}
    plan = dead_end()
    found = plan.actors[0].judge(here, [honest(here, d) for d in FACES], 0, [0] * 5)
    assert [judgement.value for judgement in found] == [honest(here, d)["score"] for d in FACES]
    after = {d: plan.actors[0].step(here, "move", {"dir": d}, {"charge": 0})[0]["coherence"]["theta"][0] for d in FACES}
    difference = {d: abs(right - left) for d, (left, right) in after.items()}
    assert difference["Stay"] < difference["E"]  # a rest descends, east does not
    assert found[2].value > found[4].value  # and yet east is preferred
    assert found[4].rejected == found[2].rejected == []


@given(scores=st.lists(st.integers(-3, 3), min_size=5, max_size=5))
def test_the_value_is_the_proposals_score_alone(scores):
    here = state()
    proposals = [honest(here, d, score=score) for d, score in zip(FACES, scores, strict=True)]
    assert [found.value for found in dead_end().actors[0].judge(here, proposals, 0, [0] * 5)] == scores
