"""Earlier calls that a rule needs, or forbids: which of them there were, and which fulfil a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.unknown import Unknown
from specledger.wings.trajectories.rules.conditions import Event, bind
from specledger.wings.trajectories.rules.plans import EarlierPlan

PARALLEL: Final = "only a parallel call of the same message decides it"
"""Why a parallel call decides nothing."""


class EarlierCalls:
    """The calls of one plan, and which of them fulfil its condition."""

    def __init__(self, plan: EarlierPlan) -> None:
        self.plan = plan
        self.pending: list[Event] = []
        self.candidates: dict[tuple[Any, ...], tuple[Event, dict[str, Any]]] = {}
        self.last_since = -1

    def decide(self, session: Any, event: Event, outer: Mapping[str, Any]) -> tuple[Any, Event | None]:
        """True, False or Unknown for a call now, and the earlier call that decides."""
        waiting = []
        for earlier in self.pending:
            if self.plan.condition.reads_result and not earlier.answered:
                waiting.append(earlier)
            self._keep(session, earlier)
        self.pending = waiting
        unknown: Unknown | None = None
        own = [ours(event.root("args")) for _, ours in self.plan.same]
        unread = next((value for value in own if type(value) is Unknown), None)
        for earlier, bound in [*reversed(self.candidates.values())]:
            if earlier.number <= self.last_since or (unread is None and not self._same(earlier, own)):
                continue
            value = self.plan.condition.decide({**outer, **bound}) if self.plan.condition.outer else bound[""]
            if unread is not None and value is not False:
                unknown = unknown or unread
            elif value is True and not earlier.parallel_to(event):
                return True, earlier
            elif value is True or type(value) is Unknown:
                unknown = unknown or (value if type(value) is Unknown else Unknown(PARALLEL))
        return (False if unknown is None else unknown), None

    def _keep(self, session: Any, earlier: Event) -> None:
        """Keep the latest of the calls that read alike, for the parallel ones the one before as well."""
        condition = self.plan.condition
        bound = bind(condition.readers, session, earlier)
        if not condition.outer:
            bound = {"": condition.decide(bound)}
            if bound[""] is False:
                self.candidates.pop(("pending", earlier.number), None)
                return
        waits = condition.reads_result and not earlier.answered
        batch = earlier.call.batch if earlier.call is not None else 0
        keys = tuple(map(repr, (theirs(earlier.root("args")) for theirs, _ in self.plan.same)))
        key: tuple[Any, ...] = (keys, batch and ("batch", batch), tuple(sorted((n, repr(v)) for n, v in bound.items())))
        if waits:
            key = ("pending", earlier.number)
        else:
            self.candidates.pop(("pending", earlier.number), None)
        self.candidates.pop(key, None)
        self.candidates[key] = (earlier, bound)

    def _same(self, earlier: Event, own: Sequence[Any]) -> bool:
        return all(
            theirs(earlier.root("args")) == value for (theirs, _), value in zip(self.plan.same, own, strict=True)
        )
