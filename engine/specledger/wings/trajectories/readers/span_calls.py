"""From the spans of a conversation to its trajectory: messages and calls in the order of time, each once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET, Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.building import Builder, string
from specledger.wings.trajectories.findings import E_LOG_MESSAGE
from specledger.wings.trajectories.readers.message_parts import REDACTED, Asked, Message, Part, Returned, Said
from specledger.wings.trajectories.readers.span_messages import exchange_of, messages_of
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
    """

    id: str
    name: str
    arguments: Any
    result: Any
    is_named: bool
    batch: str = ""


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
        self._callers = {span.id: tool for span, tool in zip(spans, self._tools, strict=True) if tool is not None}
        self._inside: dict[str, str] = {}
        self._known: dict[str, Counter[Any]] = defaultdict(Counter)
        self._reported: set[tuple[str, bytes]] = set()
        self._links: dict[str, _Tool] = {}
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
        outer = self._outer([span for span, read in zip(self._spans, lists, strict=True) if any(map(any, read))])
        moments = []
        for number, span in enumerate(self._spans):
            moments.append((span.start, 1, number, False))
            later = span.end > span.start
            moments.append((span.end, 0, number, True) if later else (span.start, 1, number, True))
        for _, _, number, is_end in sorted(moments):
            span, tool = self._spans[number], self._tools[number]
            time = span.time if not is_end else stamp_at(span.end // 1000) if span.end else ""
            batch = f"answer {number}" if is_end else ""
            is_leaf = is_end and span.id not in outer
            said = lists[number][is_end]
            for part, message in self._fresh(span, said, repeats=is_leaf) if said else ():
                yield _Step(span, time, part, batch or f"{number} {message.where}")
            if tool is not None:
                yield _Step(span, time, tool=tool, is_end=is_end)

    def _outer(self, speaking: Sequence[Span]) -> set[str]:
        """The ids of spans around others that have messages: what they answered is what those did."""
        outer: set[str] = set()
        for span in speaking:
            parent = span.parent
            while parent in self._parents and parent not in outer:
                outer.add(parent)
                parent = self._parents[parent]
        return outer

    def _fresh(
        self, span: Span, lists: Sequence[Sequence[Message]], *, repeats: bool
    ) -> Iterator[tuple[Part, Message]]:
        """The parts that no earlier list has as often; with `repeats`, a text that this span answers is a new one."""
        known, here = self._known[self._around(span)], Counter[Any]()
        for messages in lists:
            counted = Counter[Any]()
            for message in messages:
                for defect in message.defects:
                    self._report_once(span, message, defect)
                for part in message.parts:
                    key = _key_of(part)
                    counted[key] += 1
                    if counted[key] > (here if repeats and isinstance(part, Said) else known)[key]:
                        known[key] += 1
                        here[key] += 1
                        yield part, message

    def _report(self, span: Span, message: str) -> None:
        self._builder.finding(E_LOG_MESSAGE, f"span {(span.id or span.parent)[:64]}: {message}", span.line)

    def _report_once(self, span: Span, message: Message, defect: str) -> None:
        """Report what of a message cannot be read, once where later spans repeat it."""
        written = (defect, canonical_bytes(message.written))
        if written not in self._reported:
            self._reported.add(written)
            self._report(span, f"{message.where}: {defect}")

    def _actor_of(self, span: Span) -> str:
        """The call whose span is around a span; empty for what the agent itself does."""
        around = self._around(span)
        return self._callers[around].id if around else ""

    def _around(self, span: Span) -> str:
        """The id of the nearest span of a tool around a span; empty if there is none."""
        path, at = [], span.parent
        while at in self._parents and at not in self._inside and at not in self._callers:
            path.append(at)
            self._inside[at] = ""  # what leads back to itself is in no tool
            at = self._parents[at]
        around = at if at in self._callers else self._inside.get(at, "")
        self._inside.update(dict.fromkeys(path, around))
        return around

    def _link(self, steps: Sequence[_Step]) -> None:
        """Find which calls of messages have a span, and give those what their messages say."""
        named = {tool.id: tool for tool in self._tools if tool is not None and tool.is_named}
        unnamed: dict[str, list[_Tool]] = defaultdict(list)
        for step in steps:
            if step.tool is not None and not step.is_end and not step.tool.is_named:
                unnamed[step.tool.name].append(step.tool)
        for step in steps:
            if isinstance(step.part, Asked):
                tool = named.get(step.part.id) or self._take(unnamed[step.part.tool], step.part)
                if tool is not None:
                    step.tool = self._links[step.part.id] = tool
                    tool.batch = tool.batch or step.batch
                    tool.id = step.part.id or tool.id
                    if not isinstance(_structure(tool.arguments), dict):
                        tool.arguments = step.part.arguments if step.part.arguments is not UNSET else tool.arguments
            elif isinstance(step.part, Returned):
                step.tool = tool = named.get(step.part.id) or self._links.get(step.part.id)
                if tool is not None and tool.result is UNSET:
                    tool.result = step.part.content

    def _take(self, tools: list[_Tool], asked: Asked) -> _Tool | None:
        """The call without an id that a message asks for: one with its arguments, else the first."""
        arguments = _structure(asked.arguments)
        same = (number for number, tool in enumerate(tools) if _structure(tool.arguments) == arguments)
        return tools.pop(next(same, 0)) if tools else None

    def _add_call(self, span: Span, tool: _Tool) -> None:
        actor = self._actor_of(span)
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
            tool.name, arguments, id=tool.id, batch=batch, actor=actor, parent=actor, line=span.line, time=span.time
        )

    def _add_part(self, step: _Step, part: Part) -> None:
        """Add a text, and a call or what came back from one that has no span."""
        builder, actor, line = self._builder, self._actor_of(step.span), step.span.line
        if isinstance(part, Said):
            builder.message(part.speaker, part.text, actor=actor, line=line, time=step.time)
            return
        if step.tool is not None:
            return
        if isinstance(part, Asked):
            arguments = (
                part.arguments if part.arguments is UNSET else builder.parsed(part.arguments, line, call=part.id)
            )
            batch, name = builder.batch_of(step.batch), part.id or None
            builder.call(
                part.tool, arguments, id=name, batch=batch, actor=actor, parent=actor, line=line, time=step.time
            )
            return
        call = part.id or builder.first_waiting(part.tool)
        if call is not None:
            builder.result(call, part.content, error=part.error, line=line, time=step.time)
        else:
            self._report(step.span, "a result has the id of its call")


def _structure(arguments: Any) -> Any:
    """Arguments that may be written as JSON in a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_log_json(arguments.encode())
    except ValueError:
        return arguments


def _key_of(part: Part) -> tuple[Any, ...]:
    """What tells a part from another one: a call and its result have an id in nearly all logs."""
    if isinstance(part, Said):
        return part.speaker, part.text
    if part.id:
        return type(part), part.id
    value = part.arguments if isinstance(part, Asked) else part.content
    return type(part), part.tool, b"" if value is UNSET else canonical_bytes(value)
