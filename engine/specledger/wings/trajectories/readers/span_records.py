"""Records of OTLP in JSON, and those of exporters of spans alone: their spans, with attributes and events as values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.canonical import MAX_INTEGER
from specledger.core.log_json import as_text
from specledger.wings.trajectories.building import string
from specledger.wings.trajectories.stamps import NANOSECONDS, Stamp, stamp_of

Wrong = Callable[[str], None]
"""Told what is not as OTLP says."""


def ignore(_message: str) -> None:
    """Say nothing."""


class SpanEvent(Struct, frozen=True):
    """What happened in a span: an event of it, or a log record that names it."""

    name: str
    attributes: dict[str, Any]


class Span(Struct, frozen=True):
    """A span, or a log record: that has no id of its own, and its span is its parent.

    Attributes:
        start: Nanoseconds since 1970; 0 if that is not known. `end` likewise.
        time: The start as a trajectory has it.
        failed: Whether its status says so.
    """

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    time: Stamp
    attributes: dict[str, Any]
    events: Sequence[SpanEvent]
    failed: bool
    line: int


_DOCUMENT: Final = frozenset({"resourceSpans", "resourceLogs"})
"""The keys of an OTLP document."""
_KINDS: Final = ("openinference.span.kind", "traceloop.span.kind")


class SpanKind(Enum):
    """What a span says that it is, where a reader asks."""

    TOOL = "tool"
    AGENT = "agent"


def kind_of(span: Span) -> SpanKind | None:
    """Whether a span says that it is of a tool or an agent; None for others."""
    operation = span.attributes.get("gen_ai.operation.name")
    operation = span.name.partition(" ")[0] if operation is None else operation
    kinds = [string(span.attributes.get(key)).lower() for key in _KINDS]
    if operation == "execute_tool" or SpanKind.TOOL.value in kinds:
        return SpanKind.TOOL
    return SpanKind.AGENT if operation == "invoke_agent" or SpanKind.AGENT.value in kinds else None


def spans_of(record: Any, line: int, wrong: Wrong) -> Iterator[Span]:
    """The spans and the log records of a record, in its order."""
    for written in raw_spans(record, wrong):
        id_ = span_id(written) if isinstance(written, dict) else ""
        if id_:
            yield _span(written, id_, line, wrong)
        else:
            wrong("a span has a `traceId` and a `spanId`")
    if isinstance(record, dict) and "resourceLogs" in record:
        for written in _nested(
            record, "resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords", wrong
        ):
            yield _log_record(written, line, wrong)


def raw_spans(record: Any, wrong: Wrong = ignore) -> Iterator[Any]:
    """The spans of an OTLP document as they are written, or the record itself where it is one."""
    if not isinstance(record, dict) or _DOCUMENT.isdisjoint(record):
        yield from record if isinstance(record, list) else [record]
        return
    for key in sorted(record.keys() - _DOCUMENT):
        wrong(f"`{key[:64]}` beside `resourceSpans` is not read")
    if "resourceSpans" in record:
        yield from _nested(record, "resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans", wrong)


def raw_events(record: Any) -> Iterator[str]:
    """The names of the log records of a document."""
    if isinstance(record, dict) and "resourceLogs" in record:
        for written in _nested(
            record, "resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords", ignore
        ):
            yield _event_name(written, attributes_of(written))


def _nested(record: dict[str, Any], key: str, scopes: tuple[str, str], inner: str, wrong: Wrong) -> Iterator[Any]:
    for resource in _objects(record[key], key, wrong):
        name = scopes[0] if scopes[0] in resource else scopes[1]
        if name not in resource:
            wrong(f"a member of `{key}` has no `{scopes[0]}`")
        for scope in _objects(resource.get(name, []), name, wrong):
            if inner not in scope:
                wrong(f"a member of `{name}` has no `{inner}`")
            yield from _objects(scope.get(inner, []), inner, wrong)


def _objects(value: Any, name: str, wrong: Wrong) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        wrong(f"`{name}` is no list")
        return []
    members = [member for member in value if isinstance(member, dict)]
    if len(members) < len(value):
        wrong(f"members of `{name}` that are no objects: {len(value) - len(members)}")
    return members


def _span(written: dict[str, Any], id_: str, line: int, wrong: Wrong) -> Span:
    start, time = _moment(written, "startTimeUnixNano", "start_time")
    status = written.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else written.get("status_code")
    events = written.get("events")
    return Span(
        trace=_of_context(written, "traceId", "trace_id"),
        id=id_,
        parent=_of_context(written, "parentSpanId", "parent_span_id") or string(written.get("parent_id")),
        name=string(written.get("name")),
        start=start,
        end=_moment(written, "endTimeUnixNano", "end_time")[0],
        time=time,
        attributes=attributes_of(written, wrong),
        events=[_event(event, wrong) for event in ([] if events is None else _objects(events, "events", wrong))],
        failed=code in (2, "STATUS_CODE_ERROR", "ERROR"),
        line=line,
    )


def _event(written: dict[str, Any], wrong: Wrong) -> SpanEvent:
    attributes = attributes_of(written, wrong)
    return SpanEvent(_event_name(written, attributes), attributes)


def _event_name(written: dict[str, Any], attributes: dict[str, Any]) -> str:
    return string(written.get("name")) or string(written.get("eventName")) or string(attributes.get("event.name"))


def _log_record(written: dict[str, Any], line: int, wrong: Wrong) -> Span:
    """A log record as a span without an id that has it as its event; its body is among the attributes."""
    start, time = _moment(written, "timeUnixNano", "observedTimeUnixNano")
    attributes = attributes_of(written, wrong)
    body = typed_value(written.get("body"), wrong)
    event = SpanEvent(
        _event_name(written, attributes), {**attributes, **body} if isinstance(body, dict) else attributes
    )
    trace = _of_context(written, "traceId", "trace_id")
    return Span(trace, "", span_id(written), "", start, 0, time, {}, [event], failed=False, line=line)


def attributes_of(written: dict[str, Any], wrong: Wrong = ignore) -> dict[str, Any]:
    """The attributes by name: OTLP has a list of keys with typed values, other exporters have an object."""
    given = written.get("attributes")
    if given is None:
        return {}
    if isinstance(given, dict):
        return given
    attributes = {}
    for member in _objects(given, "attributes", wrong):
        key, value = member.get("key"), member.get("value")
        text = value.get("stringValue") if type(value) is dict else None
        value = text if type(text) is str else typed_value(value, wrong)
        if not isinstance(key, str):
            wrong("an attribute has a `key`")
        elif value is UNSET:
            wrong(f"the value of the attribute {key[:64]!r} is of no known type")
        else:
            attributes[key] = value
    return attributes


def typed_value(value: Any, wrong: Wrong) -> Any:
    """A typed value; UNSET if its type is none of OTLP's."""
    if not isinstance(value, dict):
        return value
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in value:
            return value[key]
    if "intValue" in value:
        text = value["intValue"]
        return int(text) if isinstance(text, str) and text.lstrip("-").isdecimal() and len(text) < 16 else text
    if "arrayValue" in value:
        members = _members(value["arrayValue"], wrong)
        return [inner for member in members if (inner := typed_value(member, wrong)) is not UNSET]
    if "kvlistValue" in value:
        pairs = [
            (string(m.get("key")), typed_value(m.get("value"), wrong)) for m in _members(value["kvlistValue"], wrong)
        ]
        return {key: inner for key, inner in pairs if inner is not UNSET}
    return None if not value else UNSET


