"""The state of a governor over a run: its memory of the observations, and its potentials.

A potential changes by an action of the governed agent, or by something else: a drift, the action of another agent, or
an observation that changes the memory. A change of the second sort is recorded as a re-base.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.compile.plan import PlannedGovernorState, State

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

        Args:
            observation: What is seen at the decision.
            state: The state there.
            fresh: Whether an episode begins, or something else changed the state since the last action. The memory is
                updated with the observation before anything is judged.
        """
        self._rebases = []
        if self._planned is None:
            return
        memory, values = self.values
        if memory is None:
            later = self._planned.begin(observation)
        else:
            later = self._planned.remember(observation, memory, {}, observation) if fresh else memory
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

    def refuse(self) -> dict[str, Any]:
        """The part of a receipt about potentials, for a step without an action."""
        return _document(self.values.potentials or {}, self.values.potentials or {}, self._rebases)

    def act(
        self, observation: Any, action: Mapping[str, Any], state: State, seen: Any, made: State | None = None
    ) -> tuple[dict[str, Any], GovernorValues]:
        """The part of a receipt about potentials, for a step with an action, and the values after it.

        An action is judged with the memory before it, by the state that it alone `made`. A change of potentials by
        what was drawn after it, or by the new observation, is a re-base.
        """
        if self._planned is None:
            return {"potentials": {}, "rebases": []}, self.values
        memory, values = self.values
        settled = self._planned.potentials(state, memory)
        acted = settled if made is None or made is state else self._planned.potentials(made, memory)
        later = self._planned.remember(observation, memory, action, seen)
        after = settled if later == memory else self._planned.potentials(state, later)
        rebases = [*self._rebases, *self._changes(CHANCE, acted, settled), *self._changes(SEEN, settled, after)]
        return _document(values or acted, acted, rebases), GovernorValues(later, after)

    def _changes(self, cause: str, before: Mapping[str, int], after: Mapping[str, int]) -> list[dict[str, Any]]:
        return [
            {**self._label, "potential": name, "cause": cause, "from": before[name], "to": after[name]}
            for name in after
            if after[name] != before[name]
        ]


def _document(before: Mapping[str, int], after: Mapping[str, int], rebases: list[dict[str, Any]]) -> dict[str, Any]:
    return {"potentials": {name: {"from": before[name], "to": after[name]} for name in after}, "rebases": rebases}
