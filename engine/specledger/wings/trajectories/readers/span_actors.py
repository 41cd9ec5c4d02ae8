"""Whose doing the spans of a conversation are: the agent's, those of what it started, or those of agents beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from specledger.wings.trajectories.building import string
from specledger.wings.trajectories.readers.span_records import Span, SpanKind, kind_of

_NAMES: Final = ("gen_ai.agent.id", "gen_ai.agent.name", "agent.name", "graph.node.id")
"""The attributes that name an agent; the name of its span does, where it has none of them."""


class Actors:
    """Who acts in the spans of one conversation."""

    def __init__(self, spans: Sequence[Span], parents: Mapping[str, str], callers: Collection[str]) -> None:
        """Know the parent of each span, and the spans that are calls."""
        self._parents, self._callers = parents, callers
        self._kinds = {span.id: kind for span in spans if span.id and (kind := kind_of(span))}
        self._nearest: dict[str, str] = {}
        self._beside = self._agents_beside(spans)

    def within(self, span: Span) -> str:
        """The group that a span's messages are of: a tool's are those of its inside."""
        return span.id if span.id in self._callers or self._is_group(span.id) else self.around(span)

    def around(self, span: Span) -> str:
        """The group around a span: the id of the nearest span of a tool or a nested agent; empty if there is none."""
        around = self._nearest_to(span.parent)
        while around and around not in self._callers and not self._is_group(around):
            around = self._nearest_to(self._parents[around])
        return around

    def beside(self, at: str) -> str:
        """The agent beside the first one whose span is at or around a span of no group; empty for the first one."""
        return self._beside.get(self._nearest_to(at), "")

    def is_root(self, span: Span) -> bool:
        """Whether a span is that of an agent that nothing started, and no agent beside another one."""
        return not span.parent and self._kinds.get(span.id) is SpanKind.AGENT and not self._beside.get(span.id)

    def _agents_beside(self, spans: Sequence[Span]) -> dict[str, str]:
        """By span of an agent that no other one started: who acts there; empty for the first agent of a trace.

        Spans of one agent follow each other. One of another agent, or at the same time, is that of an agent beside it.
        """
        first = [s for s in spans if self._kinds.get(s.id) is SpanKind.AGENT and not self.within(s)]
        acting: dict[str, list[tuple[str, int, str]]] = {}
        beside = {}
        for span in sorted(first, key=lambda span: (not span.start, span.start)):
            known = acting.setdefault(span.trace, [])
            name, start = _name_of(span), span.start
            at = next((i for i, (other, end, _) in enumerate(known) if other == name and end <= start), len(known))
            actor = known[at][2] if at < len(known) else span.id if known else ""
            known[at : at + 1] = [(name, max(span.end, start), actor)]
            beside[span.id] = actor
        return beside

    def _is_group(self, id_: str) -> bool:
        """Whether a span is of a tool that is no call, or of an agent that another agent started."""
        kind, agent, kinds = self._kinds.get(id_), SpanKind.AGENT, self._kinds
        return kind is SpanKind.TOOL or (kind is agent and kinds.get(self._nearest_to(self._parents[id_])) is agent)

    def _nearest_to(self, at: str) -> str:
        """The id of the nearest span of a tool or an agent, from this one on; empty if there is none."""
        path = []
        while at in self._parents and at not in self._nearest and at not in self._callers and at not in self._kinds:
            path.append(at)
            self._nearest[at] = ""  # what leads back to itself is in none
            at = self._parents[at]
        nearest = at if at in self._callers or at in self._kinds else self._nearest.get(at, "")
        self._nearest.update(dict.fromkeys(path, nearest))
        return nearest


def _name_of(span: Span) -> str:
    names = (string(span.attributes.get(key)) for key in _NAMES)
    return next(filter(None, names), span.name)
