"""Gymnasium environments of specs: Gymnasium's own checker, the loop's own receipts, and ends of episodes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence

from specledger import gym
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.run.loop import run

CHECKED = ["hazard", "simple", "two-tank", "toy-basic", "world/toy-gridworld"]
SLOW = ["patrol", "toy-hazard", "toy-social", "toy-resource", "toy-tools"]


@pytest.mark.medium
@pytest.mark.filterwarnings("ignore:.*alternative render modes")  # an environment without `gymnasium.make` has one
@pytest.mark.parametrize("name", [*CHECKED, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_gymnasium_accepts_the_environment_of_a_spec(name):
    check_env(gym.make(name))


@pytest.mark.medium
@pytest.mark.parametrize("name", ["two-tank", "toy-basic", "toy-social"])
def test_the_actions_of_a_run_lead_to_its_records_and_observations(name):
    bundle = load(name, kind="scenario")[0]
    plan = compile_scenario(bundle)
    env, taken = gym.make(name, ends_at_success=False), []
    env.reset()
    for event in run(plan):
        if event.type == "commit":
            taken = [proposal["action"] for proposal in event.body["proposals"]]
        elif event.type == "step":
            seen, _, _, truncated, info = env.step(taken[event.body["chosen"]])
            assert info["record"] == event.body["record"]
            assert seen in env.observation_space
            assert truncated == (event.body["t"] == plan.horizon - 1)
        elif event.type == "episode_end":
            env.reset()


@pytest.mark.medium
def test_equal_seeds_give_equal_episodes_and_other_seeds_others():
    def walked(env, seed):
        env.reset(seed=seed)
        env.action_space.seed(0)
        return [env.step(env.action_space.sample())[0] for _ in range(30)]

    first, second = gym.make("hazard", ends_at_success=False), gym.make("hazard", ends_at_success=False)
    assert data_equivalence(walked(first, 5), walked(second, 5), exact=True)
    assert not data_equivalence(walked(first, 5), walked(second, 6), exact=True)  # the goal drifts elsewhere


@pytest.mark.medium
def test_a_reset_without_a_seed_begins_the_next_episode_of_the_run():
    env = gym.make("toy-basic")
    first, info = env.reset(seed=3)
    second, later = env.reset()
    again, _ = env.reset(seed=3)
    assert (info["episode"], later["episode"]) == (0, 1)
    assert data_equivalence(first, again, exact=True)
    assert not data_equivalence(first, second, exact=True)


def test_success_terminates_where_it_is_asked_for_and_the_reward_is_the_record_s():
    env = gym.make("simple", set=["drift=[]"])
    env.reset()
    rewards, terminated, truncated, success = [], False, False, False
    for direction in ["E", "S"] * 5:
        assert not terminated
        _, reward, terminated, truncated, info = env.step({"op": "move", "dir": direction})
        rewards.append(reward)
        success = info["success"]
        assert reward == info["record"]["reward"]
    assert (terminated, truncated, success, rewards) == (True, False, True, [1.0] * 10)
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_the_reward_is_data():
    env = gym.make("two-tank", reward="0 - task_performance + (success ? TARGET : 0)")
    env.reset()
    _, reward, _, _, info = env.step(0)
    assert reward == -info["record"]["task_performance"] != 0
    with pytest.raises(Rejected, match="E_EXPR"):
        gym.make("two-tank", reward="level3")


@pytest.mark.medium
def test_a_gate_rejects_an_action_and_a_fatal_invariant_terminates():
    env = gym.make("hazard")
    env.reset()
    _, reward, terminated, _, info = env.step({"op": "move", "dir": "N"})  # a wall
    assert (reward, terminated, info["accepted"], info["record"]) == (0.0, False, False, None)
    assert "wall" in [rejected["gate"] for rejected in info["rejected"]]
    free = gym.make("two-tank", set=["governor=free-choice", "invariants=[no-overflow]", "horizon=2000"])
    free.reset()
    while not terminated:
        *_, terminated, truncated, info = free.step({"op": "command", "p": 0, "v": 0})
        assert not truncated
    assert info["ended"] == "fatal"


def test_an_error_of_evaluation_terminates_and_is_told():
    env = gym.make("two-tank", set=['world.record.level1="1 / (next.t - 1)"'])
    env.reset()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert (info["ended"], info["error"][:2]) == ("error", "E_")


@pytest.mark.medium
@pytest.mark.parametrize("action", [{"op": "fly"}, {"op": "pickup"}, {"op": "move", "dir": "up"}])
def test_a_malformed_action_is_rejected_and_changes_nothing(action):
    env = gym.make("toy-basic")
    env.reset()
    _, _, _, _, info = env.step(action)
    assert [rejected["gate"] for rejected in info["rejected"]] == ["schema"]


@pytest.mark.medium
@pytest.mark.parametrize("name", ["hazard", "two-tank", "toy-basic"])
def test_actions_and_observations_survive_the_way_through_their_spaces(name):
    env = gym.make(name)
    env.action_space.seed(7)
    for _ in range(50):
        action = env.actions.decode(env.action_space.sample())
        assert env.actions.decode(env.actions.encode(action)) == action


@pytest.mark.medium
def test_a_kernel_and_an_unknown_name_are_refused():
    for target, code in {
        "axion-basic": "E_GYM_KERNEL",
        "pursuit": "E_GYM_AGENTS",
        "no-such-spec": "E_REF_MISSING",
    }.items():
        with pytest.raises(Rejected, match=code):
            gym.make(target)


def test_without_gymnasium_a_diagnostic_names_the_extra(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("specledger.wings.bridges.gym.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(Rejected, match="E_GYM_MISSING"):
        gym.make("two-tank")


def test_forms_of_every_type_round_trip():
    from specledger.expr import BOOL, INT, STRING, ListType, RecordType
    from specledger.expr.check.types import MapType
    from specledger.wings.bridges.gym.spaces import form_of

    table = [
        (INT, -(2**60)),
        (BOOL, True),
        (STRING, "coin-1"),
        (STRING, "50 %, back\\slash, line\n, \u00e9\U0001f600"),
        (ListType(STRING), ["a", "b"]),
        (ListType(ListType(INT)), [[1, 2], [3, 4]]),
        (ListType(ListType(INT)), [[1], [3, 4]]),
        (MapType(INT), {"b": 1, "a": 2}),
        (RecordType("r", {"a": INT, "b": BOOL}, frozenset({"b"})), {"a": 1}),
        (RecordType("r", {"a": INT, "b": BOOL}, frozenset({"b"})), {"a": 1, "b": False}),
    ]
    for type_, value in table:
        form = form_of(type_, value)
        assert form.encode(value) in form.space
        assert form.decode(form.encode(value)) == value
    grid = form_of(ListType(ListType(INT)), [[1, 2], [3, 4]])
    assert isinstance(grid.encode([[0, 0], [0, 0]]), np.ndarray)
    with pytest.raises(Rejected, match="E_GYM_SPACE"):
        grid.encode([[1]])


@pytest.mark.medium
def test_new_values_are_given_as_to_load():
    typed, mapped = (gym.make("hazard", set=given) for given in (["horizon=7"], {"horizon": 7}))
    assert typed._plan.horizon == mapped._plan.horizon == 7


@pytest.mark.medium
def test_an_observation_can_be_one_array_where_it_has_a_length():
    flat = gym.make("thermostat", flat=True)
    observation, _ = flat.reset(seed=1)
    assert observation.shape == flat.observation_space.shape
    assert flat.observation_space.contains(observation)
    with pytest.raises(Rejected, match="E_GYM_SPACE"):
        gym.make("toy-basic", flat=True)


@pytest.mark.medium
def test_a_world_has_episodes_of_a_thousand_steps_unless_another_number_is_given():
    assert gym.make("world/toy-gridworld")._plan.horizon == 1000
    assert gym.make("world/toy-gridworld", horizon=7)._plan.horizon == 7


@pytest.mark.medium
def test_success_terminates_unless_it_is_not_asked_for():
    ends = []
    fixed = ["drift=[]"]
    made = [
        gym.make("simple", set=fixed),
        *(gym.make("simple", set=fixed, ends_at_success=ends) for ends in (True, False)),
    ]
    for env in made:
        env.reset()
        steps = [env.step({"op": "move", "dir": direction}) for direction in ["E", "S"] * 5]
        ends.append([step[2] for step in steps].count(True))
    assert ends == [1, 1, 0]
