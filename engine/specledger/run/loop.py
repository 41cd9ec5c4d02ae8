"""The run of a scenario: its episodes in their order, between `start` and `end`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from specledger.compile.plan import Plan
from specledger.core.entries import Mode
from specledger.core.events import Event
from specledger.run.controller import DecisionController, ProposalController
from specledger.run.document_agent import SpecAgent
from specledger.run.episode import Episode
from specledger.run.governor_state import GovernorState
from specledger.run.kernel_controller import KernelController
from specledger.run.outside_agent import OutsideAgent, OutsideProposals


def run(
    plan: Plan,
    progress: Callable[[int, int], None] | None = None,
    episodes: Iterator[Event] | None = None,
    controller: DecisionController | None = None,
) -> Iterator[Event]:
    """Run every episode of a plan.

    Args:
        plan: What to run.
        progress: Called with (steps done, steps at most) after every step.
        episodes: The events of all episodes in their order, if they are made elsewhere.
        controller: The decision controller of the run; by default the one that the plan needs.

    Yields:
        `start`; per episode `episode`, then per step `drift`*, `commit`, `step`, or one `error`, then `episode_end`;
        `end`. What attaches to the loop yields `audit` and `probe` at its places.
    """
    yield Event(
        "start",
        {
            "scenario": plan.name,
            "specs": plan.specs,
            "seed": plan.seed,
            "episodes": plan.episodes,
            "horizon": plan.horizon,
            "gates": list(plan.gates),
            "invariants": [
                {"name": item.name, "scope": item.scope, "severity": item.severity} for item in plan.invariants
            ],
            "drifts": [{"drift": drift.name, "schedule": sorted(drift.schedule)} for drift in plan.drifts],
            **({"expect": dict(plan.expect)} if plan.expect else {}),
            **({} if plan.agent_faults == "inconclusive" else {"agent_faults": plan.agent_faults}),
            **_continued(plan),
        },
    )
    gates, steps = Counter(dict.fromkeys(plan.gates, 0)), 0
    for event in _in_turn(plan, controller or controller_of(plan)) if episodes is None else episodes:
        body = event.body
        if event.type == "step":
            steps += 1
            if progress is not None:
                progress(body["episode"] * plan.horizon + body["t"] + 1, plan.episodes * plan.horizon)
        elif event.type == "episode_end":
            gates.update(body["gates"])
        yield event
    yield Event("end", {"episodes": plan.episodes, "steps": steps, "gates": dict(gates)})


def controller_of(plan: Plan) -> DecisionController:
    """The decision controller that a plan needs: one for each form of answer, given by a spec or from outside.

    Raises:
        Rejected: E_AGENT_UNTRUSTED, if the agent is outside and the plan has no oracle.
    """
    if plan.kernel is not None:
        return KernelController(plan, SpecAgent if plan.outside is None else OutsideAgent)
    if plan.outside is not None:
        outside = OutsideProposals(plan)
        return ProposalController(plan, outside.propose, outside.faults)
    return ProposalController(plan, lambda moment: plan.propose(moment.observation, moment.memory))


def _in_turn(plan: Plan, controller: DecisionController) -> Iterator[Event]:
    """The events of all episodes; what lasts over the run goes from each to the next."""
    governor, memory = GovernorState(plan.governor_state), None
    for number in range(plan.episodes):
        episode = Episode(plan, number, controller, governor, memory)
        yield from episode.run()
        memory = episode.memory if plan.remembers == "run" else None


def separate(plan: Plan) -> bool:
    """Whether no episode depends on the one before it."""
    governor = plan.governor_state
    return (
        plan.remembers != "run"
        and (governor is None or governor.remembers != "run")
        and plan.watchdog is None
        and plan.oracle is None
    )


def run_episode(plan: Plan, number: int) -> Iterator[Event]:
    """The events of one episode of a plan whose episodes are separate."""
    return Episode(plan, number, controller_of(plan), GovernorState(plan.governor_state), None).run()


def _continued(plan: Plan) -> dict[str, Any]:
    """The audit log that a live run continues; a simulated run has one of its own."""
    if plan.oracle is None or plan.oracle.tape.mode is not Mode.LIVE:
        return {}
    return {"audit": {"mode": Mode.LIVE.value, "head": plan.oracle.tape.head}}
