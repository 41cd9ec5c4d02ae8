"""One conversation as the logs of several formats have it, written in the plainest way.

A conversation is a list of `("user", text)`, `("assistant", text)`, `("calls", [(id, tool, arguments), …])`, of which the
calls are parallel, and `("result", id, content)`.
"""

import json
from typing import Any


def openai(conversation):
    written = []
    for sort, *rest in conversation:
        if sort == "calls":
            calls = [(id_, {"name": tool, "arguments": json.dumps(given)}) for id_, tool, given in rest[0]]
            listed = [{"id": id_, "type": "function", "function": function} for id_, function in calls]
            written.append({"role": "assistant", "content": None, "tool_calls": listed})
        elif sort == "result":
            written.append({"role": "tool", "tool_call_id": rest[0], "content": json.dumps(rest[1])})
        else:
            written.append({"role": sort, "content": rest[0]})
    return json.dumps(written)


def claude_code(conversation):
    lines = []
    for at, (sort, *rest) in enumerate(conversation):
        if sort == "calls":
            parts = [{"type": "tool_use", "id": id_, "name": tool, "input": given} for id_, tool, given in rest[0]]
        elif sort == "result":
            text = [{"type": "text", "text": json.dumps(rest[1])}]
            parts = [{"type": "tool_result", "tool_use_id": rest[0], "content": text}]
        else:
            parts = [{"type": "text", "text": rest[0]}]
        role = "user" if sort in ("user", "result") else "assistant"
        message = {"role": role, "content": parts, **({"id": f"m{at}"} if role == "assistant" else {})}
        place = {"uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s", "isSidechain": False}
        lines.append(json.dumps({"type": role, **place, "message": message}))
    return "\r\n".join(lines)


def atif(conversation):
    steps: list[dict[str, Any]] = []
    for sort, *rest in conversation:
        if sort == "result":
            steps[-1]["observation"]["results"].append({"source_call_id": rest[0], "content": json.dumps(rest[1])})
            continue
        step: dict[str, Any] = {
            "step_id": len(steps) + 1,
            "source": "user" if sort == "user" else "agent",
            "message": "",
        }
        if sort == "calls":
            step["tool_calls"] = [
                {"tool_call_id": i, "function_name": t, "arguments": given} for i, t, given in rest[0]
            ]
            step["observation"] = {"results": []}
        else:
            step["message"] = rest[0]
        steps.append(step)
    agent = {"name": "a", "version": "1"}
    return json.dumps({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps})


def otlp(conversation):
    spans, heard = [], []
    for at, (sort, *rest) in enumerate(conversation):
        if sort == "user":
            heard.append({"role": "user", "parts": [{"type": "text", "content": rest[0]}]})
        elif sort == "result":
            part = {"type": "tool_call_response", "id": rest[0], "response": json.dumps(rest[1])}
            heard.append({"role": "tool", "parts": [part]})
        else:
            parts = [{"type": "text", "content": rest[0]}]
            if sort == "calls":
                parts = [{"type": "tool_call", "id": i, "name": tool, "arguments": given} for i, tool, given in rest[0]]
            said = {"role": "assistant", "parts": parts}
            told = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(heard)}
            told["gen_ai.output.messages"] = json.dumps([said])
            attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
            times = {"startTimeUnixNano": f"{at}000000000", "endTimeUnixNano": f"{at}000000001"}
            spans.append({"traceId": "t", "spanId": f"c{at}", "name": "chat", **times, "attributes": attributes})
            heard.append(said)
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


WRITERS = {"openai": openai, "claude_code": claude_code, "atif": atif, "otlp": otlp}
