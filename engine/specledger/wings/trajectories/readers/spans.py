"""The readers of traces: spans of tools and of models, named as the GenAI conventions or as OpenInference say.

Spans are exported when they end, in any order: those of a conversation are read together, by time. So all of a file are
kept until its end, as long as there is room; else the file is read again, and they are kept until the last one of their
conversation. What a model was given is repeated by each later span of it, and is read once; a call that has a span of
its own is read from that, and what the span leaves out from the messages. What is opt-in and was not recorded is UNSET.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from specledger.core.volume import volume
from specledger.wings.trajectories.building import Builder, string
from specledger.wings.trajectories.findings import E_LOG_DUPLICATE
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.readers.span_calls import Conversation, ToolKeys
from specledger.wings.trajectories.readers.span_records import (
    Span,
    attributes_of,
    raw_events,
    raw_spans,
    span_id,
    spans_of,
)
from specledger.wings.trajectories.room import MOST_DEFECTS, Room
from specledger.wings.trajectories.source import Source

_MOST_KEPT: Final = 96 << 20
"""Bytes of memory, about, that spans take: they come in any order, so those of a conversation are kept together."""
_SPAN: Final = 2000
_UNIT: Final = 16
"""What a span, and a unit of the volume of a text, take with what is made of them."""


class _Convention(Struct, frozen=True):
    """How spans say what they are.

    Attributes:
        mark: What the names of its attributes, or of its log records, begin with.
        conversation: The attribute that spans of several traces share, if they are of one conversation.
    """

    name: str
    mark: str
    is_tool: Callable[[Span], bool]
    tool: ToolKeys
    conversation: str


def _is_genai_tool(span: Span) -> bool:
    operation = span.attributes.get("gen_ai.operation.name")
    return operation == "execute_tool" or (operation is None and span.name.startswith("execute_tool "))


def _is_inference_tool(span: Span) -> bool:
    return span.attributes.get("openinference.span.kind") == "TOOL"


_GENAI: Final = _Convention(
    "otlp",
    "gen_ai.",
    _is_genai_tool,
    ToolKeys("gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    "gen_ai.conversation.id",
)
_INFERENCE: Final = _Convention(
    "openinference",
    "openinference.",
    _is_inference_tool,
    ToolKeys("tool.name", "tool_call.id", "input.value", "output.value", plain="input"),
    "session.id",
)


def _recognises(convention: _Convention, record: Any) -> bool:
    spans = [span for span in raw_spans(record) if isinstance(span, dict)]
    keys = (key for span in spans if span_id(span) for key in attributes_of(span))
    return any(name.startswith(convention.mark) for names in (keys, raw_events(record)) for name in names)


def _read(convention: _Convention, source: Source) -> Iterator[Trajectory]:
    """A trajectory of each conversation, in the order in which they begin; of a file that is too large, end."""
    defects, room = _defects(convention, source), Room(_MOST_KEPT)
    traces: dict[str, list[Span]] = {}
    for _, spans in _records(source, defects, room):
        for span in spans:
            if not _has_room(room, span):
                break
            traces.setdefault(span.trace, []).append(span)
    index = _index(convention, source) if room.full else None
    if index is not None:
        traces.clear()
        yield from _read_again(convention, source, index)
        return
    joined: dict[str, list[Span]] = {}
    names = {trace: [name for span in spans if (name := _name(convention, span))] for trace, spans in traces.items()}
    for trace, leader in _leaders(names).items():
        joined.setdefault(leader, []).extend(traces[trace])
    yield from _rest(convention, source, joined, defects, room)


class _Index(Struct):
    """Where the conversations of a file end.

    Attributes:
        leaders: By trace the first trace of its conversation.
        ends: By line the conversations that end with it.
        last: The last line.
    """

    leaders: dict[str, str]
    ends: dict[int, list[str]]
    last: int


def _index(convention: _Convention, source: Source) -> _Index | None:
    """Where conversations end; None if the file is one document, or has so many traces that there is no room for it."""
    defects, room = _defects(convention, source), Room()
    names: dict[str, dict[str, None]] = {}
    last: dict[str, int] = {}
    line = 0
    for line, spans in _records(source, defects, room):
        for span in spans:
            own, name = names.get(span.trace), _name(convention, span)
            if own is None:
                room.take_value(span.trace)
                own = names[span.trace] = {}
            if name and name not in own:
                room.take_value(name)
                own[name] = None
            last[span.trace] = line
    if room.full or defects.room.full or not line:
        return None
    leaders = _leaders(names)
    latest: dict[str, int] = {}
    for trace, leader in leaders.items():
        latest[leader] = max(latest.get(leader, 0), last[trace])
    ends: dict[int, list[str]] = {}
    for leader, end in latest.items():
        ends.setdefault(end, []).append(leader)
    return _Index(leaders, ends, line)


def _read_again(convention: _Convention, source: Source, index: _Index) -> Iterator[Trajectory]:
    """The trajectories of a file whose spans have no room together: each is given once its last span is read."""
    defects, room = _defects(convention, source), Room(_MOST_KEPT)
    kept: dict[str, dict[str, list[Span]]] = {}
    charged: Counter[str] = Counter()
    for line, spans in _records(source, defects, room):
        if line > index.last:  # written since the index was made
            break
        for span in spans:
            leader, before = index.leaders.get(span.trace, span.trace), room.used
            if not _has_room(room, span):
                break
            charged[leader] += room.used - before
            kept.setdefault(leader, {}).setdefault(span.trace, []).append(span)
        for leader in () if room.full else index.ends.get(line, ()):
            if leader in kept:
                yield _trajectory(convention, source, leader, _joined(kept.pop(leader)))
                room.release(charged.pop(leader))
    yield from _rest(convention, source, {leader: _joined(traces) for leader, traces in kept.items()}, defects, room)


def _joined(traces: dict[str, list[Span]]) -> list[Span]:
    return [span for spans in traces.values() for span in spans]


def _defects(convention: _Convention, source: Source) -> Builder:
    """What holds the findings that are of no conversation."""
    return Builder(source.name, source.name, convention.name, Room(MOST_DEFECTS))


def _records(source: Source, defects: Builder, room: Room) -> Iterator[tuple[int, Iterator[Span]]]:
    """The lines of the records, with their spans, as long as there is room; of others a finding."""
    for record in source.records():
        if room.full or defects.room.full:
            break
        if isinstance(record, Finding):
            defects.add(record)
        else:
            yield record.line, spans_of(record.value, record.line, partial(defects.record, line=record.line))


def _trajectory(
    convention: _Convention, source: Source, trace: str, spans: list[Span], unread: Finding | None = None
) -> Trajectory:
    builder = Builder(trace or source.name, source.name, convention.name)
    _note_duplicates(builder, spans, convention)
    Conversation(builder, spans, convention.is_tool, convention.tool).read()
    if unread is not None:  # this one may go on
        builder.add(unread)
    return builder.finish()


def _rest(
    convention: _Convention, source: Source, kept: dict[str, list[Span]], defects: Builder, room: Room
) -> Iterator[Trajectory]:
    """The conversations that are left where reading ends, and what is of none of them."""
    unread = room.finding(0) if room.full or defects.room.full else None
    for trace, spans in kept.items():
        yield _trajectory(convention, source, trace, spans, unread)
    if unread is not None and not kept:
        defects.add(unread)
    if defects.entries:
        yield defects.finish()


def _note_duplicates(builder: Builder, spans: Sequence[Span], convention: _Convention) -> None:
    """Find spans of one trace with the same id; of calls without an id of their own the builder finds it."""
    ids = set()
    for span in spans:
        own = not convention.is_tool(span) or string(span.attributes.get(convention.tool.id))
        if span.id and (span.trace, span.id) in ids and own:
            message = f"the id {span.id[:64]!r} of a span is that of another one of its trace"
            builder.finding(E_LOG_DUPLICATE, message, span.line)
        ids.add((span.trace, span.id))


def _has_room(room: Room, span: Span) -> bool:
    """Charge for a span, and for what is made of its texts that may be JSON with more than one value."""
    values = [span.attributes, *(event.attributes for event in span.events)]
    texts = [text for names in values for text in names.values() if type(text) is str]
    units = sum(volume(text.encode()) for text in texts if text.lstrip().startswith(("{", "[")))
    return room.take_value(values, _SPAN + _UNIT * units)


def _name(convention: _Convention, span: Span) -> str:
    """The conversation that a span names; empty if it names none."""
    return string(span.attributes.get(convention.conversation))


def _leaders(names: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """By trace the first one of its conversation: traces whose spans name the same one are joined."""
    first: dict[str, str] = {}
    leaders: dict[str, str] = {}
    for trace, own in names.items():
        leaders[trace] = leader = next((first[name] for name in own if name in first), trace)
        for name in own:
            first.setdefault(name, leader)
    return leaders


OTLP: Final = Reader("otlp", partial(_recognises, _GENAI), partial(_read, _GENAI), is_of_traces=True)
OPENINFERENCE: Final = Reader(
    "openinference", partial(_recognises, _INFERENCE), partial(_read, _INFERENCE), is_of_traces=True
)
