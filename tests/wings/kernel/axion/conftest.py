"""Runs under the kernel, for the seed's tests: whole scenarios, with agents that submit what they like."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import pytest

from specledger.run.loop import run
from specledger.wings.kernel.documents.digests import receive
from specledger.wings.kernel.run.controller import KernelController
from specledger.wings.kernel.run.document_agent import SpecAgent, Submitted
from tests.toys import shipped_plan


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
    return shipped_plan(scenario, f"agent={agent}", *sets)


@lru_cache(16)
def found(scenario, agent, sets):
    """A run that nobody changes: several tests look at the same one."""
    return Found(list(run(planned(scenario, agent, sets))))


class Submitting(SpecAgent):
    """An agent that submits what a function makes of its document."""

    change: Callable

    def submit(self, moment):
        made = super().submit(moment)
        return made and Submitted(receive(self.change(moment.t, made.submission.document)), made.score)


@pytest.fixture(scope="session")
def go():
    """Run a scenario with an agent; `change` makes of (step, document) what is submitted."""

    def run_scenario(scenario, agent="honest", *sets, change=None):
        if change is None:
            return found(scenario, agent, sets)
        plan = planned(scenario, agent, sets)

        def make_agent(*given):
            agent = Submitting(*given)
            agent.change = change
            return agent

        return Found(list(run(plan, controllers=[KernelController(plan, plan.actors[0], make_agent)])))

    return run_scenario
