"""A trajectory built from what a reader reads: calls and results are matched, and what does not fit is said."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, UnsetType

from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.findings import (
    E_LOG_ARGUMENTS,
    E_LOG_DUPLICATE,
    E_LOG_NO_CALL,
    E_LOG_NO_RESULT,
    E_LOG_RECORD,
)
from specledger.wings.trajectories.model import Call, Entry, Finding, Json, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.room import Room
from specledger.wings.trajectories.stamps import Stamp


class Builder:
    """A trajectory that grows in the order of its log, as far as there is room.

    Attributes:
        entries: What was added. Where there was no room, the last one says so.
        room: What is left; a file has one where all its trajectories are kept until it ends.
    """

    def __init__(self, id: str, file: str, format: str, room: Room | None = None) -> None:  # noqa: A002 - of the model
        self._head = (id, file, format)
        self.entries: list[Entry] = []
        self.room = room or Room()
        self._full = False
        self._waiting: dict[str, list[Call] | deque[Call]] = {}
        self._ids: set[str] = set()
        self._answered: set[str] = set()
        self._calls = 0
        self._batch = 0
        self._batches: dict[str, int] = {}

    def begin_batch(self) -> int:
        """A new number for the calls of one message."""
        self._batch += 1
        return self._batch

    def batch_of(self, name: str) -> int:
        """The number of the calls that the log says belong together, by what it calls them."""
        if name not in self._batches:
            self._batches[name] = self.begin_batch()
        return self._batches[name]

    def message(self, speaker: Speaker, text: str, *, actor: str = "", line: int = 0, time: Stamp = "") -> None:
        """Add a message; an empty one says nothing and is left out."""
        if text:
            self.add(Message(speaker, text, actor, line, time))

    def add(self, entry: Entry) -> None:
        """Add an entry if there is room for it; else, once, a finding that says that there is not."""
        if self.room.take(entry):
            self.entries.append(entry)
        else:
            self._end(entry.line)

    def _end(self, line: int) -> None:
        """Say that nothing more is kept."""
        if not self._full:
            self._full = True
            self.entries.append(self.room.finding(line))

    def call(
        self,
        tool: str,
        arguments: Json | UnsetType,
        *,
        id: str | None,  # noqa: A002 - the name of the model
        batch: int,
        actor: str = "",
        parent: str = "",
        line: int = 0,
        time: Stamp = "",
    ) -> str:
        """Add a call; the id that it has in the trajectory."""
        if self._full:
            return id or ""
        self._calls += 1
        name = id or f"#{self._calls}"
        own = name
        if own in self._ids:
            self.finding(E_LOG_DUPLICATE, f"the id {name!r} is that of an earlier call", line)
            while own in self._ids:
                own = f"{name}#{self._calls}" if own == name else f"{own}#"
        self._ids.add(own)
        call = Call(own, tool, arguments, batch, actor, parent, line, time)
        self.add(call)
        waiting = self._waiting.get(name)
        if isinstance(waiting, deque):
            waiting.append(call)
        else:  # a list of one call takes a tenth of the memory of a queue
            self._waiting[name] = deque([*waiting, call]) if waiting else [call]
        return own

    def result(
        self,
        call: str,
        content: Json | UnsetType = UNSET,
        *,
        error: bool | None = None,
        line: int = 0,
        time: Stamp = "",
    ) -> None:
        """Add what came back from a call; the first that waits under this id."""
        if self._full:
            return
        waiting = self._waiting.get(call)
        if not waiting:
            again = ", which has one" if call in self._answered else ""
            self.finding(E_LOG_NO_CALL, f"a result of the call {call!r}{again or ', which is not there'}", line)
            return
        own = (waiting.popleft() if isinstance(waiting, deque) else waiting.pop()).id
        self._answered.add(call)
        self.add(Result(own, content, error, line, time))

    def has_call(self, call: str) -> bool:
        """Whether there is a call of this id."""
        return call in self._ids

    def waits(self, call: str) -> bool:
        """Whether a call of this id has no result yet."""
        return bool(self._waiting.get(call))

    def first_waiting(self, tool: str) -> str | None:
        """The id of the first call of a tool that has no result, for logs whose results have no id."""
        return next((id_ for id_, calls in self._waiting.items() for call in calls if call.tool == tool), None)

    def finding(self, code: str, message: str, line: int = 0) -> None:
        """Add something that could not be read, or does not fit."""
        self.add(Finding(code, message, line))

    def record(self, message: str, line: int) -> None:
        """Add a record that is not as the format says."""
        self.finding(E_LOG_RECORD, message, line)

    def parsed(self, text: object, line: int, plain: str = "", *, call: str = "") -> Json:
        """The arguments that stand in a log as JSON in a text; the text itself, with a finding, if it is none.

        With a name for such a text it is the `plain` argument, and no finding. The `call` is the id, if it has one.
        """
        if not isinstance(text, str):
            return text
        if not text.strip():
            return {}
        try:
            value = parse_log_json(text.encode())
            return {plain: text} if plain and not isinstance(value, dict) else value
        except ValueError as error:
            if plain:
                return {plain: text}
            of = f"arguments of the call {call!r}" if call else "arguments"
            self.finding(E_LOG_ARGUMENTS, f"{of} are no JSON: {error}", line)
            return text

    def finish(self) -> Trajectory:
        """The trajectory, with a finding for each call that has no result."""
        for calls in self._waiting.values():
            for call in calls:
                self.finding(E_LOG_NO_RESULT, f"the call {call.id!r} of {call.tool} has no result", call.line)
        if self.room.full:
            self._end(0)
        id_, file, format_ = self._head
        return Trajectory(id_, file, format_, tuple(self.entries))


def text_of(content: object, keys: Iterable[str] = ("text",)) -> Any:
    """The text of a content that is a text, or a list of parts with texts; any other content as it is."""
    if not isinstance(content, list):
        return content
    parts = [next((part[key] for key in keys if key in part), None) for part in content if isinstance(part, dict)]
    texts = [text for text in parts if isinstance(text, str)]
    if len(texts) != len(content):
        return content
    return "\n".join(texts)


def string(value: object, default: str = "") -> str:
    """The value if it is a text, else the default."""
    return value if isinstance(value, str) else default
