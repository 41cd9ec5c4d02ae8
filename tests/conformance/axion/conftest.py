"""Runs under the kernel, for the seed's tests: whole scenarios, with agents that submit what they like."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache

import pytest

from specledger.compile.kernel import KernelController
from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.run.loop import run


@dataclass
class Found:
    """The events of a run, by their type."""

    events: list

    def of(self, type_):
        return [event.body for event in self.events if event.type == type_]

    def probes(self, name):
        return [body for body in self.of("probe") if body["probe"] == name]

    def entries(self, event):
        return [entry for entry in self.of("audit") if entry["event"] == event]


@cache
def planned(scenario, agent, sets):
    return compile_scenario(load(f"specs/scenario/{scenario}.yaml", set=[f"agent={agent}", *sets])[0])


@lru_cache(16)
def found(scenario, agent, sets):
    """A run that nobody changes: several tests look at the same one."""
    return Found(list(run(planned(scenario, agent, sets))))


class Submitting(KernelController):
    """A desk whose agent submits what a function makes of the document that it would submit."""

    def __init__(self, plan, change):
        super().__init__(plan)
        self._change = change

    def submit(self, moment, choice, occasion):
        return self._change(moment.t, super().submit(moment, choice, occasion))


@pytest.fixture(scope="session")
def go():
    """Run a scenario with an agent; `change` makes of (step, document) what is submitted."""

    def run_scenario(scenario, agent="honest", *sets, change=None):
        if change is None:
            return found(scenario, agent, sets)
        plan = planned(scenario, agent, sets)
        return Found(list(run(replace(plan, desk=lambda _plan: Submitting(plan, change)))))

    return run_scenario
