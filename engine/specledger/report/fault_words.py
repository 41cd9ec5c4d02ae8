"""Agent faults in words: why a message to an agent outside has no usable answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "raised": "the agent raised an error",
    "timed_out": "nothing came in time: `deadline_ms` of the agent, or `watchdog_ms` of the kernel",
    "closed": "the program ended or closed its output",
    "died": "the process that waited ended",
    "too_long": "more than 1 MiB came",
    "not_json": "what came is no JSON document",
    "no_answer": "nothing came back",
    "wrong_type": "it answers another sort of message",
    "wrong_id": "it answers another message",
    "wrong_form": "it has not the form of an answer",
    "unread_claims": "too few claims can be read",
    "too_few_claims": "there are too few claims",
}


def fault_words(faults: Mapping[str, int]) -> dict[str, int]:
    """How often each fault was met, by its name and what it means."""
    return {f"{name} ({_WORDS[name]})" if name in _WORDS else name: times for name, times in faults.items()}
