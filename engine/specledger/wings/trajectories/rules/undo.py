"""What a session takes back if its last call turns out to be denied: then it was never made."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.earlier import EarlierCalls, Mark
from specledger.wings.trajectories.rules.matched import MatchedSource
from specledger.wings.trajectories.rules.memory import Memory, Remembered
from specledger.wings.trajectories.rules.past import Source


class Undo(Struct, frozen=True, eq=False):
    """The last call of a session, and what was remembered before it.

    Attributes:
        memory: What the rules about it remembered.
        since: What looks for earlier calls, each with what says where it begins.
    """

    event: Event
    memory: Remembered
    since: list[tuple[EarlierCalls, Mark]]

    def apply(self, memory: Memory, sources: Iterable[Source | MatchedSource], earlier: Iterable[EarlierCalls]) -> None:
        """Restore what a session remembers, and take the call out of the sources and pasts of its tool."""
        memory.restore(self.memory, self.event.number)
        for state, mark in self.since:
            state.restore(mark)
        for source in sources:
            source.forget(self.event)
        for state in earlier:
            state.pending.remove(self.event)
