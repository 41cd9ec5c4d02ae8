"""Earlier calls that a rule needs, or forbids: which of them there were, and which fulfil a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.unknown import Unknown, graver
from specledger.wings.trajectories.rules.conditions import Event, bind
from specledger.wings.trajectories.rules.plans import EarlierPlan
from specledger.wings.trajectories.rules.same import are_same

_Candidate = tuple[Event, dict[str, Any]]
"""An earlier call, with what was read of it."""
_MESSAGES: Final = 3
"""Of so many messages calls of `since` are kept: one may be that of a call now, another that of the call before it."""
Mark = tuple[tuple[Event, ...], Mapping[str, Event]]
"""What a session copies to take a call back."""


class EarlierCalls:
    """The calls of one plan, and which of them fulfil its condition; a parallel call is not earlier."""

    def __init__(self, plan: EarlierPlan) -> None:
        self.plan = plan
        self.pending: list[Event] = []
        self.candidates: dict[tuple[Any, ...], tuple[_Candidate, ...]] = {}
        self._since: tuple[Event, ...] = ()
        self._served: Mapping[str, Event] = {}

    def begin_anew(self, event: Event) -> None:
        """Hear a call of the tools of `since`: the latest of three messages are kept, one for each."""
        others = [since for since in self._since if not since.parallel_to(event)]
        self._since = (event, *others[: _MESSAGES - 1])

    def mark(self) -> Mark:
        """What a call may change that is taken back."""
        return self._since, self._served

    def restore(self, mark: Mark) -> None:
        """Restore what was there before a call."""
        self._since, self._served = mark

    def _is_over(self, earlier: Event, event: Event) -> bool:
        """Whether a call of the tools of `since` came after an earlier call, and before a call now.

        Calls of one message are neither before nor after each other. Of those that are judged each uses up what serves
        it, if it is of these tools itself.
        """
        since = self.plan.since
        if since is not None and earlier.call is not None and since(earlier.call.tool):
            return True  # it is not later than itself
        served = None if event.call is None else self._served.get(event.call.actor)
        if served is not None and served.parallel_to(event) and served.number > earlier.number:
            return True
        return any(
            last.number > earlier.number and not last.parallel_to(earlier) and not last.parallel_to(event)
            for last in self._since
        )

    def decide(self, session: Any, event: Event, outer: Mapping[str, Any], *, serves: bool) -> tuple[Any, Event | None]:
        """True, False or Unknown for a call now, and the earlier call that decides; `serves` if it is needed.

        With False stands a call that would decide if it were earlier: it is parallel.
        """
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
        self._forget()
        unknown: Unknown | None = None
        beside: Event | None = None
        own = [ours(event.root("args")) for _, ours in self.plan.same]
        unread = next((value for value in own if type(value) is Unknown), None)
        for earlier, bound in [alike for kept in reversed(self.candidates.values()) for alike in kept]:
            parallel = earlier.parallel_to(event)
            if not parallel and self._is_over(earlier, event):
                continue
            equal = True if unread is not None else are_same(earlier, self.plan.same, own)
            if equal is False:
                continue
            value = self.plan.condition.decide({**outer, **bound}) if self.plan.condition.outer else bound[""]
            if parallel:
                beside = earlier if value is not False and equal is True else beside
                continue
            if value is True and unread is None and equal is True:
                return True, earlier
            if value is not False:
                unknown = graver(unknown, unread, *(each for each in (equal, value) if isinstance(each, Unknown)))
        return (False, beside) if unknown is None else (unknown, None)

    def _keep(self, session: Any, earlier: Event) -> None:
        """Keep the latest of the calls that read alike, and for those parallel to it the latest that is not."""
        condition = self.plan.condition
        bound = bind(condition.readers, session, earlier)
        if not condition.outer:
            bound = {"": condition.decide(bound)}
            if bound[""] is False:
                self.candidates.pop(("pending", earlier.number), None)
                return
        waits = condition.reads_result and not earlier.answered
        self.candidates.pop(("pending", earlier.number), None)
        if waits:
            self.candidates["pending", earlier.number] = ((earlier, bound),)
            return
        keys = tuple(map(repr, (theirs(earlier.root("args")) for theirs, _ in self.plan.same)))
        key = (keys, tuple(sorted((n, repr(v)) for n, v in bound.items())))
        known = self.candidates.pop(key, ())
        # results may come in another order than calls
        latest, *others = sorted([*known, (earlier, bound)], key=lambda candidate: -candidate[0].number)
        self.candidates[key] = (latest, *[other for other in others if not other[0].parallel_to(latest[0])][:1])

    def _forget(self) -> None:
        """Leave out candidates before the last three messages with a call of `since`, since these are over for all."""
        if len(self._since) < _MESSAGES:
            return
        while self.candidates:
            key = next(iter(self.candidates))
            if self.candidates[key][0][0].number >= self._since[-1].number:
                return
            del self.candidates[key]
