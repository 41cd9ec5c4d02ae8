"""Messages in spans: what a model was given and what it answered, in attributes and in events.

Conventions differ in where messages stand and in what they call their parts: GenAI has them as JSON, before 1.37 as one
event of each message; OpenInference and OpenLLMetry have a numbered attribute of each part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.model import Speaker
from specledger.wings.trajectories.readers.dotted_names import WRAPPERS, Wrong, grown, in_order, is_index
from specledger.wings.trajectories.readers.message_parts import (
    REDACTED,
    Message,
    TextPart,
    read_message,
    result_of,
    structure,
    structured,
)
from specledger.wings.trajectories.readers.span_records import Span

MOST_MESSAGES: Final = 10_000
"""The most messages of one list that are read."""

_INSTRUCTIONS: Final = "gen_ai.system_instructions"
_GIVEN: Final = ("gen_ai.input.messages", "llm.input_messages")
_ANSWERED: Final = ("gen_ai.output.messages", "llm.output_messages")
_NUMBERED: Final = {
    "llm.input_messages": False,
    "gen_ai.prompt": False,
    "llm.output_messages": True,
    "gen_ai.completion": True,
}
"""What numbered attributes begin with, and whether these are answers."""
_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE: Final = "gen_ai.choice"
_TASK: Final = "input.value"
_BEGINNINGS: Final = (_INSTRUCTIONS, *_GIVEN, *_ANSWERED, *_NUMBERED)


def messages_of(span: Span, wrong: Wrong, *, is_tool: bool = False) -> tuple[list[list[Message]], list[list[Message]]]:
    """The lists of messages that a span says its model was given, and those that it says it answered.

    The events of a tool have its arguments and its result instead, `exchange_of`.
    """
    given: list[list[Message]] = []
    answered: list[list[Message]] = []
    if not span.events and not any(name.startswith(_BEGINNINGS) for name in span.attributes):
        return given, answered  # as in nearly all spans
    for attributes, within in _carriers(span):
        if _INSTRUCTIONS in attributes:
            text = attributes[_INSTRUCTIONS]
            is_plain = isinstance(text, str) and text != REDACTED and not text.lstrip().startswith("[")
            parts = [text] if is_plain else _parsed(text, within + _INSTRUCTIONS, wrong)
            given.append(_read([{"role": "system", "parts": parts}] if parts else [], within + _INSTRUCTIONS, wrong))
        for names, lists in ((_GIVEN, given), (_ANSWERED, answered)):
            for name in names:
                if name in attributes:
                    lists.append(_read(_parsed(attributes[name], within + name, wrong), within + name, wrong))
    for prefix, is_answer in _NUMBERED.items():
        written = _numbered(span.attributes, prefix, wrong)
        if written:
            (answered if is_answer else given).append(_read(written, prefix, wrong))
    said, chosen = ([], []) if is_tool else _of_events(span)
    given.append(_read(said, "events", wrong))
    answered.append(_read(chosen, "events", wrong))
    return given, [[_without_request(message) for message in messages] for messages in answered]


def _without_request(message: Message) -> Message:
    """An answer of a model: the user says nothing in it."""
    parts = [part for part in message.parts if not (isinstance(part, TextPart) and part.speaker is Speaker.USER)]
    if len(parts) == len(message.parts):
        return message
    return replace(message, parts=parts, defects=[*message.defects, "a message of the user is among the answers"])


def _carriers(span: Span) -> Iterator[tuple[dict[str, Any], str]]:
    """The attributes of a span and of its events, with what leads to them."""
    yield span.attributes, ""
    for event in span.events:
        yield event.attributes, f"{event.name[:64]}: "


def _parsed(value: Any, where: str, wrong: Wrong) -> list[Any]:
    """A list that is written as itself or as JSON."""
    if isinstance(value, str):
        if value == REDACTED:
            wrong(f"`{where}` was redacted")
            return []
        try:
            value = parse_log_json(value.encode())
        except ValueError as error:
            wrong(f"`{where}` is no JSON: {error}")
            return []
    if not isinstance(value, list):
        wrong(f"`{where}` is no list")
        return []
    return value


def _read(written: list[Any], where: str, wrong: Wrong) -> list[Message]:
    if len(written) > MOST_MESSAGES:
        wrong(f"`{where}` has {len(written)} messages: those after the first {MOST_MESSAGES} are not read")
    return [read_message(value, f"`{where}`[{number}]") for number, value in enumerate(written[:MOST_MESSAGES])]


def _numbered(attributes: Mapping[str, Any], prefix: str, wrong: Wrong) -> list[Any]:
    """The messages that numbered attributes hold, `PREFIX.0.message.role`."""
    own = {}
    for name, value in attributes.items():
        if name.startswith(prefix + "."):
            path = name[len(prefix) + 1 :]
            first = path.partition(".")[0]
            if is_index(first):
                own[path] = value
            elif first in WRAPPERS:
                wrong(f"`{name[:200]}` has no index after `{prefix}`")
    return in_order(grown(own, prefix, wrong), prefix, wrong)


def _of_events(span: Span) -> tuple[list[Any], list[Any]]:
    """The messages of events, one each, and the answers that a model chose."""
    said, chosen = [], []
    for event in span.events:
        written = event.attributes
        content = written.get("gen_ai.event.content")
        if content is not None:
            read = structured(content)
            written = {**written, **read} if isinstance(read, dict) else {**written, "content": content}
        if event.name in _EVENTS:
            own, role = _EVENTS[event.name], written.get("role")
            said.append({"role": own if role in (None, own) else f"{role} of {own}", **_without_role(written)})
        elif event.name == _CHOICE:
            message = structured(written.get("message", written))
            inner = message if isinstance(message, dict) else {"content": message}
            chosen.append({"role": "assistant", **_without_role(inner)})
    return said, chosen


def exchange_of(span: Span) -> tuple[Any, Any]:
    """The arguments and the result that the events of a tool's span have; UNSET where they have none."""
    arguments: Any = UNSET
    result: Any = UNSET
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            arguments = event.attributes.get("content", arguments)
        elif event.name == _CHOICE:
            result = result_of(event.attributes.get("message", result))
    return arguments, result


def task_of(span: Span) -> Iterator[list[Message]]:
    """What the span of an agent says that it was asked, where that is one text, alone or as a member of an object."""
    given = structure(span.attributes.get(_TASK))
    if isinstance(given, dict):
        values = list(given.values())
        texts = [value for value in values if isinstance(value, str)]
        plain = all(value is None or isinstance(value, str | int) for value in values)
        given = texts[0] if len(texts) == 1 and plain else None
    if isinstance(given, str) and given != REDACTED:
        yield [read_message({"role": "user", "content": given}, f"`{_TASK}`")]


def _without_role(written: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a message; its role is that of its event."""
    return {
        key: written[key] for key in ("content", "parts", "tool_calls", "id", "tool_call_id", "name") if key in written
    }
