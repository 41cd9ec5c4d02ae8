"""The parts of a message in a span: texts, calls that a model asks for, and what came back from calls."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from specledger.core.canonical import canonical_bytes
from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.building import string, text_of
from specledger.wings.trajectories.model import Json, Speaker
from specledger.wings.trajectories.readers.dotted_names import grown, plain_of

REDACTED: Final = "__REDACTED__"
"""What OpenInference writes where a value is hidden."""
_SPEAKERS: Final = {
    "system": Speaker.SYSTEM,
    "developer": Speaker.SYSTEM,
    "user": Speaker.USER,
    "human": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
    "model": Speaker.ASSISTANT,
    "ai": Speaker.ASSISTANT,
}
_RESULTS: Final = ("tool", "function")
_OF_CALLS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId")
_PARTS: Final = frozenset(
    {*_OF_CALLS, "toolUse", "toolResult", "tool_result", "functionResponse", "function_response", "functionCall"}
)
"""Keys that only parts of messages have."""
_TEXTS: Final = ("text", "input_text", "output_text")
_NOT_READ: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})


class TextPart(Struct, frozen=True):
    """A text of a message."""

    speaker: Speaker
    text: str


class CallPart(Struct, frozen=True):
    """A call that a model asked for."""

    id: str
    tool: str
    arguments: Json | UnsetType


class ResultPart(Struct, frozen=True):
    """What a model was given as the result of a call."""

    id: str
    tool: str
    content: Json
    error: bool | None = None


Part = TextPart | CallPart | ResultPart


class Message(Struct, frozen=True):
    """A message of a list.

    Attributes:
        defects: What of it cannot be read.
        written: The message as the log has it.
    """

    where: str
    parts: list[Part]
    defects: list[str]
    written: Any


def structured(value: Any) -> Any:
    """An object or a list of objects that is written as JSON in a text; any other value as it is."""
    read = _parsed(value) if isinstance(value, str) else value
    members = read if isinstance(read, list) else [read]
    return read if members and all(isinstance(member, dict) for member in members) else value


def _parsed(text: str) -> Any:
    """The object or the list that is written as JSON in a text; the text if it is neither."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_log_json(text.encode())
    except ValueError:
        return text


def read_message(written: Any, where: str) -> Message:
    """A message as its list has it."""
    message = Message(where, [], [], written)
    plain = written
    if isinstance(written, dict) and any(key.startswith("message.") for key in written):
        plain = plain_of(grown(written, where, message.defects.append), where, message.defects.append)
    role = plain.get("role") if isinstance(plain, dict) else None
    if not isinstance(role, str):
        message.defects.append("a message has a `role`")
    elif role in _RESULTS and "parts" not in plain and not _has_results(plain.get("content")):
        id_ = string(plain.get("tool_call_id")) or string(plain.get("id"))
        message.parts.append(ResultPart(id_, string(plain.get("name")), result_of(plain.get("content"))))
    elif role in _RESULTS or role in _SPEAKERS:
        speaker = _SPEAKERS.get(role)
        if speaker is Speaker.USER and any(plain.get(key) for key in _OF_CALLS):
            message.defects.append("a message of the user has the id of a call")
        else:
            _read_parts(message, plain, speaker)
        _read_tool_calls(message, plain.get("tool_calls"))
    else:
        message.defects.append(f"the role {role[:64]!r} is none of {', '.join((*_SPEAKERS, *_RESULTS))}")
    return message


def result_of(content: Any) -> Any:
    """The content of a result: the text of its parts, where they are texts; UNSET where it was hidden."""
    if content is UNSET or content == REDACTED:
        return UNSET
    text = text_of(structured(content))
    return text if isinstance(text, str) else content


def _has_results(content: Any) -> bool:
    content = structured(content)
    return isinstance(content, list) and any(isinstance(part, dict) and "toolResult" in part for part in content)


def _read_parts(message: Message, plain: dict[str, Any], speaker: Speaker | None) -> None:
    content = plain.get("parts", plain.get("contents", plain.get("content")))
    if content is None or content == "":
        return
    texts, unread = [], 0
    for read in _parts(content, speaker):
        if isinstance(read, str):
            texts.append(read)
        elif read is None:
            unread += 1
        elif read is not UNSET:
            message.parts.append(read)
    text = "\n".join(texts)
    if text == REDACTED:
        message.defects.append("the text was redacted")
    elif texts and speaker is not None:
        message.parts.insert(0, TextPart(speaker, text))
    unread += len(texts) if speaker is None else 0
    if unread:
        message.defects.append(f"{unread} parts of a message are no text")


_ReadPart = str | CallPart | ResultPart | UnsetType | None
"""A text, a call, a result; UNSET if nothing reads the part, None if it cannot be read."""


