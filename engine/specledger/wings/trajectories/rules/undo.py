"""What a session takes back if its last call turns out to be denied: then it was never made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.past import Source
from specledger.wings.trajectories.rules.plans import RulePlan


class Undo(Struct, frozen=True, eq=False):
    """The last call of a session, and what was remembered before it.

    Attributes:
        memory: By rule its counts and sums.
        repeated: By rule the call before, and how often it came in a row; None if there was none.
        since: What looks for earlier calls, each with the number of the last call after which it begins.
    """

    event: Event
    memory: Mapping[str, dict[str, Any]]
    repeated: Mapping[str, tuple[Any, int] | None]
    since: list[tuple[Any, int]]

    def apply(
        self,
        memory: dict[str, dict[str, Any]],
        repeated: dict[str, tuple[Any, int]],
        sources: Iterable[Source],
        earlier: Iterable[Any],
    ) -> None:
        """Restore what a session remembers, and take the call out of the sources and pasts of its tool."""
        memory.update(self.memory)
        for name, before in self.repeated.items():
            if before is None:
                repeated.pop(name, None)
            else:
                repeated[name] = before
        for state, number in self.since:
            state.last_since = number
        for source in sources:
            source.forget(self.event)
        for state in earlier:
            state.pending.remove(self.event)


def copies(memory: Mapping[str, dict[str, Any]], rules: Iterable[RulePlan]) -> dict[str, dict[str, Any]]:
    """The memories of some rules, as they are."""
    return {rule.name: dict(memory.get(rule.name, {})) for rule in rules if rule.memory}
