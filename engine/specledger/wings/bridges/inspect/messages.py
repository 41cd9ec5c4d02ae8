"""Trajectories as the messages of Inspect AI, so that its logs hold them, and whatever reads such logs finds them.

A recorded trajectory becomes the messages that it was; of a run the calls are the actions that were chosen, each with
what the world's record says of it, or with why it was rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolCallError
from msgspec import UNSET

from specledger.core.canonical import canonical_bytes
from specledger.core.log_json import LITERAL, NUMBER, WITHHELD
from specledger.evidence.receipts import run, typed
from specledger.report.evidence import bodies_in
from specledger.wings.trajectories.model import (
    WITHHELD_TEXT,
    Call,
    Entry,
    Message,
    Result,
    Speaker,
    Trajectory,
    Withheld,
    text_of,
)

_MESSAGES: Final = {
    Speaker.SYSTEM: ChatMessageSystem,
    Speaker.USER: ChatMessageUser,
    Speaker.ASSISTANT: ChatMessageAssistant,
}


def recorded(trajectory: Trajectory) -> list[ChatMessage]:
    """The messages of a trajectory, without those of subagents; calls of one message stay together."""
    tools = {entry.id: entry.tool for entry in trajectory.entries if isinstance(entry, Call) and not entry.actor}
    messages: list[ChatMessage] = []
    for batch, entries in groupby(trajectory.entries, _batch):
        if batch:
            own = [_call(entry) for entry in entries if isinstance(entry, Call) and not entry.actor]
            messages += [ChatMessageAssistant(content="", tool_calls=own)] if own else []
        else:
            messages += _said(list(entries), tools)
    return messages


def _batch(entry: Entry) -> tuple[int, str] | None:
    return (entry.batch, entry.actor) if isinstance(entry, Call) else None


def _call(call: Call) -> ToolCall:
    given = {} if isinstance(call.arguments, Withheld) or call.arguments is UNSET else plain(call.arguments)
    return ToolCall(id=call.id, function=call.tool, arguments=given if isinstance(given, dict) else {})


def _said(entries: Sequence[Entry], tools: dict[str, str]) -> Iterator[ChatMessage]:
    for entry in entries:
        if isinstance(entry, Message) and not entry.actor:
            yield _MESSAGES[entry.speaker](content=text_of(entry.text))
        elif isinstance(entry, Result) and entry.call in tools:
            failed = bool(entry.error or entry.denied)
            yield _result(entry.call, tools[entry.call], text_of(entry.content), failed=failed)


def _result(call: str, tool: str, text: str, *, failed: bool) -> ChatMessageTool:
    error = ToolCallError("unknown", text) if failed else None
    return ChatMessageTool(content=text, tool_call_id=call, function=tool, error=error)


def plain(value: Any) -> Any:
    """A value of a log as its document said it: numbers that are no integers become floats."""
    if isinstance(value, list):
        return [plain(member) for member in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {NUMBER}:
        return float(value[NUMBER])
    if value.keys() == {WITHHELD}:
        return WITHHELD_TEXT
    return {name: plain(member) for name, member in (value[LITERAL] if value.keys() == {LITERAL} else value).items()}


def played(folder: Path) -> list[ChatMessage]:
    """The actions of a run as calls, each with its result, from the evidence in a folder."""
    messages: list[ChatMessage] = []
    proposals: list[Any] = []
    for type_, body in bodies_in(folder, "commit", "step"):
        if type_ == "commit":
            proposals = typed(run.Commit, body)["proposals"]
        elif proposals:
            messages += _step(typed(run.Step, body), proposals)
    return messages


def _step(step: run.Step, proposals: Sequence[Any]) -> list[ChatMessage]:
    chosen = step["chosen"]
    action = proposals[chosen or 0]["action"]
    name, arguments = action["op"], {key: value for key, value in action.items() if key != "op"}
    call = ToolCall(id=f"{step['episode']}-{step['t']}", function=name, arguments=arguments)
    if chosen is None:
        why = [f"{each['gate']}: {each['reason']}" for each in step["decisions"][0]["rejected"]]
        text = f"rejected by {', '.join(why)}" if why else "nothing was admitted"
    else:
        text = canonical_bytes(step["record"]).decode()
    calls = ChatMessageAssistant(content="", tool_calls=[call])
    return [calls, _result(call.id, name, text, failed=chosen is None)]
