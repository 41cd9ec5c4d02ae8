"""The readers of traces: spans of tools and of models, named as the GenAI conventions or as OpenInference say.

Spans are exported when they end, in any order: those of a conversation are read together, by time. What a model was
given is repeated by each later span of it, and is read once; a call that has a span of its own is read from that, and
what the span leaves out from the messages. What is opt-in and was not recorded is UNSET.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from msgspec import Struct

from specledger.core.volume import volume
from specledger.wings.trajectories.building import Builder, string
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
"""Bytes of memory, about, that the spans of a file take: they come in any order, so all are kept until its end."""
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
    defects = Builder(source.name, source.name, convention.name, Room(MOST_DEFECTS))
    room = Room(_MOST_KEPT)
    traces: dict[str, list[Span]] = {}
    for record in source.records():
        if room.full or defects.room.full:
            break
        if isinstance(record, Finding):
            defects.add(record)
            continue
        for span in spans_of(record.value, record.line, partial(defects.record, line=record.line)):
            if not _has_room(room, span):
                break
            traces.setdefault(span.trace, []).append(span)
    for trace, spans in _conversations(traces, convention.conversation):
        builder = Builder(trace or source.name, source.name, convention.name)
        Conversation(builder, spans, convention.is_tool, convention.tool).read()
        if room.full or defects.room.full:  # this one may go on
            builder.add(room.finding(0))
        yield builder.finish()
    if defects.entries:
        yield defects.finish()


def _has_room(room: Room, span: Span) -> bool:
    """Charge for a span, and for what is made of its texts that may be JSON with more than one value."""
    values = [span.attributes, *(event.attributes for event in span.events)]
    texts = [text for names in values for text in names.values() if type(text) is str]
    units = sum(volume(text.encode()) for text in texts if text.lstrip().startswith(("{", "[")))
    return room.take_value(values, _SPAN + _UNIT * units)


def _conversations(traces: dict[str, list[Span]], key: str) -> Iterator[tuple[str, list[Span]]]:
    """The spans of each conversation, with its first trace: traces whose spans name the same one are joined."""
    first: dict[str, str] = {}
    joined: dict[str, list[Span]] = {}
    for trace, spans in traces.items():
        names = [name for span in spans if (name := string(span.attributes.get(key)))]
        leader = next((first[name] for name in names if name in first), trace)
        for name in names:
            first.setdefault(name, leader)
        joined.setdefault(leader, []).extend(spans)
    yield from joined.items()


OTLP: Final = Reader("otlp", partial(_recognises, _GENAI), partial(_read, _GENAI))
OPENINFERENCE: Final = Reader("openinference", partial(_recognises, _INFERENCE), partial(_read, _INFERENCE))
