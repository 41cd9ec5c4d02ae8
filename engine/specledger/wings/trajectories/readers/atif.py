"""The reader of ATIF, the agent trajectory interchange format: a document of steps, with those of its subagents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.wings.trajectories.building import Builder, string, text_of
from specledger.wings.trajectories.model import Finding, Speaker, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.room import MOST_DEFECTS, Room
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.stamps import stamp_of

_SPEAKERS: Final = {"system": Speaker.SYSTEM, "user": Speaker.USER, "agent": Speaker.ASSISTANT}


def _recognises(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("steps"), list):
        return False
    if string(record.get("schema_version")).startswith("ATIF"):
        return True
    first = next(iter(record["steps"]), None)
    return isinstance(first, dict) and "step_id" in first and first.get("source") in _SPEAKERS


def _read(source: Source) -> Iterator[Trajectory]:
    """A trajectory of each document; subagents are actors of it."""
    defects = Builder(source.name, source.name, "atif", Room(MOST_DEFECTS))
    for record in source.records():
        if defects.room.full:
            break
        if isinstance(record, Finding):
            defects.add(record)
        elif not isinstance(record.value, dict) or not isinstance(record.value.get("steps"), list):
            defects.record("a trajectory of ATIF has a list of `steps`", record.line)
        else:
            value = record.value
            own = string(value.get("trajectory_id")) or string(value.get("session_id")) or source.name
            builder = Builder(own, source.name, "atif")
            _read_steps(builder, value, record.line, "", "")
            yield builder.finish()
    if defects.entries:
        yield defects.finish()


def _read_steps(builder: Builder, document: Any, line: int, actor: str, parent: str) -> None:
    """The steps of a trajectory, each subagent after the step whose observation refers to it."""
    subagents = _subagents(builder, document, line)
    for step in document["steps"]:
        if not isinstance(step, dict) or step.get("source") not in _SPEAKERS:
            builder.record(f"a step has a `source`: {', '.join(_SPEAKERS)}", line)
        elif step.get("is_copied_context") is not True:
            for name, call in _read_step(builder, step, line, actor, parent):
                if name in subagents:
                    _read_steps(builder, subagents.pop(name), line, name, call)
    for name, subagent in subagents.items():
        _read_steps(builder, subagent, line, name, "")


def _subagents(builder: Builder, document: dict[str, Any], line: int) -> dict[str, Any]:
    subagents: dict[str, Any] = {}
    for number, subagent in enumerate(_list(builder, document, "subagent_trajectories", line), start=1):
        if not isinstance(subagent, dict) or not isinstance(subagent.get("steps"), list):
            builder.record("a subagent has a list of `steps`", line)
            continue
        name = string(subagent.get("trajectory_id")) or string(subagent.get("session_id")) or f"subagent {number}"
        subagents[name if name not in subagents else f"{name}#{number}"] = subagent
    return subagents


def _read_step(builder: Builder, step: dict[str, Any], line: int, actor: str, parent: str) -> list[tuple[str, str]]:
    """One step: its message, calls and results; the subagents that its results name, with their calls."""
    time = stamp_of(step.get("timestamp"))
    text = text_of(step.get("message"))
    if isinstance(text, str):
        builder.message(_SPEAKERS[step["source"]], text, actor=actor, line=line, time=time)
    elif text is not None:
        builder.record("a part of a message is no text", line)
    calls = _list(builder, step, "tool_calls", line)
    batch = builder.begin_batch() if calls else 0
    last = ""
    for call in calls:
        if not isinstance(call, dict) or not isinstance(call.get("function_name"), str):
            builder.record("a call has a `function_name`", line)
            continue
        id_ = string(call.get("tool_call_id")) or None
        arguments = builder.parsed(call.get("arguments", {}), line, call=id_ or "")
        name = call["function_name"]
        last = builder.call(name, arguments, id=id_, batch=batch, actor=actor, parent=parent, line=line, time=time)
    return _read_results(builder, step, line, last if len(calls) == 1 else "")


def _read_results(builder: Builder, step: dict[str, Any], line: int, only: str) -> list[tuple[str, str]]:
    observation = step.get("observation")
    if observation is None:
        return []
    if not isinstance(observation, dict):
        builder.record("an `observation` has `results`", line)
        return []
    named: list[tuple[str, str]] = []
    for result in _list(builder, observation, "results", line):
        if not isinstance(result, dict):
            builder.record("a result is an object", line)
            continue
        call = string(result.get("source_call_id")) or only
        content = text_of(result.get("content"))
        named.extend(
            (string(reference.get("trajectory_id")) or string(reference.get("session_id")), call)
            for reference in _list(builder, result, "subagent_trajectory_ref", line)
            if isinstance(reference, dict)
        )
        if call:
            builder.result(call, content, line=line, time=stamp_of(step.get("timestamp")))
        elif isinstance(content, str):
            builder.message(Speaker.SYSTEM, content, line=line)
        else:
            builder.record("a result without a call is no text", line)
    return named


def _list(builder: Builder, value: dict[str, Any], key: str, line: int) -> list[Any]:
    members = value.get(key)
    if members is None:
        return []
    if not isinstance(members, list):
        builder.record(f"`{key}` is no list", line)
        return []
    return members


ATIF: Final = Reader("atif", _recognises, _read)
