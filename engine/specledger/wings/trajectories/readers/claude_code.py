"""The reader of Claude Code's sessions: JSON lines, in which a subagent is a side chain and a copy is read once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.core.canonical import canonical_ints
from specledger.core.digest import sha256_raw
from specledger.wings.trajectories.building import Builder, string, text_of
from specledger.wings.trajectories.findings import E_LOG_DUPLICATE
from specledger.wings.trajectories.model import Finding, Speaker, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.readers.subagent_files import SubagentFile, subagent_file
from specledger.wings.trajectories.room import Room
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import stamp_of

_STARTERS: Final = frozenset({"Task", "Agent"})
_SPEAKERS: Final = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_UNSAID: Final = frozenset({"thinking", "redacted_thinking"})
_MOST_CHAIN: Final = 100_000


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("type"), str) and "sessionId" in record


def _read(source: Source) -> Iterator[Trajectory]:
    """One trajectory of a file; a line that is there again, as in a session that was resumed, is read once."""
    session = _Session(source)
    for record in source.records():
        if isinstance(record, Finding):
            session.add(record)
        else:
            session.take(record.value, record.line)
        session.settle()
        if session.room.full:
            break
    yield session.finish()


class _Session:
    """A session as it is read."""

    def __init__(self, source: Source) -> None:
        self.room = Room()
        self._defects: list[Finding] = []
        self._source = source
        self._builder: Builder | None = None
        self._seen: dict[str, bytes] = {}
        self._chains: dict[str, str] = {}
        self._prompts: dict[str, str] = {}
        self._last: tuple[str, int] = ("", 0)
        self._subagents = [file for file in map(subagent_file, source.companions) if file is not None]
        self._within = ""
        self._started: set[str] = set()

    def add(self, finding: Finding) -> None:
        """Keep a finding for the trajectory."""
        if self.room.take(finding):
            self._defects.append(finding)
        else:
            self._begun(None).add(finding)

    def take(self, record: Any, line: int) -> None:
        """Read one line."""
        builder = self._begun(record)
        self.settle()
        if not isinstance(record, dict) or not isinstance(record.get("type"), str):
            builder.record("a line of a session has a `type`", line)
            return
        if self._is_copy(builder, record, line):
            return
        speaker = _SPEAKERS.get(record["type"])
        if speaker is None:
            if not _is_bookkeeping(record):
                builder.record(f"the type {record['type'][:64]!r} has a message, and is not known", line)
            return
        message = record.get("message")
        if not isinstance(message, dict):
            builder.record(f"a line of type {record['type']} has a `message`", line)
            return
        self._read(builder, record, message, Speaker.SYSTEM if record.get("isMeta") is True else speaker, line)

    def _is_copy(self, builder: Builder, record: dict[str, Any], line: int) -> bool:
        """Whether a line was read before, as in a session that was resumed; one that differs is a finding."""
        uuid = string(record.get("uuid"))
        if not uuid:
            return False
        digest = sha256_raw(canonical_ints(record.get("message")))
        known = self._seen.setdefault(uuid, digest)
        if known is digest:
            self.room.take_value(uuid)
            return False
        if known != digest:
            builder.finding(
                E_LOG_DUPLICATE, f"the uuid {uuid[:64]!r} is that of an earlier line, which says other", line
            )
        return True

    def _read(self, builder: Builder, record: Any, message: dict[str, Any], speaker: Speaker, line: int) -> None:
        content, time = message.get("content"), stamp_of(record.get("timestamp"))
        actor = self._actor(record, content)
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(parts, list):
            builder.record("the `content` of a message is a text or a list", line)
            return
        name = string(message.get("id")) or string(record.get("uuid"))
        if not name:
            self._last = ("", 0)
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "text" and isinstance(part.get("text"), str):
                builder.message(speaker, part["text"], actor=actor, line=line, time=time)
            elif kind == "tool_use" and isinstance(part.get("name"), str):
                id_ = builder.call(
                    part["name"],
                    part.get("input"),
                    id=string(part.get("id")) or None,
                    batch=self._batch(builder, name),
                    actor=actor,
                    parent=actor if actor in self._started else "",
                    line=line,
                    time=time,
                )
                self._note_prompt(id_, part)
            elif kind == "tool_result" and isinstance(part.get("tool_use_id"), str):
                self._read_subagent(builder, part["tool_use_id"], record.get("toolUseResult"))
                error = part.get("is_error")
                builder.result(
                    part["tool_use_id"],
                    text_of(part.get("content", "")),
                    error=error if isinstance(error, bool) else None,
                    line=line,
                    time=time,
                )
            elif kind not in _UNSAID:
                builder.record(f"a part of a message of type {str(kind)[:64]!r} is not read", line)

    def _read_subagent(self, builder: Builder, call: str, result: object) -> None:
        """Read the file of the subagent that a call started, before the result of the call."""
        agent = string(result.get("agentId")) if isinstance(result, dict) else ""
        for file in self._subagents:
            if file.agent == agent or (not agent and file.prompt and self._prompts.get(file.prompt) == call):
                self._subagents.remove(file)
                self._started.add(call)
                self._read_file(builder, file, call)
                return

    def _read_file(self, builder: Builder, file: SubagentFile, actor: str) -> None:
        """Read the lines of a subagent's file as those of an actor; their numbers are not those of this file."""
        outer, self._within = self._within, actor
        for record in file.source.records():
            if self.room.full:
                break
            if isinstance(record, Finding):
                place = f"{file.source.name}:{record.line}"
                builder.finding(record.code, f"{place}: {record.message}")
            else:
                self.take(record.value, 0)
        self._within = outer

    def _actor(self, record: Any, content: object) -> str:
        """The id of the subagent of a side chain: that of the call whose prompt began it, if that is known."""
        if self._within:
            return self._within
        if record.get("isSidechain") is not True:
            return ""
        uuid, parent = string(record.get("uuid")), string(record.get("parentUuid"))
        named = string(record.get("agentId"))
        known = self._chains.get(named or parent)
        prompt = text_of(content)
        actor = known or (self._prompts.get(prompt) if isinstance(prompt, str) else None) or named or "side chain"
        for name in filter(None, (uuid, named)):
            self._chains[name] = actor
        return actor

    def _note_prompt(self, call: str, part: dict[str, Any]) -> None:
        given = part.get("input")
        if part["name"] in _STARTERS and isinstance(given, dict) and isinstance(given.get("prompt"), str):
            self._prompts[given["prompt"]] = call
            self._started.add(call)

    def _batch(self, builder: Builder, message: str) -> int:
        """The number of the message's calls, which may stand on several lines if the message has a name."""
        if self._last[0] != message or not self._last[1]:
            self._last = (message, builder.begin_batch())
        return self._last[1]

    def _begun(self, record: Any) -> Builder:
        if self._builder is None:
            session = string(record.get("sessionId")) if isinstance(record, dict) else ""
            self._builder = Builder(session or self._source.name, self._source.name, "claude_code", self.room)
        return self._builder

    def settle(self) -> None:
        """Give the findings so far to the trajectory, once it is begun."""
        if self._builder is not None and self._defects:
            self._builder.entries.extend(self._defects)
            self._defects.clear()

    def finish(self) -> Trajectory:
        """The trajectory."""
        builder = self._begun(None)
        self.settle()
        for file in self._subagents:
            self._read_file(builder, file, file.agent)
        return builder.finish()


def _is_bookkeeping(record: dict[str, Any]) -> bool:
    """Whether a line of another type says nothing of messages and calls."""
    return "message" not in record


CLAUDE_CODE: Final = Reader("claude_code", _recognises, _read)
