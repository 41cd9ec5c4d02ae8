"""M0: the environment is deterministic. State and step are functions of (seed, scenario, actions) and of nothing else.

Source: the seed's "Deterministic gridworld env + mutation support" and "Each scenario constructor deterministic from
(seed, scenario_name)".
"""

import os
import subprocess
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.binding import state_digest
from specledger.core.diagnostics import Diagnostics
from specledger.core.digest import hash_json
from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.worlds.check import check_world
from specledger.worlds.variables import Variables

ROOT = Path(__file__).parents[4]
SCENARIOS = ("basic", "hazard", "resource", "social", "tools")
STEPS = 15

State = dict[str, Any]


@cache
def made(name: str, seed: int) -> tuple[Plan, Variables]:
    bundle = load(str(ROOT / f"specs/scenario/toy-{name}.yaml"), set=[f"with.seed={seed}"])[0]
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    assert world is not None
    return compile_scenario(bundle), Variables(world)


def random_action(state: State, stream: Stream) -> dict[str, Any]:
    """One of the seven operations with arguments of things that are there, possible or not."""
    things = [each["id"] for key in ("objects", "carried", "agents", "tools", "hazards") for each in state[key]]
    thing = str(stream.choice(things or ["nothing"]))
    spots = [{"x": each["x"], "y": each["y"]} for each in (*state["hazards"], state["self"])]
    return dict(
        stream.choice(
            [
                *({"op": "move", "dir": way} for way in "NESW"),
                *({"op": op} for op in ("wait", "noop")),
                *({"op": op, "id": thing} for op in ("pickup", "drop")),
                {"op": "signal", "to": thing},
                {"op": "use_tool", "id": thing, "at": stream.choice(spots)},
            ]
        )
    )


def trajectory(name: str, seed: int, episode: int) -> list[str]:
    """The digest of every state of a walk, and of what all variables read and become there."""
    plan, variables = made(name, seed)
    stream = Stream.named(seed, "walk", name, episode)
    state, digests = plan.start(episode), []
    for _ in range(STEPS):
        names = variables.names(state)
        focus = names[stream.integer(0, len(names) - 1)]
        edits = [variables.mutate(state, focus, value) for value in variables.alternatives(state, focus)]
        seen = hash_json(variables.normalize(state, names))
        digests += [
            state_digest(state),
            seen,
            hash_json({"edits": [None if each is None else list(each) for each in edits]}),
        ]
        action = random_action(state, stream)
        state, _ = plan.actors[0].step(state, action["op"], action, {})
    return [*digests, state_digest(state)]


def everything() -> str:
    """One digest over walks through the scenarios."""
    walks = {f"{name} {seed} {n}": trajectory(name, seed, n) for name in SCENARIOS[1:] for seed, n in ((1, 0), (1, 3))}
    return hash_json(walks)


@pytest.mark.medium
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_start_is_a_function_of_seed_scenario_and_episode(name: str) -> None:
    plan, _ = made(name, 1)
    starts = [plan.start(episode) for episode in range(6)]
    again = compile_scenario(load(str(ROOT / f"specs/scenario/toy-{name}.yaml"), set=["with.seed=1"])[0])
    assert [again.start(episode) for episode in reversed(range(6))] == starts[::-1]
    assert len({state_digest(state) for state in starts}) == 6
    assert all(made(name, 2)[0].start(episode) != start for episode, start in enumerate(starts))


def test_scenarios_of_one_seed_differ() -> None:
    assert len({state_digest(made(name, 1)[0].start(0)) for name in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_step_is_a_function_of_state_and_action_and_changes_neither(name: str) -> None:
    plan, _ = made(name, 1)
    stream = Stream.named(0, "steps", name)
    state = plan.start(0)
    for _ in range(60):
        action = random_action(state, stream)
        kept, asked = deepcopy(state), deepcopy(action)
        after, _ = plan.actors[0].step(state, action["op"], action, {})
        assert (state, action) == (kept, asked)
        assert plan.actors[0].step(kept, asked["op"], asked, {})[0] == after
        assert after["tick"] == state["tick"] + 1
        state = after


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_edit_gives_another_state_and_leaves_the_one_it_is_made_of(name: str) -> None:
    plan, variables = made(name, 1)
    state = plan.start(0)
    digest = state_digest(state)
    for focus in variables.names(state):
        for value in variables.alternatives(state, focus):
            variables.mutate(state, focus, value)
    assert state_digest(state) == digest


@pytest.mark.medium
def test_hash_seeds_processes_and_locales_do_not_count() -> None:
    program = "from tests.wings.kernel.axion.test_m0_env_determinism import everything; print(everything())"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    seed = "77" if os.environ.get("PYTHONHASHSEED") != "77" else "78"
    done = subprocess.run(
        [sys.executable, "-O", "-c", program],
        cwd=ROOT,
        env=inherited | {"PYTHONPATH": str(ROOT / "engine"), "PYTHONHASHSEED": seed, "LC_ALL": "tr_TR.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == everything()
