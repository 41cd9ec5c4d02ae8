"""From the spans of a conversation to its trajectory: messages and calls in the order of time, each once."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET, Struct

from specledger.core.canonical import canonical_bytes
from specledger.wings.trajectories.building import Builder, string
from specledger.wings.trajectories.findings import E_LOG_MESSAGE
from specledger.wings.trajectories.model import Speaker
from specledger.wings.trajectories.readers.message_parts import (
    ANY,
    REDACTED,
    CallPart,
    Message,
    Part,
    ResultPart,
    TextPart,
    agrees,
    arguments_key,
    key_of,
    keys_asked,
    structure,
)
from specledger.wings.trajectories.readers.span_actors import Actors
from specledger.wings.trajectories.readers.span_messages import exchange_of, messages_of, task_of
from specledger.wings.trajectories.readers.span_records import Span
from specledger.wings.trajectories.stamps import Stamp, stamp_at


class ToolKeys(Struct, frozen=True):
    """The attributes by which the span of a tool says what was called.

    Attributes:
        plain: The name of an argument that is a text alone; empty if arguments are always JSON.
    """

    name: str
    id: str
    arguments: str
    result: str
    plain: str = ""


class _Tool(Struct):
    """A call that has a span.

    Attributes:
        is_named: Whether the log gives the call an id.
        batch: What the calls of its message have in common; empty if no message asks for it.
        is_asked: Whether a message asks for it.
    """

    id: str
    name: str
    arguments: Any
    result: Any
    is_named: bool
    batch: str = ""
    is_asked: bool = False


class _Step(Struct):
    """What happens at a time: a part of a message that is new, or a tool begins or ends.

    Attributes:
        tool: The call that begins or ends; of a part that asks for a call the one that has a span, if one has.
    """

    span: Span
    time: Stamp
    part: Part | None = None
    batch: str = ""
    tool: _Tool | None = None
    is_end: bool = False


class Conversation:
    """The spans of one conversation, read into a builder."""

    def __init__(
        self, builder: Builder, spans: Sequence[Span], is_tool: Callable[[Span], bool], keys: ToolKeys
    ) -> None:
        self._builder = builder
        self._spans = spans
        self._keys = keys
        self._tools = [self._tool_of(span) if is_tool(span) else None for span in spans]
        self._parents = {span.id: span.parent for span in spans if span.id}
        callers = {span.id: tool for span, tool in zip(spans, self._tools, strict=True) if tool is not None}
        self._callers, self._actors = callers, Actors(spans, self._parents, callers)
        self._within, self._around = self._actors.within, self._actors.around
        self._known: dict[str, Counter[Any]] = defaultdict(Counter)
        self._reported: set[tuple[str, bytes]] = set()
        self._groups: dict[str, tuple[int, int]] = {}

    def read(self) -> None:
        """Add what the spans hold."""
        steps = list(self._steps())
        self._link(steps)
        for step in steps:
            if step.part is not None:
                self._add_part(step, step.part)
            elif step.tool is not None and step.is_end:
                failed = step.span.failed or "error.type" in step.span.attributes
                error = True if failed else None
                self._builder.result(step.tool.id, step.tool.result, error=error, line=step.span.line, time=step.time)
            elif step.tool is not None:
                self._add_call(step.span, step.tool)

    def _tool_of(self, span: Span) -> _Tool | None:
        """What the span of a tool says; None, with a finding, if it has no name."""
        keys = self._keys
        name = string(span.attributes.get(keys.name)) or span.name.removeprefix("execute_tool ")
        if not name:
            self._builder.record("a span of a tool has its name", span.line)
            return None
        given, returned = exchange_of(span)
        arguments, result = span.attributes.get(keys.arguments, given), span.attributes.get(keys.result, returned)
        own = string(span.attributes.get(keys.id))
        return _Tool(
            own or span.id,
            name,
            UNSET if arguments == REDACTED else arguments,
            UNSET if result == REDACTED else result,
            is_named=bool(own),
        )

    def _steps(self) -> Iterator[_Step]:
        """What happens, in the order of time; where a time is not known, in the order of the log."""
        lists = [
            messages_of(span, partial(self._report, span), is_tool=tool is not None)
            for span, tool in zip(self._spans, self._tools, strict=True)
        ]
        for number, span in enumerate(self._spans):
            if self._actors.is_root(span):
                lists[number][0].extend(task_of(span))
        spoken = [any(map(any, read)) for read in lists]
        outer = self._outer([span for span, speaks in zip(self._spans, spoken, strict=True) if speaks])
        self._report_undated(
            [s for s, speaks, tool in zip(self._spans, spoken, self._tools, strict=True) if speaks or tool is not None]
        )
        before: dict[int, Counter[Any]] = {}
        for number, is_end in self._moments(outer):
            span, tool = self._spans[number], self._tools[number]
            time = span.time if not is_end else stamp_at(span.end // 1000) if span.end else ""
            if tool is not None and not is_end:
                yield _Step(span, time, tool=tool)
            given, answered = lists[number]
            if answered and (is_end is (span.id not in outer)):
                before[number] = self._counted(span, answered)
            if answered if is_end else given:
                batch = f"answer {number}" if is_end else ""
                fresh = (
                    self._fresh(span, answered, before.pop(number, Counter())) if is_end else self._fresh(span, given)
                )
                for part, message in fresh:
                    yield _Step(span, time, part, batch or f"{number} {message.where}")
            if tool is not None and is_end:
                yield _Step(span, time, tool=tool, is_end=True)

    def _moments(self, outer: set[str]) -> Iterator[tuple[int, bool]]:
        """The numbers of the spans as they begin and end: what is around others begins before and ends after them.

        What has no start is last: nothing that happened before can come from it.
        """
        latest = max((max(span.start, span.end) for span in self._spans), default=0)
        moments = []
        for number, span in enumerate(self._spans):
            start, is_outer = span.start or latest, span.id in outer
            moments.append((start, 1, not is_outer, number, False))
            later = span.end > start
            moments.append(
                (span.end, 0, is_outer, number, True) if later else (start, 1 + is_outer, True, number, True)
            )
        yield from ((number, is_end) for _, _, _, number, is_end in sorted(moments))

    def _report_undated(self, spans: Sequence[Span]) -> None:
        """Report a span whose place among the others that say something is not known."""
        undated = next((span for span in spans if not span.start), None)
        if undated is not None and len(spans) > 1:
            self._report(undated, "no time says when it began, so its place among the others is not known")

    def _outer(self, speaking: Sequence[Span]) -> set[str]:
        """The ids of spans around others that have messages: what they answered is what those did."""
        outer: set[str] = set()
        for span in speaking:
            parent = span.parent
            while parent in self._parents and parent not in outer:
                outer.add(parent)
                parent = self._parents[parent]
        return outer

    def _counted(self, span: Span, lists: Sequence[Sequence[Message]]) -> Counter[Any]:
        """How often each part of some lists is known."""
        known = self._known[self._within(span)]
        keys = {key_of(part) for messages in lists for message in messages for part in message.parts}
        return Counter({key: known[key] for key in keys})

    def _fresh(
        self, span: Span, lists: Sequence[Sequence[Message]], before: Counter[Any] | None = None
    ) -> Iterator[tuple[Part, Message]]:
        """The parts that no earlier list of this agent has as often.

        What was known `before` an answer began is no copy of it: who says the same again says it twice.
        """
        known = self._known[self._within(span)]
        for messages in lists:
            counted = Counter[Any]() if before is None else before.copy()
            is_new = False
            for message in messages:
                for defect in message.defects:
                    self._report_once(span, message, defect)
                for part in message.parts:
                    key = key_of(part)
                    counted[key] += 1
                    if counted[key] > known[key]:
                        known[key] += 1
                        is_new = is_new or not (isinstance(part, TextPart) and part.speaker is Speaker.SYSTEM)
                        yield part, message
                    elif is_new and before is None and isinstance(part, CallPart):
                        self._report_once(
                            span, message, "whether a call after what is new is an earlier one is not known"
                        )

    def _report(self, span: Span, message: str) -> None:
        self._builder.finding(E_LOG_MESSAGE, f"span {(span.id or span.parent)[:64]}: {message}", span.line)

    def _report_once(self, span: Span, message: Message, defect: str) -> None:
        """Report what of a message cannot be read, once where later spans repeat it."""
        written = (defect, canonical_bytes(message.written))
        if written not in self._reported:
            self._reported.add(written)
            self._report(span, f"{message.where}: {defect}")

    def _actor_of(self, group: str, at: str) -> tuple[str, str]:
        """Who acts in a group at a span, and the call that began it; both are empty for the agent itself."""
        call = self._callers[group].id if group in self._callers else ""
        return call or group or self._actors.beside(at), call

    def _link(self, steps: Sequence[_Step]) -> None:
        """Find which calls of messages have a span, and give those what their messages say.

        A span is that of a call if both are of the same agent, and have the same tool and id; without an id of its own,
        if it has no other arguments. It is that of one call only.
        """
        parts = [step for step in steps if step.part is not None]
        if not parts:
            return
        waiting: dict[tuple[str | bytes, ...], deque[_Tool]] = defaultdict(deque)
        asked: dict[tuple[str, str, str], deque[_Tool | None]] = defaultdict(deque)
        for step in steps:
            if step.tool is not None and not step.is_end:
                tool, group = step.tool, self._around(step.span)
                if tool.is_named:
                    waiting[group, tool.name, tool.id].append(tool)
                    waiting[group, tool.id].append(tool)
                else:
                    waiting[group, tool.name, arguments_key(tool.arguments)].append(tool)
                    waiting[group, tool.name, ANY].append(tool)
        for step in parts:
            part, group = step.part, self._within(step.span)
            if isinstance(part, CallPart):
                keys: list[str | bytes] = [*filter(None, [part.id]), *keys_asked(part.arguments)]
                linked = next(filter(None, (_take(waiting[group, part.tool, key]) for key in keys)), None)
                asked[group, part.id, "" if part.id else part.tool].append(linked)
                if linked is not None:
                    self._complete(linked, part, step)
            elif isinstance(part, ResultPart):
                calls = asked[group, part.id, "" if part.id else part.tool] or waiting[group, part.id]
                step.tool = (calls.popleft() if len(calls) > 1 else calls[0]) if calls else None
                if step.tool is not None and step.tool.result is UNSET:
                    step.tool.result = part.content

    def _complete(self, tool: _Tool, asked: CallPart, step: _Step) -> None:
        """Give the call of a span what the message that asks for it says."""
        step.tool, tool.is_asked = tool, True
        tool.batch = tool.batch or step.batch
        tool.id = asked.id or tool.id
        if not agrees(tool.arguments, asked.arguments):
            self._report(step.span, f"the call {tool.id[:64]!r} has other arguments than its span")
        if not isinstance(structure(tool.arguments), dict) and asked.arguments is not UNSET:
            tool.arguments = asked.arguments

    def _add_call(self, span: Span, tool: _Tool) -> None:
        actor, parent = self._actor_of(self._around(span), span.parent)
        until, group = self._groups.get(actor, (0, 0))
        batch = self._builder.batch_of(tool.batch) if tool.batch else group
        if not tool.batch and span.start >= until:
            batch = self._builder.begin_batch()
        self._groups[actor] = (max(until, span.end), batch)
        arguments = tool.arguments
        if arguments is not UNSET:
            is_object = isinstance(arguments, str) and arguments.lstrip().startswith("{")
            arguments = self._builder.parsed(arguments, span.line, "" if is_object else self._keys.plain, call=tool.id)
        self._builder.call(
            tool.name, arguments, id=tool.id, batch=batch, actor=actor, parent=parent, line=span.line, time=span.time
        )

    def _add_part(self, step: _Step, part: Part) -> None:
        """Add a text, and a call or what came back from one that has no span."""
        builder, line = self._builder, step.span.line
        actor, parent = self._actor_of(self._within(step.span), step.span.id or step.span.parent)
        if isinstance(part, TextPart):
            builder.message(part.speaker, part.text, actor=actor, line=line, time=step.time)
            return
        if step.tool is not None:
            return
        if isinstance(part, CallPart):
            arguments = (
                part.arguments if part.arguments is UNSET else builder.parsed(part.arguments, line, call=part.id)
            )
            batch, name = builder.batch_of(step.batch), part.id or None
            builder.call(
                part.tool, arguments, id=name, batch=batch, actor=actor, parent=parent, line=line, time=step.time
            )
            return
        call = part.id or builder.first_waiting(part.tool)
        if call is not None:
            builder.result(call, part.content, error=part.error, line=line, time=step.time)
        else:
            self._report(step.span, "a result has the id of its call")


def _take(tools: deque[_Tool]) -> _Tool | None:
    """The first call that no message asked for yet."""
    while tools and tools[0].is_asked:
        tools.popleft()
    return tools.popleft() if tools else None
