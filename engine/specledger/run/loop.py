"""The run of a scenario: its episodes in their order, between `start` and `end`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from specledger.compile.plan import Actor, Plan
from specledger.core.entries import Entries, Mode
from specledger.core.events import Event
from specledger.run.actor_state import ActorState
from specledger.run.controller import DecisionController
from specledger.run.document_agent import SpecAgent
from specledger.run.episode import Episode
from specledger.run.kernel_controller import KernelController, entries_of
from specledger.run.outside_agent import OutsideAgent
from specledger.run.outside_proposals import OutsideProposals


def run(
    plan: Plan,
    progress: Callable[[int, int], None] | None = None,
    episodes: Iterator[Event] | None = None,
    controllers: Sequence[DecisionController] | None = None,
) -> Iterator[Event]:
    """Run every episode of a plan.

    Args:
        plan: What to run.
        progress: Called with (steps done, steps at most) after every step.
        episodes: The events of all episodes in their order, if they are made elsewhere.
        controllers: The decision controller of each actor; by default those that the plan needs.

    Yields:
        `start`; per episode `episode`, then per step `drift`*, and per turn a `commit` and a `step` of each actor, or
        one `error`, then `episode_end`; `end`. What attaches to the loop yields `audit` and `probe` at its places.
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
            **_cast(plan),
            **({} if plan.agent_faults == "inconclusive" else {"agent_faults": plan.agent_faults}),
            **_continued(plan),
        },
    )
    gates, steps = Counter(dict.fromkeys(plan.gates, 0)), 0
    for event in _in_turn(plan, controllers or controllers_of(plan)) if episodes is None else episodes:
        body = event.body
        if event.type == "step" and progress is not None:
            progress(body["episode"] * plan.horizon + body["t"] + 1, plan.episodes * plan.horizon)
        elif event.type == "episode_end":
            steps += body["steps"]
            gates.update(body["gates"])
        yield event
    yield Event("end", {"episodes": plan.episodes, "steps": steps, "gates": dict(gates)})


def controllers_of(plan: Plan) -> tuple[DecisionController, ...]:
    """The decision controllers that a plan needs, one for each actor; its kernels share one log."""
    entries = entries_of(plan)
    return tuple(_controller(plan, actor, entries) for actor in plan.actors)


def _controller(plan: Plan, actor: Actor, entries: Entries) -> DecisionController:
    if actor.kernel is not None:
        return KernelController(plan, actor, SpecAgent if actor.outside is None else OutsideAgent, entries)
    if actor.outside is not None:
        return OutsideProposals(plan, actor)
    return DecisionController(actor)


def _in_turn(plan: Plan, controllers: Sequence[DecisionController]) -> Iterator[Event]:
    """The events of all episodes; what lasts over the run goes from each to the next."""
    actors = [*map(ActorState, plan.actors, controllers)]
    for number in range(plan.episodes):
        yield from Episode(plan, number, actors).run()


def separate(plan: Plan) -> bool:
    """Whether no episode depends on the one before it."""
    governors = [actor.governor_state for actor in plan.actors]
    return (
        all(actor.remembers != "run" for actor in plan.actors)
        and all(governor is None or governor.remembers != "run" for governor in governors)
        and plan.watchdog is None
        and plan.oracle is None
    )


def run_episode(plan: Plan, number: int) -> Iterator[Event]:
    """The events of one episode of a plan whose episodes are separate."""
    return Episode(plan, number, [*map(ActorState, plan.actors, controllers_of(plan))]).run()


def _cast(plan: Plan) -> dict[str, Any]:
    """The agents in the order in which they act, if there are several."""
    turns = "simultaneous" if plan.simultaneous else "order"
    return {"agents": [actor.name for actor in plan.actors], "turns": turns} if len(plan.actors) > 1 else {}


def _continued(plan: Plan) -> dict[str, Any]:
    """The audit log that a live run continues; a simulated run has one of its own."""
    if plan.oracle is None or plan.oracle.tape.mode is not Mode.LIVE:
        return {}
    return {"audit": {"mode": Mode.LIVE.value, "head": plan.oracle.tape.head}}
