"""Earlier calls that a rule needs, or forbids: which of them there were, and which fulfil a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specledger.core.unknown import Unknown
from specledger.wings.trajectories.rules.conditions import Event, bind
from specledger.wings.trajectories.rules.plans import EarlierPlan

Mark = tuple[tuple[Event, ...], Mapping[str, Event]]
"""What a session copies to take a call back."""


class EarlierCalls:
    """The calls of one plan, and which of them fulfil its condition; a parallel call is not earlier."""

    def __init__(self, plan: EarlierPlan) -> None:
        self.plan = plan
        self.pending: list[Event] = []
        self.candidates: dict[tuple[Any, ...], tuple[Event, dict[str, Any]]] = {}
        self._since: tuple[Event, ...] = ()
        self._served: Mapping[str, Event] = {}

    def begin_anew(self, event: Event) -> None:
        """Hear a call of the tools of `since`: the latest one, and the latest that is not parallel to it, are kept."""
        others = self._since[1:] if self._since and self._since[0].parallel_to(event) else self._since[:1]
        self._since = (event, *others)

    def mark(self) -> Mark:
        """What a call may change that is taken back."""
        return self._since, self._served

    def restore(self, mark: Mark) -> None:
        """Restore what was there before a call."""
        self._since, self._served = mark

    def _begin(self, event: Event) -> int:
        """The number of the call after which the earlier calls of a call begin.

        Of parallel calls each uses up what serves it, if it is of the tools of `since`.
        """
        begin = next((since.number for since in self._since if not since.parallel_to(event)), -1)
        served = None if event.call is None else self._served.get(event.call.actor)
        return begin if served is None or not served.parallel_to(event) else served.number

    def decide(self, session: Any, event: Event, outer: Mapping[str, Any], *, serves: bool) -> tuple[Any, Event | None]:
        """True, False or Unknown for a call now, and the earlier call that decides; `serves` if it is needed."""
        verdict, earlier = self._found(session, event, outer)
        since, call = self.plan.since, event.call
        if serves and verdict is not False and since is not None and call is not None and since(call.tool):
            self._served = {**self._served, call.actor: event}
        return verdict, earlier

    def _found(self, session: Any, event: Event, outer: Mapping[str, Any]) -> tuple[Any, Event | None]:
        waiting = []
        for earlier in self.pending:
            if self.plan.condition.reads_result and not earlier.answered:
                waiting.append(earlier)
            self._keep(session, earlier)
        self.pending = waiting
        unknown: Unknown | None = None
        begin = self._begin(event)
        own = [ours(event.root("args")) for _, ours in self.plan.same]
        unread = next((value for value in own if type(value) is Unknown), None)
        for earlier, bound in [*reversed(self.candidates.values())]:
            if earlier.number <= begin or earlier.parallel_to(event):
                continue
            if unread is None and not self._same(earlier, own):
                continue
            value = self.plan.condition.decide({**outer, **bound}) if self.plan.condition.outer else bound[""]
            if value is True and unread is None:
                return True, earlier
            if value is not False:
                unknown = unknown or unread or (value if type(value) is Unknown else None)
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
        call = earlier.call
        beside = (call.actor, call.batch) if call is not None and call.batch else ()
        keys = tuple(map(repr, (theirs(earlier.root("args")) for theirs, _ in self.plan.same)))
        key: tuple[Any, ...] = (keys, beside, tuple(sorted((n, repr(v)) for n, v in bound.items())))
        if waits:
            key = ("pending", earlier.number)
        else:
            self.candidates.pop(("pending", earlier.number), None)
        known = self.candidates.get(key)
        if known is None or known[0].number < earlier.number:  # results may come in another order than calls
            self.candidates.pop(key, None)
            self.candidates[key] = (earlier, bound)

    def _same(self, earlier: Event, own: Sequence[Any]) -> bool:
        return all(
            theirs(earlier.root("args")) == value for (theirs, _), value in zip(self.plan.same, own, strict=True)
        )
