"""The governor's own eyes: a memory of the observations, and the potentials that stand on it and on the state.

Decides which change of a potential comes from outside: one that no action made, but a drift or what was seen. Refuses
to know what a potential means, and what agents remember.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.compile.plan import PlannedWatch, State

SEEN: Final = "seen"
"""The cause of a re-base that the governor's memory made."""


class Watched(NamedTuple):
    """What is kept: the memory, None before the first observation; the potentials, None before the first decision."""

    memory: Any = None
    values: Mapping[str, int] | None = None


class Watch:
    """What a governor keeps over a run; without a plan for it, nothing.

    Attributes:
        kept: As it stands. Methods that look ahead return what would be kept, for the caller to keep.
    """

    def __init__(self, planned: PlannedWatch | None) -> None:
        """Begin a run with nothing remembered."""
        self._planned = planned
        self._rebases: list[dict[str, Any]] = []
        self.kept = Watched()

    def begin(self) -> None:
        """Begin an episode: a memory of the run stays, potentials are looked at anew."""
        stays = self._planned is not None and self._planned.remembers == "run"
        self.kept = Watched(self.kept.memory if stays else None)

    def observe(self, observation: Any, state: State, *, fresh: bool) -> None:
        """Know what a decision needs: the memory, and the potentials before it.

        Args:
            observation: What is seen at the decision.
            state: The state there.
            fresh: Whether this was not yet seen after an action: an episode begins, or a drift has come between. It is
                remembered before anything is judged.
        """
        self._rebases = []
        if self._planned is None:
            return
        memory, values = self.kept
        if memory is None:
            later = self._planned.begin(observation)
        else:
            later = self._planned.remember(observation, memory, {}, observation) if fresh else memory
        after = self._planned.potentials(state, later) if values is None or later != memory else values
        self._rebases = _rebases(SEEN, values or after, after)
        self.kept = Watched(later, after)

    def drift(self, cause: str, state: State) -> tuple[list[dict[str, Any]], Watched]:
        """The re-bases that a drift to a state makes, and what would be kept after it."""
        memory, values = self.kept
        if self._planned is None or values is None:
            return [], self.kept
        after = self._planned.potentials(state, memory)
        return _rebases(cause, values, after), Watched(memory, after)

    def stand(self) -> dict[str, Any]:
        """What a receipt says of potentials where nothing was done."""
        return _told(self.kept.values or {}, self.kept.values or {}, self._rebases)

    def act(
        self, observation: Any, action: Mapping[str, Any], state: State, seen: Any
    ) -> tuple[dict[str, Any], Watched]:
        """What a receipt says of the potentials of an action, and what would be kept after it.

        An action is judged with the memory of before: what is newly seen changes the potentials of the state that it
        led to, and that is not its doing.
        """
        if self._planned is None:
            return _told({}, {}, []), self.kept
        memory, values = self.kept
        acted = self._planned.potentials(state, memory)
        later = self._planned.remember(observation, memory, action, seen)
        after = acted if later == memory else self._planned.potentials(state, later)
        rebases = [*self._rebases, *_rebases(SEEN, acted, after)]
        return _told(values or acted, acted, rebases), Watched(later, after)


def _told(before: Mapping[str, int], after: Mapping[str, int], rebases: list[dict[str, Any]]) -> dict[str, Any]:
    return {"potentials": {name: {"from": before[name], "to": after[name]} for name in after}, "rebases": rebases}


def _rebases(cause: str, before: Mapping[str, int], after: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {"potential": name, "cause": cause, "from": before[name], "to": after[name]}
        for name in after
        if after[name] != before[name]
    ]
