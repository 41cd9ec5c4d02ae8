"""What changes of an actor in a run: its memory, and the memory and the potentials of its governor.

A potential changes by an action of the governed agent, or by something else: a drift, the action of another agent, or
an observation that changes the memory. A change of the second sort is recorded as a re-base.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Actor, PlannedGovernorState, State
from specledger.run.controller import PLACES, DecisionController

SEEN: Final = "seen"
"""The cause of a re-base by a change of the governor's memory."""
CHANCE: Final = "chance"
"""The cause of a re-base by what was drawn after an action."""


class GovernorValues(NamedTuple):
    """The memory, None before the first observation; the potentials, None before the first decision."""

    memory: Any = None
    potentials: Mapping[str, int] | None = None


class GovernorState:
    """The state of a governor over a run; empty without a plan for it.

    Attributes:
        values: The present ones. `shift` and `act` return the next ones, for the caller to assign.
    """

    def __init__(self, planned: PlannedGovernorState | None, label: Mapping[str, str]) -> None:
        """Begin a run with an empty memory; each re-base has the label of the actor."""
        self._planned = planned
        self._label = label
        self._rebases: list[dict[str, Any]] = []
        self.values = GovernorValues()

    def begin(self) -> None:
        """Begin an episode: a memory of scope `run` stays; potentials are computed anew."""
        stays = self._planned is not None and self._planned.remembers == "run"
        self.values = GovernorValues(self.values.memory if stays else None)

    def observe(self, observation: Any, state: State, *, fresh: bool) -> None:
        """Update the memory and the potentials before a decision.

        If it is `fresh`, an episode begins, or something else changed the state since the last step: what the memory
        keeps of everything that is observed is written before anything is judged.
        """
        self._rebases = []
        if self._planned is None:
            return
        memory, values = self.values
        if memory is None:
            later = self._planned.begin(observation)
        else:
            renew = self._planned.renew if fresh else None
            later = memory if renew is None else renew(observation, memory, {}, observation)
        after = self._planned.potentials(state, later) if values is None or later != memory else values
        self._rebases = self._changes(SEEN, values or after, after)
        self.values = GovernorValues(later, after)

    def shift(self, cause: str, state: State) -> tuple[list[dict[str, Any]], GovernorValues]:
        """The re-bases by a drift to a state, or by what another agent did, and the values after it."""
        memory, values = self.values
        if self._planned is None or values is None:
            return [], self.values
        after = self._planned.potentials(state, memory)
        return self._changes(cause, values, after), GovernorValues(memory, after)

    def refuse(self, observation: Any, state: State, seen: Any) -> tuple[dict[str, Any], GovernorValues]:
        """The part of a receipt about potentials, for a step without an action in a state, and the values after it."""
        values = self.values.potentials
        if self._planned is None or values is None:
            return {"potentials": {}, "rebases": []}, self.values
        after, rebases = self._remember(observation, {}, state, seen, values)
        return _document(values, values, [*self._rebases, *rebases]), after

    def act(
        self, observation: Any, action: Mapping[str, Any], state: State, seen: Any, settled_state: State | None = None
    ) -> tuple[dict[str, Any], GovernorValues]:
        """The part of a receipt about potentials, for a step with an action, and the values after it.

        An action is judged with the memory before it, by `settled_state`, the state after it alone. A change of
        potentials by what was drawn after it, or by the new observation, is a re-base.
        """
        if self._planned is None:
            return {"potentials": {}, "rebases": []}, self.values
        memory, values = self.values
        settled = self._planned.potentials(state, memory)
        acted = (
            settled
            if settled_state is None or settled_state is state
            else self._planned.potentials(settled_state, memory)
        )
        after, seen_rebases = self._remember(observation, action, state, seen, settled)
        rebases = [*self._rebases, *self._changes(CHANCE, acted, settled), *seen_rebases]
        return _document(values or acted, acted, rebases), after

    def _remember(
        self, observation: Any, action: Mapping[str, Any], state: State, seen: Any, settled: Mapping[str, int]
    ) -> tuple[GovernorValues, list[dict[str, Any]]]:
        """The values after a step that left the potentials `settled`, and the re-bases by what was seen then."""
        assert self._planned is not None  # noqa: S101 - both callers look
        memory = self.values.memory
        later = self._planned.remember(observation, memory, action, seen)
        after = settled if later == memory else self._planned.potentials(state, later)
        return GovernorValues(later, after), self._changes(SEEN, settled, after)

    def _changes(self, cause: str, before: Mapping[str, int], after: Mapping[str, int]) -> list[dict[str, Any]]:
        return [
            {**self._label, "potential": name, "cause": cause, "from": before[name], "to": after[name]}
            for name in after
            if after[name] != before[name]
        ]


def _document(before: Mapping[str, int], after: Mapping[str, int], rebases: list[dict[str, Any]]) -> dict[str, Any]:
    return {"potentials": {name: {"from": before[name], "to": after[name]} for name in after}, "rebases": rebases}


class ActorState:
    """What changes of an actor in a run.

    Attributes:
        memory: What the agent remembers, None before the first observation.
        seen: What it sees in the present state; None where it has not looked since something else changed that.
        pending: Proposals rejected since its last step with a cost.
        weight: What its memory and its governor's weighed after its last step, where that is asked.
        places: The places of a step at which its controller is asked for events.
    """

    def __init__(self, actor: Actor, controller: DecisionController, memory: Any = None) -> None:
        """Begin a run, with a memory of the agent if it has one already."""
        self.actor, self.controller = actor, controller
        adds = type(controller).events_at is not DecisionController.events_at
        self.places = frozenset() if not adds else PLACES if controller.attaches is None else controller.attaches
        self.governor = GovernorState(actor.governor_state, actor.label)
        self.memory = memory
        self.seen: Any = None
        self.pending = self.weight = 0
        self.gates: dict[str, int] = {}

    def begin(self) -> None:
        """Begin an episode: what lasts over the run stays."""
        if self.actor.remembers != "run":
            self.memory = None
        self.seen, self.pending = None, 0
        self.gates = dict.fromkeys(self.actor.gates, 0)
        self.controller.begin()
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
