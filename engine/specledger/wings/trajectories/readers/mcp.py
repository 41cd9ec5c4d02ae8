"""The reader of MCP: JSON-RPC lines, of which `tools/call` requests are calls and responses their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from specledger.wings.trajectories.building import Builder, text_of
from specledger.wings.trajectories.model import Finding, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import Stamp, stamp_of

_WRAPPERS: Final = ("message", "payload", "data")


def _message(record: Any) -> Any:
    """The JSON-RPC message that a record is, or holds under a usual key."""
    if isinstance(record, dict) and "jsonrpc" not in record:
        return next((record[key] for key in _WRAPPERS if _is_rpc(record.get(key))), record)
    return record


def _is_rpc(value: Any) -> bool:
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


def _recognises(record: Any) -> bool:
    return _is_rpc(_message(record)) or (isinstance(record, list) and bool(record) and _is_rpc(record[0]))


def _read(source: Source) -> Iterator[Trajectory]:
    builder = Builder(source.name, source.name, "mcp")
    other: set[str] = set()
    for record in source.records():
        if builder.room.full:
            break
        if isinstance(record, Finding):
            builder.add(record)
            continue
        parts = record.value if isinstance(record.value, list) else [record.value]
        batch = builder.begin_batch() if len(parts) > 1 else 0
        for part in parts:
            time = stamp_of(part.get("timestamp")) if isinstance(part, dict) else ""
            _read_message(builder, _message(part), other, batch, record.line, time)
    if builder.entries or builder.room.full:
        yield builder.finish()


def _read_message(builder: Builder, message: Any, other: set[str], batch: int, line: int, time: Stamp) -> None:
    if not _is_rpc(message):
        builder.record('a message has `jsonrpc: "2.0"`', line)
        return
    id_ = message.get("id")
    name = id_ if isinstance(id_, str) else f"{id_}"
    if "method" in message:
        parameters = message.get("params")
        if message["method"] != "tools/call":
            if name not in other:
                other.add(name)
                builder.room.take_value(name)
        elif not isinstance(parameters, dict) or not isinstance(parameters.get("name"), str):
            builder.record("the `params` of tools/call have a `name`", line)
        else:
            arguments = parameters.get("arguments", {})
            number = batch or builder.begin_batch()
            builder.call(parameters["name"], arguments, id=name, batch=number, line=line, time=time)
    elif "error" in message and (builder.waits(name) or name not in other):
        builder.result(name, message["error"], error=True, line=line, time=time)
    elif "result" in message and (builder.waits(name) or name not in other):
        _read_result(builder, name, message["result"], line, time)
    elif name not in other:
        builder.record("a message is a request, a notification or a response", line)


def _read_result(builder: Builder, name: str, result: Any, line: int, time: Stamp) -> None:
    if not isinstance(result, dict):
        builder.result(name, result, line=line, time=time)
        return
    content = result.get("structuredContent")
    if content is None:
        content = text_of(result.get("content", UNSET))
    error = result.get("isError")
    builder.result(name, content, error=error if isinstance(error, bool) else None, line=line, time=time)


MCP: Final = Reader("mcp", _recognises, _read)