def _members(value: Any, wrong: Wrong) -> list[dict[str, Any]]:
    return _objects(value.get("values", []) if isinstance(value, dict) else value, "values", wrong)


def _of_context(written: dict[str, Any], name: str, other: str) -> str:
    value = written.get(name)
    if type(value) is str:
        return value
    context = written.get("context")
    return string(written.get(other)) or (string(context.get(other)) if type(context) is dict else "")


def span_id(written: dict[str, Any]) -> str:
    """The id of a span; empty if it has none."""
    return _of_context(written, "spanId", "span_id")


_NOT_SAID: Final = (None, 0, "0", "")


def _moment(written: dict[str, Any], nanoseconds: str, other: str) -> tuple[int, Stamp]:
    """A moment of a span, by which spans are ordered, and as a trajectory has it."""
    value = written.get(nanoseconds)
    if value is None and other not in written:
        return 0, ""
    if value in _NOT_SAID and written.get(other) not in _NOT_SAID:
        time = stamp_of(written[other], scale=NANOSECONDS if other.endswith("Nano") else None)
        return (max(0, time * 1000) if isinstance(time, int) else 0), time
    text = value if type(value) is str else as_text(value) or ""
    moment = int(text) if text.isdecimal() and len(text) < 30 else 0
    if 0 < moment <= 1000 * MAX_INTEGER and text.isascii() and len(text) < 20:
        return moment, moment // 1000
    return moment, "" if value in _NOT_SAID else stamp_of(value, scale=NANOSECONDS)
