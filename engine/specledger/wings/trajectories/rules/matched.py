"""Sources of which only some results count for a call: those of earlier calls that have something in common with it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from specledger.core.unknown import Unknown, graver
from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.past import Source, SourcePlan


class MatchedSource:
    """A source for each combination of values at the paths of `same`, as calls have them."""

    def __init__(self, plan: SourcePlan, session: Any) -> None:
        self.plan = plan
        self._session = session
        self._plain = replace(plan, same=())
        self._parts: dict[str, Source] = {}
        self._unread: list[tuple[Unknown, Source]] = []

    def call(self, event: Event) -> None:
        """Remember a call of the source's tools."""
        self._part(event).call(event)

    def forget(self, event: Event) -> None:
        """Forget a call that was not made."""
        self._part(event).forget(event)

    def result(self, event: Event) -> None:
        """Remember what came back."""
        self._part(event).result(event)

    def find(self, type_: str, value: str, now: Event, *, stems: bool = False) -> str | None:
        """In words the first origin of a value among the results that count for a call now."""
        part = self._of(now)
        return part.find(type_, value, now, stems=stems) if isinstance(part, Source) else None

    def flows(self, plain: str, now: Event) -> str | Unknown | None:
        """In words the origin of something of these results that is inside a text of words, or that such a text is."""
        part = self._of(now)
        return part.flows(plain, now) if isinstance(part, Source) else part

    def unknown(self, now: Event) -> Unknown | None:
        """Why a value that is not in these results could be in one that counts all the same."""
        part = self._of(now)
        own = part.unknown(now) if isinstance(part, Source) else part
        doubts = [reason for reason, source in self._unread if source.has_heard(now)]
        return graver(own, *doubts)

    def _part(self, event: Event) -> Source:
        """The source to which an earlier call belongs."""
        values = [theirs(event.root("args")) for theirs, _ in self.plan.same]
        unknown = graver(*(value for value in values if isinstance(value, Unknown)))
        if unknown is None:
            key = repr(values)
            if key not in self._parts:
                self._parts[key] = Source(self._plain, self._session)
            return self._parts[key]
        known = next((source for reason, source in self._unread if reason == unknown), None)
        if known is None:
            known = Source(self._plain, self._session)
            self._unread.append((unknown, known))
        return known

    def _of(self, now: Event) -> Source | Unknown | None:
        """The source that counts for a call now; None if no earlier call has these values."""
        values = [ours(now.root("args")) for _, ours in self.plan.same]
        unknown = graver(*(value for value in values if isinstance(value, Unknown)))
        return self._parts.get(repr(values)) if unknown is None else unknown
