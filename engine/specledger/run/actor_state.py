"""An actor in a run: its controller, its memory, the state of its governor; and one decision that it makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specledger.compile.plan import Actor, Judgement, Proposal, State
from specledger.run.controller import DecisionController, EpisodeActuator, Moment
from specledger.run.governor_state import GovernorState
from specledger.run.step_result import error_body


class ActorState:
    """What changes of an actor in a run.

    Attributes:
        actor, controller: Who decides, and how one of its decisions is made.
        memory: What the agent remembers, None before the first observation.
        seen: What it sees in the present state; None where it has not looked since something else changed that.
        pending: Proposals rejected since its last step with a cost.
        actuator: What executes its actions in the episode.
    """

    def __init__(self, actor: Actor, controller: DecisionController, memory: Any = None) -> None:
        """Begin a run, with a memory of the agent if it has one already."""
        self.actor, self.controller = actor, controller
        self.governor = GovernorState(actor.governor_state, actor.label)
        self.memory = memory
        self.seen: Any = None
        self.pending = 0
        self.gates: dict[str, int] = {}
        self.actuator: EpisodeActuator

    def begin(self) -> None:
        """Begin an episode: what lasts over the run stays."""
        if self.actor.remembers != "run":
            self.memory = None
        self.seen, self.pending = None, 0
        self.gates = dict.fromkeys(self.actor.gates, 0)
        self.actuator = self.controller.actuator()
        self.governor.begin()

    def look(self, state: State) -> Any:
        """What the agent sees in the present state."""
        return self.actor.observe(state) if self.seen is None else self.seen

    def observe(self, state: State) -> Any:
        """What the agent sees at a decision; its memory and its governor's begin or go on with that."""
        fresh, observation = self.seen is None, self.look(state)
        if self.memory is None:
            self.memory = self.actor.begin(observation)
        self.governor.observe(observation, state, fresh=fresh)
        return observation


@dataclass(slots=True)
class Decision:
    """One decision, filled in as it is made.

    Attributes:
        found: What the governor found about each proposal.
        chosen: The admitted proposal with the greatest value; None if there is none, or no token for it.
        before, made, after, outcome, inputs: The step that was executed; nothing changed if none was. The action alone
            `made` a state, and chance led to the one `after`.
    """

    by: ActorState
    moment: Moment
    chosen: int | None = None
    proposals: list[Proposal] = field(init=False)
    leaves: list[bytes] = field(init=False)
    root: str = field(init=False)
    found: list[Judgement] = field(init=False)
    before: State = field(init=False)
    made: State = field(init=False)
    after: State = field(init=False)
    chance: dict[str, Any] = field(init=False)
    outcome: dict[str, Any] = field(init=False)
    inputs: dict[str, Any] = field(init=False)

    @property
    def action(self) -> dict[str, Any]:
        """The chosen action; one without an operation where nothing was chosen."""
        action: dict[str, Any] = {"op": ""} if self.chosen is None else self.proposals[self.chosen]["action"]
        return action

    def document(self) -> list[dict[str, Any]]:
        """What was found about each proposal, as a receipt holds it."""
        return [
            {"rejected": judgement.rejected, "error": None if judgement.error is None else error_body(judgement.error)}
            for judgement in self.found
        ]

    def count(self) -> None:
        """Count the rejections, after the decision has a receipt."""
        by = self.by
        if self.chosen is not None and self.found[self.chosen].cost["total"] != 0:
            by.pending = 0
        for judgement in self.found:
            if judgement.rejected:
                by.pending += 1
                for failing in judgement.rejected:
                    by.gates[failing["gate"]] += 1