def _parts(content: Any, speaker: Speaker | None) -> list[_ReadPart]:
    """The parts of a content: a list, also as JSON in a text; any other text is the one part.

    A list of objects in JSON that the user seems to have written may be what a tool returned. A model may answer in
    JSON: there only what says that it is a part is one.
    """
    if isinstance(content, str):
        inner = _parsed(content)
        members = inner if isinstance(inner, list) else [inner]
        objects = [member for member in members if isinstance(member, dict)]
        is_list = bool(objects) and inner is members and speaker is not Speaker.ASSISTANT
        if not is_list and not any(_is_part(member) for member in objects):
            return [content]
        return [_part(member) for member in members]
    return [_part(part) for part in (content if isinstance(content, list) else [content])]


def _is_part(member: dict[str, Any]) -> bool:
    """Whether an object says that it is a part of a message."""
    return isinstance(member.get("type"), str) or not _PARTS.isdisjoint(member)


def _part(part: Any) -> _ReadPart:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind is not None and not isinstance(kind, str):
        return None
    if kind in _NOT_READ or "reasoningContent" in part:
        return UNSET
    if kind in ("tool_call", "server_tool_call"):
        return _asked(part, part.get("arguments", part.get("server_tool_call", UNSET)))
    if kind in ("tool_call_response", "server_tool_call_response"):
        content = next(
            (part[key] for key in ("response", "result", kind.removesuffix("_response")) if key in part), None
        )
        return ResultPart(string(part.get("id")), string(part.get("name")), result_of(content))
    if isinstance(use := part.get("toolUse"), dict):
        return _asked({**use, "id": use.get("toolUseId")}, use.get("input", UNSET))
    if isinstance(result := part.get("toolResult"), dict):
        error = {"error": True, "success": False}.get(string(result.get("status")))
        return ResultPart(string(result.get("toolUseId")), "", result_of(result.get("content")), error)
    is_text = kind in _TEXTS or (kind is None and part.keys() <= {"type", "text", "content"})
    text = part.get("text", part.get("content")) if is_text and _PARTS.isdisjoint(part) else None
    return text if isinstance(text, str) else None


def _asked(call: dict[str, Any], arguments: Any) -> CallPart | None:
    name = string(call.get("name"))
    return CallPart(string(call.get("id")), name, UNSET if arguments is None else arguments) if name else None


def _read_tool_calls(message: Message, calls: Any) -> None:
    """Calls as OpenAI has them, or flat, as OpenLLMetry has them."""
    calls = structured(calls)
    if calls is None:
        return
    if not isinstance(calls, list):
        message.defects.append("`tool_calls` is no list")
        return
    for call in calls:
        function = call.get("function", call) if isinstance(call, dict) else {}
        if isinstance(call, dict) and "function.name" in call:
            function = {"name": call["function.name"], "arguments": call.get("function.arguments", UNSET)}
        asked = (
            _asked({**function, "id": call.get("id")}, function.get("arguments", UNSET))
            if isinstance(function, dict) and isinstance(call, dict)
            else None
        )
        if asked is None:
            message.defects.append("a call has a name")
        else:
            message.parts.append(asked)


def structure(arguments: Any) -> Any:
    """Arguments that may be written as JSON in a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_log_json(arguments.encode())
    except ValueError:
        return arguments


def key_of(part: Part) -> tuple[Any, ...]:
    """What tells a part from another one: ids alone do not, as some logs count them anew in each turn."""
    if isinstance(part, TextPart):
        return part.speaker, part.text
    value = structure(part.arguments) if isinstance(part, CallPart) else part.content
    tool = part.tool if isinstance(part, CallPart) or not part.id else ""
    return type(part), part.id, tool, b"" if value is UNSET else canonical_bytes(value)


ANY: Final = b"any"
"""Stands for whatever arguments a span has; no JSON, so no key of arguments."""


def arguments_key(arguments: Any) -> bytes:
    """What tells the arguments of a span from others; empty if it has none."""
    return b"" if arguments in (UNSET, None, "") else canonical_bytes(structure(arguments))


def keys_asked(arguments: Any) -> list[bytes]:
    """The keys of the arguments that the span of a call may have whose message has these, the best first.

    A span may have a text alone: the one argument, or all as Python has them.
    """
    first = structure(arguments)
    if not arguments_key(arguments):
        return [b"", ANY]
    texts = [str(first), *(first.values() if len(first) == 1 else ())] if isinstance(first, dict) else []
    return [canonical_bytes(first), *(canonical_bytes(text) for text in texts if isinstance(text, str)), b""]


def agrees(own: Any, asked: Any) -> bool:
    """Whether the arguments of a span may be those of a message."""
    keys = keys_asked(asked)
    return ANY in keys or arguments_key(own) in keys
