"""What an agent draws, what it would give for a breach, and what its procedure can depend on."""

from functools import cache
from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.clock import CLOCK
from specledger.core.diagnostics import Rejected
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.kinds import load
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.procedure import DecisionPoint
from tests.toys import plan_of, shipped_plan


@cache
def kernel(agent, *sets) -> Any:
    plan = shipped_plan("axion-resource", f"agent={agent}", *sets)
    state = plan.start(0)
    seen = plan.actors[0].observe(state)
    return plan, kernel_of(plan.actors[0]), state, seen, plan.actors[0].begin(seen)


def chosen(agent, occasion):
    _, parts, _, seen, memory = kernel(agent)
    return parts.narration.decider.propose(seen, memory, occasion)


@pytest.mark.medium
def test_the_same_decision_point_draws_the_same_and_asking_again_draws_anew():
    occasions = [DecisionPoint(0, 0, asked) for asked in range(40)]
    answers = [chosen("noisy-honest", occasion) for occasion in occasions]
    assert answers == [chosen("noisy-honest", occasion) for occasion in occasions]
    assert 2 <= len({str(answer) for answer in answers}) < 40
    assert {str(chosen("honest", occasion)) for occasion in occasions} == {str(chosen("honest", DecisionPoint(0, 0)))}


@pytest.mark.medium
def test_each_value_of_a_stream_is_a_draw_of_its_own(tmp_path):
    """By the seed, the agent, the stream, the name of the value, and what was asked when."""
    names = ("first", "second")
    (tmp_path / "dice.yaml").write_text(
        "spec: agent/v1\nname: dice\nextends: honest\nscore: 1000 * first + second\ndraw:\n"
        + "".join(f"  {name}: {{from: range(1000), stream: one}}\n" for name in names),
        encoding="utf-8",
    )
    (tmp_path / "case.yaml").write_text(
        "spec: scenario/v1\nname: case\nextends: axion-basic\nseed: 9\nagent: dice.yaml\n"
    )
    plan = plan_of(tmp_path / "case.yaml")
    actor: Any = plan.actors[0]
    seen = actor.observe(plan.start(0))
    propose, memory = kernel_of(actor).narration.decider.propose, actor.begin(seen)
    for point in (DecisionPoint(0, 0), DecisionPoint(0, 0, 1), DecisionPoint(0, 1), DecisionPoint(1, 0)):
        drawn = divmod(propose(seen, memory, point)[0]["score"], 1000)
        streams = [Stream.named(9, "agent", "dice", "one", name, *point) for name in names]
        assert drawn == tuple(stream.choice(range(1000)) for stream in streams)
        assert drawn[0] != drawn[1]


@pytest.mark.medium
def test_an_agent_that_reads_the_clock_proposes_anew_where_it_sees_and_remembers_the_same(tmp_path):
    (tmp_path / "timed.yaml").write_text("spec: agent/v1\nname: timed\nextends: honest\nscore: 100 * episode + t\n")
    (tmp_path / "case.yaml").write_text("spec: scenario/v1\nname: case\nextends: axion-basic\nagent: timed.yaml\n")
    plan = plan_of(tmp_path / "case.yaml")
    actor: Any = plan.actors[0]
    seen = actor.observe(plan.start(0))
    propose, memory = kernel_of(actor).narration.decider.propose, actor.begin(seen)
    scores = []
    for episode, t in [(0, 0), (0, 1), (3, 1)]:
        CLOCK.set(episode, t, "")
        scores.append(propose(seen, memory, DecisionPoint(episode, t))[0]["score"])
    CLOCK.set(0, 0, "")
    assert scores == [0, 1, 301]


@pytest.mark.medium
def test_no_step_under_a_kernel_draws(tmp_path):
    (tmp_path / "windy.yaml").write_text(
        "spec: world/v1\nname: windy\nextends: toy-gridworld\n"
        "chance: {draw: {gust: {from: [0, 1]}}, effects: [{set: tick, to: tick + gust}]}\n"
    )
    (tmp_path / "case.yaml").write_text("spec: scenario/v1\nname: case\nextends: axion-basic\nworld: windy.yaml\n")
    with pytest.raises(Rejected) as rejected:
        plan_of(tmp_path / "case.yaml")
    assert [(one.code, "`chance` of every step" in one.message) for one in rejected.value.diagnostics] == [
        ("E_CHANCE", True)
    ]


@pytest.mark.medium
def test_an_agent_may_take_values_in_the_order_of_questions_and_says_that_it_draws_nothing():
    decided, *answers = [chosen("state-carrier", DecisionPoint(0, 0, asked)) for asked in range(4)]
    scores = [[one["score"] for one in proposals] for proposals in (decided, *answers)]
    assert scores[0] == [one["score"] for one in chosen("pseudo", DecisionPoint(0, 0))]
    assert scores[1:] == [[one["score"] for one in chosen("honest", DecisionPoint(0, 0))]] * 3
    assert kernel("state-carrier")[1].deterministic


@pytest.mark.medium
def test_an_agent_that_draws_is_not_deterministic():
    assert kernel("honest")[1].deterministic
    assert kernel("random-claimer")[1].deterministic  # its narrator draws, its choices do not
    assert not kernel("noisy-honest")[1].deterministic


def weighed(agent, action, state):
    _, parts, _, seen, memory = kernel(agent)
    return parts.weigh(seen, memory, action, state, DecisionPoint(0, 0))


