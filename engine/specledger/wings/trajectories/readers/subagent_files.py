"""Files of Claude Code's subagents, which lie beside the session that started them: `agent-ID.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from specledger.wings.trajectories.building import string, text_of
from specledger.wings.trajectories.source import Record, Source


class SubagentFile(Struct, frozen=True):
    """A file of a subagent.

    Attributes:
        session: The id of the session that started it.
        agent: Its id.
        prompt: What it was asked.
    """

    source: Source
    session: str
    agent: str
    prompt: str


def subagent_file(source: Source) -> SubagentFile | None:
    """What the first line of a file says of its subagent; None if it is no such file."""
    first = next(iter(source.records()), None)
    value: Any = first.value if isinstance(first, Record) else None
    if not isinstance(value, dict) or value.get("isSidechain") is not True:
        return None
    session, agent, message = string(value.get("sessionId")), string(value.get("agentId")), value.get("message")
    if not session or not agent:
        return None
    prompt = text_of(message.get("content")) if isinstance(message, dict) else None
    return SubagentFile(source, session, agent, string(prompt))


def with_subagents(files: Iterable[tuple[Path, str]]) -> list[Source]:
    """The sources of files; one of a subagent whose session is among them is read with it, not alone."""
    sources = [Source(path, name) for path, name in files]
    known = {source.path: source for source in sources}
    alone = []
    for source in sources:
        owner = _owner(source, known)
        if owner is None:
            alone.append(source)
        elif not any(other.path == source.path for other in owner.companions):
            owner.companions.append(source)
    return alone


def _owner(source: Source, known: Mapping[Path, Source]) -> Source | None:
    """The session that a file of a subagent belongs to, in its folder or in `SESSION/subagents`."""
    path = source.path
    if not path.name.startswith("agent-") or path.suffix != ".jsonl" or not path.is_file():
        return None
    file = subagent_file(source)
    if file is None:
        return None
    name = f"{file.session}.jsonl"
    places = (path.parent / name, path.parent.parent.parent / name)
    return next((known[place] for place in places if place in known and place != path), None)
