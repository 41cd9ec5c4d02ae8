"""The parts of a message in a span: texts, calls that a model asks for, and what came back from calls."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

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
_NOT_READ: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})


class Said(Struct, frozen=True):
    """A text of a message."""

    speaker: Speaker
    text: str


class Asked(Struct, frozen=True):
    """A call that a model asked for."""

    id: str
    tool: str
    arguments: Json | UnsetType


class Returned(Struct, frozen=True):
    """What a model was given as the result of a call."""

    id: str
    tool: str
    content: Json
    error: bool | None = None


Part = Said | Asked | Returned


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
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        read = parse_log_json(value.encode())
    except ValueError:
        return value
    members = read if isinstance(read, list) else [read]
    return read if members and all(isinstance(member, dict) for member in members) else value


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
        message.parts.append(Returned(id_, string(plain.get("name")), result_of(plain.get("content"))))
    elif role in _RESULTS or role in _SPEAKERS:
        _read_parts(message, plain, _SPEAKERS.get(role))
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
    for read in _parts(content):
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
        message.parts.insert(0, Said(speaker, text))
    unread += len(texts) if speaker is None else 0
    if unread:
        message.defects.append(f"{unread} parts of a message are no text")


_ReadPart = str | Asked | Returned | UnsetType | None
"""A text, a call, a result; UNSET if nothing reads the part, None if it cannot be read."""


def _parts(content: Any) -> list[_ReadPart]:
    """The parts of a content: a list, also as JSON in a text; any other text is the one part."""
    if isinstance(content, str):
        inner = structured(content)
        parts = [_part(part) for part in inner] if isinstance(inner, list) else []
        return parts if parts and None not in parts else [content]
    return [_part(part) for part in (content if isinstance(content, list) else [content])]


def _part(part: Any) -> _ReadPart:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind in _NOT_READ or "reasoningContent" in part:
        return UNSET
    if kind in ("tool_call", "server_tool_call"):
        return _asked(part, part.get("arguments", part.get("server_tool_call", UNSET)))
    if kind in ("tool_call_response", "server_tool_call_response"):
        content = next(
            (part[key] for key in ("response", "result", kind.removesuffix("_response")) if key in part), None
        )
        return Returned(string(part.get("id")), string(part.get("name")), result_of(content))
    if isinstance(use := part.get("toolUse"), dict):
        return _asked({**use, "id": use.get("toolUseId")}, use.get("input", UNSET))
    if isinstance(result := part.get("toolResult"), dict):
        error = {"error": True, "success": False}.get(string(result.get("status")))
        return Returned(string(result.get("toolUseId")), "", result_of(result.get("content")), error)
    text = part.get("text", part.get("content")) if kind in (None, "text", "input_text", "output_text") else None
    return text if isinstance(text, str) else None


def _asked(call: dict[str, Any], arguments: Any) -> Asked | None:
    name = string(call.get("name"))
    return Asked(string(call.get("id")), name, UNSET if arguments is None else arguments) if name else None


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