@pytest.mark.parametrize(("agent", "price"), [("honest", 1_000_000), ("pseudo", 0)])
def test_a_breach_costs_an_agent_that_scores_it(agent, price):
    plan, parts, state, seen, memory = kernel(agent)
    for proposal in parts.narration.decider.propose(seen, memory, DecisionPoint(0, 0)):
        predicted, _ = plan.actors[0].step(state, proposal["action"]["op"], proposal["action"], {})
        assert proposal["score"] - weighed(agent, proposal["action"], predicted) == price


def test_what_is_weighed_is_the_state_that_is_handed_in():
    plan, parts, state, seen, memory = kernel("pseudo")
    action = parts.narration.decider.propose(seen, memory, DecisionPoint(0, 0))[0]["action"]
    predicted, _ = plan.actors[0].step(state, action["op"], action, {})
    paid = {**predicted, "self": {**predicted["self"], "energy": predicted["self"]["energy"] + 5}}
    assert weighed("pseudo", action, paid) == weighed("pseudo", action, predicted) + 5


def test_what_a_procedure_does_not_read_is_declared_unused():
    _, parts, state, _, _ = kernel("honest")
    unused = parts.unused(state)
    assert {"rng_seed", "tick"} <= set(unused)
    assert not {"hazards.at", "objects.at", "walls.nearby", "agents.pos", "self.pos", "self.energy"} & set(unused)


@pytest.mark.medium
def test_reading_through_a_prediction_counts():
    """The time is read by nobody but the step, which makes the next tick of it."""
    _, parts, state, _, _ = kernel("honest", 'agent.score="worth - next.tick"')
    assert "tick" not in parts.unused(state)
    assert "rng_seed" in parts.unused(state)


COUNTED = 'world.every_step=[{set: tick, to: "tick + 1"}, {set: self.energy, to: "self.energy - tick % 2"}]'


@pytest.mark.medium
@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ("episodes=1", {"tick", "rng_seed"}),
        ('agent.score="worth - next.tick"', {"rng_seed"}),
        (COUNTED, {"rng_seed"}),
        ('world.every_step=[{set: tick, to: "tick + 1", when: "t > 1"}]', None),
        ('world.actions.wait.effects=[{set: rng_seed, to: "string(tick)"}]', set()),
        ('agent.score="size(string(next.tick)) + (now == next ? 1 : 0)"', set()),
    ],
    ids=["a counter", "predicted", "read by another field", "the clock", "changed by an action", "all of the state"],
)
def test_what_proposals_do_not_depend_on(change, fields):
    _, parts, _, _, _ = kernel("honest", change)
    irrelevant = parts.narration.decider.irrelevant
    assert fields == (None if irrelevant is None else irrelevant.fields)


def test_proposals_and_claims_are_found_again_at_another_time():
    _, parts, state, seen, memory = kernel("honest")
    narration, point = parts.narration, DecisionPoint(0, 0)
    proposed = narration.decider.propose(seen, memory, point)
    assert narration.decider.propose({**seen, "tick": 7}, memory, point) is proposed
    derived = narration.derive(state, memory, "wait", point)
    assert narration.derive({**state, "tick": 7}, memory, "wait", point) == derived
    moved = {**state, "self": {**state["self"], "x": state["self"]["x"] + 1}}
    assert narration.derive(moved, memory, "wait", point) != derived


def test_a_step_that_fails_is_not_hidden_by_what_is_known():
    """The counter of steps may not exceed a million, although nobody reads it."""
    _, parts, state, seen, memory = kernel("honest")
    narration, point, last = parts.narration, DecisionPoint(0, 0), {"tick": 1_000_000}
    assert narration.decider.propose(seen, memory, point)
    assert narration.derive(state, memory, "wait", point)
    with pytest.raises(EvaluationError, match="tick would be 1000001"):
        narration.decider.propose({**seen, **last}, memory, point)
    with pytest.raises(EvaluationError, match="tick would be 1000001"):
        narration.derive({**state, **last}, memory, "wait", point)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("scenario", "agent", "code"),
    [
        ("axion-basic", "extends: honest\ndraw: {roll: {from: tick, stream: rolls}}\n", "E_DECLARATION"),
        ("axion-basic", "extends: honest\ndraw: {tick: {from: range(3), stream: rolls}}\n", "E_NAME_TAKEN"),
        ("toy-basic", "extends: honest\nnarration: null\ndraw: {roll: {from: range(3), stream: rolls}}\n", "E_ADMISSION"),
        ("axion-basic", "candidates: [{op: wait}]\nscore: '0'\nnarration: {vary: [tick]}\n", "E_ADMISSION"),
        ("axion-basic", "extends: honest\nmemory: {fields: {n: {type: int, start: '0'}}}\nnarration: {by: memoriser}\n", "E_ADMISSION"),
    ],
    ids=["a draw from a field", "a draw of a known name", "a draw without a kernel", "variables of an action", "a narrator with a memory"],
)  # fmt: skip
def test_what_does_not_fit_is_found(tmp_path, scenario, agent, code):
    (tmp_path / "mine.yaml").write_text(f"spec: agent/v1\nname: mine\n{agent}")
    (tmp_path / "case.yaml").write_text(f"spec: scenario/v1\nname: case\nextends: {scenario}\nagent: mine.yaml\n")
    with pytest.raises(Rejected) as raised:
        compile_scenario(load(str(tmp_path / "case.yaml"))[0])
    assert code in {finding.code for finding in raised.value.diagnostics}
