"""The reader of OpenAI's chat messages: `messages` in a document or on a line, or one message on each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.core.diagnostics import counted
from specledger.wings.trajectories.building import Builder, string, text_of
from specledger.wings.trajectories.model import Finding, Speaker, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.source import Source

_ROLES: Final = {
    "system": Speaker.SYSTEM,
    "developer": Speaker.SYSTEM,
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
}
_RESULTS: Final = ("tool", "function")
_TEXTS: Final = ("text", "refusal", "content")
_KEYS: Final = ("content", "tool_calls", "function_call", "tool_call_id", "refusal")


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and (value["role"] in _ROLES or value["role"] in _RESULTS)
        and any(key in value for key in _KEYS)
    )


def _messages_of(record: Any) -> Any:
    """The list of messages that a record is or has; None if it has none."""
    return record.get("messages") if isinstance(record, dict) else record


def _recognises(record: Any) -> bool:
    if _is_message(record):
        return True
    messages = _messages_of(record)
    if not isinstance(messages, list) or not messages:
        return False
    first = messages[0]
    return _is_message(first) or (isinstance(first, dict) and "messages" in first and _recognises(first))


def _read(source: Source) -> Iterator[Trajectory]:
    """A trajectory of each list of messages; messages on lines of their own are one together."""
    loose = Builder(source.name, source.name, "openai")
    number = 0
    for record in source.records():
        if loose.room.full:
            break
        if isinstance(record, Finding):
            loose.add(record)
            continue
        if _is_message(record.value):
            _read_message(loose, record.value, record.line)
            continue
        for conversation in _conversations(record.value):
            messages = _messages_of(conversation)
            if not isinstance(messages, list):
                loose.record("neither a message with a role nor a list of `messages`", record.line)
                continue
            number += 1
            if not messages:
                loose.record("a list of `messages` is empty", record.line)
                continue
            builder = Builder(_name(conversation, source, number), source.name, "openai")
            for message in messages:
                _read_message(builder, message, record.line)
            yield builder.finish()
    if loose.entries:
        yield loose.finish()


def _conversations(value: Any) -> list[Any]:
    """The conversations of a record: itself, or those of a list of them."""
    if isinstance(value, list) and any(isinstance(_messages_of(part), list) for part in value):
        return value
    return [value]


def _name(conversation: Any, source: Source, number: int) -> str:
    own = conversation.get("id") if isinstance(conversation, dict) else None
    return own if isinstance(own, str) and own else f"{source.name}:{number}"


def _read_message(builder: Builder, message: Any, line: int) -> None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        builder.record("a message has a `role`", line)
        return
    role = message["role"]
    if role in _RESULTS:
        _read_result(builder, message, line)
    elif role in _ROLES:
        _read_text(builder, message, _ROLES[role], line)
        _read_calls(builder, message, line)
    else:
        builder.record(f"the role {role[:64]!r} is none of {', '.join((*_ROLES, *_RESULTS))}", line)


def _read_text(builder: Builder, message: dict[str, Any], speaker: Speaker, line: int) -> None:
    content = message.get("content")
    if content is None:
        content = message.get("refusal")
    text = text_of(content, _TEXTS)
    if isinstance(text, str):
        builder.message(speaker, text, line=line)
    elif isinstance(text, list):
        texts = [read for read in (text_of([part], _TEXTS) for part in text) if isinstance(read, str)]
        builder.message(speaker, "\n".join(texts), line=line)
        builder.record(f"{counted(len(text) - len(texts), 'part')} of a message without a text", line)
    elif text is not None:
        builder.record("the content of a message is neither a text nor a list of parts", line)


def _read_calls(builder: Builder, message: dict[str, Any], line: int) -> None:
    calls = message.get("tool_calls")
    calls = [] if calls is None else calls
    if not isinstance(calls, list):
        builder.record("`tool_calls` is no list", line)
        return
    if message.get("function_call") is not None:
        calls = [*calls, {"function": message["function_call"]}]
    batch = builder.begin_batch() if calls else 0
    for call in calls:
        function = (call.get("function") or call.get("custom")) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            builder.record("a call has a `function` with a `name`", line)
            continue
        given = function["arguments"] if "arguments" in function else function.get("input", "")
        arguments = builder.parsed(given, line, call=string(call.get("id"))) if "input" not in function else given
        builder.call(function["name"], arguments, id=string(call.get("id")) or None, batch=batch, line=line)


def _read_result(builder: Builder, message: dict[str, Any], line: int) -> None:
    id_ = message.get("tool_call_id")
    if not isinstance(id_, str):
        id_ = builder.first_waiting(string(message.get("name")))
    if id_ is None:
        builder.record("a result has the `tool_call_id` of its call", line)
        return
    builder.result(id_, text_of(message.get("content")), line=line)


OPENAI: Final = Reader("openai", _recognises, _read)
