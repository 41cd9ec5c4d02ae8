"""The readers of traces: OTLP in JSON, whose spans name tools as the GenAI conventions or as OpenInference say.

Spans are exported when they end, in any order: those of a trace are read together, by the time of their start. What is
opt-in and was not recorded is UNSET.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.log_json import as_text
from specledger.wings.trajectories.building import Builder, string
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import NANOSECONDS, stamp_of


class _Tool(Struct, frozen=True):
    """Where the attributes of a span say what was called."""

    name: tuple[str, ...]
    id: str
    arguments: tuple[str, ...]
    result: tuple[str, ...]


_GENAI: Final = _Tool(
    ("gen_ai.tool.name",), "gen_ai.tool.call.id", ("gen_ai.tool.call.arguments",), ("gen_ai.tool.call.result",)
)
_INFERENCE: Final = _Tool(("tool.name",), "tool_call.id", ("input.value", "tool.parameters"), ("output.value",))


def _is_genai_tool(attributes: dict[str, Any], name: str) -> bool:
    operation = attributes.get("gen_ai.operation.name")
    return operation == "execute_tool" or (operation is None and name.startswith("execute_tool "))


def _is_inference_tool(attributes: dict[str, Any], _name: str) -> bool:
    return attributes.get("openinference.span.kind") == "TOOL"


Wrong = Callable[[str], None]
"""Told what is not as OTLP says."""


def _ignore(_message: str) -> None:
    """Say nothing."""


def _spans(record: Any, wrong: Wrong = _ignore) -> Iterator[Any]:
    """The spans of an OTLP document, or the record itself where it is one."""
    if not isinstance(record, dict) or "resourceSpans" not in record:
        yield from record if isinstance(record, list) else [record]
        return
    for key in sorted(record.keys() - {"resourceSpans"}):
        wrong(f"`{key[:64]}` beside `resourceSpans` is not read")
    for resource in _objects(record["resourceSpans"], "resourceSpans", wrong):
        name = "scopeSpans" if "scopeSpans" in resource else "instrumentationLibrarySpans"
        if name not in resource:
            wrong("a member of `resourceSpans` has no `scopeSpans`")
        for scope in _objects(resource.get(name, []), name, wrong):
            if "spans" not in scope:
                wrong(f"a member of `{name}` has no `spans`")
            yield from _objects(scope.get("spans", []), "spans", wrong)


def _objects(value: Any, name: str, wrong: Wrong) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        wrong(f"`{name}` is no list")
        return []
    members = [member for member in value if isinstance(member, dict)]
    if len(members) < len(value):
        wrong(f"members of `{name}` that are no objects: {len(value) - len(members)}")
    return members


def _attributes(span: dict[str, Any], wrong: Wrong = _ignore) -> dict[str, Any]:
    """The attributes by name: OTLP has a list of keys with typed values, other exporters have an object."""
    given = span.get("attributes")
    if given is None:
        return {}
    if isinstance(given, dict):
        return given
    attributes = {}
    for member in _objects(given, "attributes", wrong):
        key, value = member.get("key"), member.get("value")
        text = value.get("stringValue") if type(value) is dict else None
        value = text if type(text) is str else _value(value, wrong)
        if not isinstance(key, str):
            wrong("an attribute has a `key`")
        elif value is UNSET:
            wrong(f"the value of the attribute {key[:64]!r} is of no known type")
        else:
            attributes[key] = value
    return attributes


def _value(value: Any, wrong: Wrong) -> Any:
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
        return [inner for member in members if (inner := _value(member, wrong)) is not UNSET]
    if "kvlistValue" in value:
        pairs = [(string(m.get("key")), _value(m.get("value"), wrong)) for m in _members(value["kvlistValue"], wrong)]
        return {key: inner for key, inner in pairs if inner is not UNSET}
    return None if not value else UNSET


def _members(value: Any, wrong: Wrong) -> list[dict[str, Any]]:
    return _objects(value.get("values", []) if isinstance(value, dict) else value, "values", wrong)


def _reader(name: str, is_tool: Callable[[dict[str, Any], str], bool], tool: _Tool, mark: str) -> Reader:
    def recognises(record: Any) -> bool:
        spans = [span for span in _spans(record) if isinstance(span, dict)]
        keys = (key for span in spans if _span_id(span) for key in _attributes(span))
        return any(key.startswith(mark) for key in keys)

    def read(source: Source) -> Iterator[Trajectory]:
        defects = Builder(source.name, source.name, name)
        traces: dict[str, list[tuple[int, int, dict[str, Any], int]]] = {}
        for record in source.records():
            if isinstance(record, Finding):
                defects.entries.append(record)
                continue
            for span in _spans(record.value, partial(defects.record, line=record.line)):
                if not isinstance(span, dict) or not _span_id(span):
                    defects.record("a span has a `traceId` and a `spanId`", record.line)
                    continue
                rows = traces.setdefault(_trace_id(span), [])
                rows.append((_start(span), len(rows), span, record.line))
        for trace, rows in traces.items():
            builder = Builder(trace or source.name, source.name, name)
            for _, _, span, line in sorted(rows, key=lambda row: row[:2]):
                _read_span(builder, span, line, is_tool, tool)
            yield builder.finish()
        if defects.entries:
            yield defects.finish()

    return Reader(name, recognises, read)


def _context(span: dict[str, Any]) -> dict[str, Any]:
    context = span.get("context")
    return context if isinstance(context, dict) else {}


def _span_id(span: dict[str, Any]) -> str:
    return string(span.get("spanId")) or string(span.get("span_id")) or string(_context(span).get("span_id"))


def _trace_id(span: dict[str, Any]) -> str:
    return string(span.get("traceId")) or string(span.get("trace_id")) or string(_context(span).get("trace_id"))


def _start(span: dict[str, Any]) -> int:
    text = as_text(span.get("startTimeUnixNano")) or string(span.get("startTimeUnixNano"))
    return int(text) if text.isdecimal() and len(text) < 30 else 0


def _read_span(
    builder: Builder, span: dict[str, Any], line: int, is_tool: Callable[[dict[str, Any], str], bool], tool: _Tool
) -> None:
    attributes, name = _attributes(span, partial(builder.record, line=line)), string(span.get("name"))
    if not is_tool(attributes, name):
        return
    called = next((attributes[key] for key in tool.name if isinstance(attributes.get(key), str)), None)
    called = called or name.removeprefix("execute_tool ")
    if not called:
        builder.record("a span of a tool has its name", line)
        return
    given = next((attributes[key] for key in tool.arguments if key in attributes), UNSET)
    returned = next((attributes[key] for key in tool.result if key in attributes), UNSET)
    nanoseconds = span.get("startTimeUnixNano")
    time = (
        stamp_of(nanoseconds, scale=NANOSECONDS)
        if nanoseconds not in (None, 0, "0")
        else stamp_of(span.get("start_time"))
    )
    id_ = string(attributes.get(tool.id)) or _span_id(span)
    arguments = given if given is UNSET else builder.parsed(given, line)
    builder.call(called, arguments, id=id_, batch=builder.begin_batch(), line=line, time=time)
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else None
    failed = "error.type" in attributes or code in {2, "STATUS_CODE_ERROR", "ERROR"}
    builder.result(id_, returned, error=True if failed else None, line=line)


OTLP: Final = _reader("otlp", _is_genai_tool, _GENAI, "gen_ai.")
OPENINFERENCE: Final = _reader("openinference", _is_inference_tool, _INFERENCE, "openinference.")
