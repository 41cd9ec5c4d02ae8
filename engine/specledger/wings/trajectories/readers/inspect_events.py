"""Samples of Inspect AI with what only their events hold: calls of subagents, calls that left the messages, attempts.

The messages of a sample are those of its first agent, as they were at the end. A conversation that was handed over
comes back with its calls as texts and with their results as messages of a user; one that was compacted lacks its begin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_SCORING: Final = frozenset({"scorer", "scorers"})
_Entry = dict[str, Any]


def with_events(sample: Mapping[str, Any]) -> Iterator[_Entry]:
    """The attempts at a sample that failed and were made again, and the sample, each with what its events hold."""
    name = sample.get("uuid") or sample.get("id")
    for number, attempt in enumerate(sample.get("error_retries") or [], start=1):
        events = attempt.get("events") or []
        yield {
            "uuid": f"{name}, attempt {number}",
            "messages": _merged(_first_given(events), events, alone=True),
            "error": {"message": attempt.get("message")},
        }
    rest = {key: value for key, value in sample.items() if key not in ("events", "error_retries")}
    messages, events = sample.get("messages") or [], sample.get("events") or []
    yield {**rest, "messages": _merged(messages or _first_given(events), events, alone=not messages)}


def _first_given(events: Sequence[_Entry]) -> Sequence[_Entry]:
    """What the first call of a model was given."""
    return next((event.get("input") or [] for event in events if event.get("event") == "model"), [])


def _merged(messages: Sequence[_Entry], events: Sequence[_Entry], *, alone: bool) -> list[_Entry]:
    """The messages with the entries of events that they lack, without what is a copy of these.

    What a subagent did stands before the result of the call that began it, any other call before the next one that
    the messages have. Where the messages are only what a model was given first, its answers are `alone` in the events.
    """
    asks = {
        call.get("id"): number for number, message in enumerate(messages) for call in message.get("tool_calls") or ()
    }
    results = {message.get("tool_call_id"): number for number, message in enumerate(messages)}
    inserted: dict[int, list[_Entry]] = defaultdict(list)
    copies: set[Any] = set()
    loose: list[_Entry] = []
    around = dict(_around(events))
    asked: set[Any] = set()
    for number, call in around.items():
        event = events[number]
        if call:
            entries = list(_entries(event, call, asked))
            copies.update(entry.get("id") for entry in entries)
            inserted[results.get(_outermost(call, events, around), len(messages))].extend(entries)
        elif event.get("event") == "tool" and event.get("id") in asks:
            inserted[asks[event["id"]]].extend(loose)
            loose = []
        elif alone or event.get("event") == "tool":
            loose.extend(_entries(event, "", asked))
    inserted[len(messages)].extend(loose)
    merged: list[_Entry] = []
    for number, message in enumerate(messages):
        merged.extend(inserted[number])
        if message.get("id") is None or message["id"] not in copies:
            merged.append(message)
    return merged + inserted[len(messages)]


def _around(events: Sequence[_Entry]) -> Iterator[tuple[int, str]]:
    """The events that are no part of scoring, each with the id of the call around it, empty for the first agent's."""
    parents: dict[Any, Any] = {}
    calls: dict[Any, str] = {}
    begun: list[tuple[Any, Any]] = []
    scoring: set[Any] = set()
    for number, event in enumerate(events):
        span = event.get("span_id")
        if event.get("event") == "span_begin":
            span, parent = event.get("id"), event.get("parent_id")
            parents.setdefault(span, parent)
            if event.get("type") == "tool":
                begun.append((span, event.get("name")))
            if event.get("type") in _SCORING or parent in scoring:
                scoring.add(span)
            continue
        if span in scoring:
            continue
        yield number, _call_of(span, parents, calls)
        if event.get("event") == "tool":
            own = next((pair for pair in reversed(begun) if pair[1] == event.get("function")), None)
            if own is not None:
                begun.remove(own)
                calls[own[0]] = str(event.get("id"))


def _call_of(span: Any, parents: Mapping[Any, Any], calls: Mapping[Any, str]) -> str:
    seen: set[Any] = set()
    while span is not None and span not in seen:
        if span in calls:
            return calls[span]
        seen.add(span)
        span = parents.get(span)
    return ""


def _outermost(call: str, events: Sequence[_Entry], around: Mapping[int, str]) -> str:
    """The call of the first agent inside which a call was made."""
    outer = {
        events[number].get("id"): inside for number, inside in around.items() if events[number].get("event") == "tool"
    }
    seen: set[str] = set()
    while outer.get(call) and call not in seen:
        seen.add(call)
        call = outer[call]
    return call


def _entries(event: _Entry, call: str, asked: set[Any]) -> Iterator[_Entry]:
    """What an event adds: the answer of a subagent's model, or a call that no answer asks for, and what came back."""
    if event.get("event") == "model":
        choices = (event.get("output") or {}).get("choices") or []
        for choice in choices[:1]:
            message = choice.get("message") or {}
            asked.update(part.get("id") for part in message.get("tool_calls") or [])
            yield {**message, "role": "assistant", "agent": call}
    if event.get("event") != "tool":
        return
    id_ = event.get("id")
    if id_ not in asked:
        own = {"id": id_, "function": event.get("function"), "arguments": event.get("arguments")}
        yield {"role": "assistant", "content": "", "tool_calls": [own], "agent": call}
    result, error = event.get("result"), event.get("error")
    if (result is not None and result != "") or error is not None:
        said = {"role": "tool", "tool_call_id": id_, "function": event.get("function"), "content": result}
        yield {**said, "id": event.get("message_id"), "error": error, "agent": call}
