"""Reading JSON that somebody else wrote.

Decides that no key of an object stands twice and that a number is finite, so that two readers see the same document.
Refuses to ask for a form: `core.canonical` does, of what is hashed.
"""

from __future__ import annotations

import json
from typing import Any


def parse_json(data: bytes) -> Any:
    """Read one JSON document in UTF-8 that names no key of an object twice.

    Raises:
        ValueError: It is none.
    """
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a key stands twice")
    return found


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")
