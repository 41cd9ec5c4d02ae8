"""Plans of scenarios that differ in their seeds and maps are compiled once and run as if compiled alone."""

from typing import Any

import pytest

from specledger.compile import plan_cache
from specledger.compile.plan_cache import PlanCache
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.run.loop import run
from tests.toys import CLIMB, ROOT, number_scenario


@pytest.fixture
def compiled(monkeypatch):
    """The names of what was compiled, in order."""
    names = []

    def counted(bundle):
        names.append(bundle.main.name)
        return compile_scenario(bundle)

    monkeypatch.setattr(plan_cache, "compile_scenario", counted)
    return names


def bundles(path, *settings):
    return [load(str(path), set=[setting] if setting else [])[0] for setting in settings]


@pytest.mark.medium
@pytest.mark.parametrize("name", ["looped-maze", "two-tank"])
def test_a_plan_with_another_seed_runs_as_if_compiled_alone(compiled, name):
    path, plans = ROOT / "specs" / "scenario" / f"{name}.yaml", PlanCache()
    for bundle in bundles(path, *(f"seed={seed}" for seed in range(3))):
        events = [(event.type, event.body) for event in run(plans(bundle))]
        assert events == [(event.type, event.body) for event in run(compile_scenario(bundle))]
    assert compiled == [name]


@pytest.mark.medium
def test_a_plan_with_another_map_and_name_runs_as_if_compiled_alone(compiled):
    plans = PlanCache()
    for name in ("simple", "hazard"):
        for bundle in bundles(ROOT / "specs" / "scenario" / f"{name}.yaml", "episodes=1", "episodes=2"):
            events = [(event.type, event.body) for event in run(plans(bundle))]
            assert events == [(event.type, event.body) for event in run(compile_scenario(bundle))]
    assert compiled == ["simple"]


def test_what_differs_in_more_than_the_start_is_compiled_again(compiled):
    plans = PlanCache()
    for bundle in bundles(CLIMB / "climb.yaml", "seed=1", "horizon=4", "seed=2", "episodes=1"):
        plans(bundle)
    assert len(compiled) == 2


@pytest.mark.medium
@pytest.mark.parametrize(("agent", "times"), [("dice", 2), ("honest", 1)])
def test_an_agent_that_draws_is_compiled_for_each_seed(compiled, agent, times):
    path, plans = ROOT / "specs" / "scenario" / "axion-basic.yaml", PlanCache()
    for seed in (1, 2):
        plans(load(str(path), set=[f"agent={agent}", f"seed={seed}"])[0])
    assert len(compiled) == times


@pytest.mark.medium
def test_a_seed_whose_map_cannot_be_made_is_refused_as_when_it_is_compiled_alone(tmp_path):
    world = {
        "state": {"x": "int", "purse": "int", "grid": "field"},
        "drawing": {"cells": "grid", "legend": {".": {"cell": 0}, "#": {"cell": 1}}},
        "well_formed": [{"id": "open", "require": "grid[0][0] == 0"}],
        "start": {"x": 0, "purse": 100},
    }
    steps = [{"fill": ".", "width": 3, "height": 3}, {"scatter": "#", "over": ".", "count": 5}]
    path = number_scenario(tmp_path, world=world, scenario={"map": {"generate": steps, "vary": "run"}})
    plans, refused = PlanCache(), []
    for bundle in bundles(path, *(f"seed={seed}" for seed in range(12))):
        outcomes: list[Any] = []
        for make in (plans, compile_scenario):
            try:
                make(bundle)
                outcomes.append(None)
            except Rejected as rejected:
                outcomes.append([(one.code, one.message, str(one.span)) for one in rejected.diagnostics])
        assert outcomes[0] == outcomes[1]
        refused.append(outcomes[0] is not None)
    assert set(refused) == {True, False}
