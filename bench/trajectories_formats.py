"""The calls of `trajectories_rules` as logs of a size, in the format of each reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.trajectories_rules import CALLS, call, conversation
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.reading import read_logs

_SESSION: Final = 1_000
"""Calls of a file, where a file is one session."""

Records = Iterator[dict[str, Any]]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def openai() -> Records:
    """A conversation."""
    yield conversation(0)


def atif() -> Records:
    """A document of steps."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": "Pay carol, and look at an offer."}]
    for number in range(CALLS):
        tool, arguments, result = call(number)
        own = {"tool_call_id": f"c{number}", "function_name": tool, "arguments": arguments}
        results = [{"source_call_id": f"c{number}", "content": _text(result)}]
        head = {"step_id": number + 2, "source": "agent", "message": ""}
        steps.append({**head, "tool_calls": [own], "observation": {"results": results}})
    agent = {"name": "bench", "version": "1", "model_name": "none"}
    yield {"schema_version": "ATIF-v1.6", "session_id": "log", "agent": agent, "steps": steps}


def claude_code() -> Records:
    """The lines of a session."""
    for number in range(_SESSION):
        tool, arguments, result = call(number % CALLS)
        head = {"sessionId": "s", "isSidechain": False, "timestamp": "2026-01-01T00:00:00.000Z"}
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
        said = {"id": f"m{number}", "role": "assistant", "content": [use]}
        yield {"type": "assistant", "uuid": f"a{number}", "parentUuid": None, **head, "message": said}
        got = {"type": "tool_result", "tool_use_id": f"t{number}", "content": _text(result), "is_error": False}
        heard = {"role": "user", "content": [got]}
        yield {"type": "user", "uuid": f"u{number}", "parentUuid": f"a{number}", **head, "message": heard}


def mcp() -> Records:
    """The messages of a connection."""
    for number in range(_SESSION):
        tool, arguments, result = call(number % CALLS)
        request = {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        yield {"jsonrpc": "2.0", "id": number, **request}
        content = [{"type": "text", "text": _text(result)}]
        yield {"jsonrpc": "2.0", "id": number, "result": {"content": content, "isError": False}}


def otlp() -> Records:
    """Exports of spans as the GenAI conventions have them."""
    for number in range(_SESSION):
        tool, arguments, result = call(number % CALLS)
        values = {"operation.name": "execute_tool", "tool.name": tool, "tool.call.id": f"c{number}"}
        values |= {"tool.call.arguments": json.dumps(arguments), "tool.call.result": _text(result)}
        attributes = [{"key": f"gen_ai.{key}", "value": {"stringValue": value}} for key, value in values.items()]
        names = {"traceId": "t", "spanId": f"s{number}", "name": f"execute_tool {tool}"}
        span = {**names, "startTimeUnixNano": str(number), "attributes": attributes}
        yield {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def openinference() -> Records:
    """Spans as OpenInference has them."""
    for number in range(_SESSION):
        tool, arguments, result = call(number % CALLS)
        values = {"openinference.span.kind": "TOOL", "tool.name": tool}
        values |= {"input.value": json.dumps(arguments), "output.value": _text(result)}
        names = {"name": tool, "context": {"trace_id": "t", "span_id": f"s{number}"}}
        yield {**names, "start_time": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z", "attributes": values}


FORMATS: Final[dict[str, Callable[[], Records]]] = {
    "openai": openai,
    "atif": atif,
    "claude-code": claude_code,
    "mcp": mcp,
    "otlp": otlp,
    "openinference": openinference,
}


def write_format(format_: str, folder: Path, megabytes: int) -> None:
    """Write a folder of logs in a format, of so many megabytes; a conversation that repeats is of another id."""
    folder.mkdir(parents=True)
    if format_ == "canonical":
        write_format("openai", folder.with_name("source"), megabytes)
        with (folder / "log.jsonl").open("wb") as file:
            file.writelines(write_lines(read_logs([folder.with_name("source")])))
        return
    data = "".join(f"{json.dumps(record)}\n" for record in FORMATS[format_]()).encode()
    times = max(1, megabytes * 1_000_000 // len(data))
    if format_ in ("openai", "atif"):  # a line is a trajectory
        with (folder / "log.jsonl").open("wb") as file:
            file.writelines(data for _ in range(times))
        return
    for number in range(times):
        (folder / f"{number:06}.jsonl").write_bytes(data)
