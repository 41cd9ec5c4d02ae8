"""What a recording leaves out: a value that stands in the place of one, and says why it is not there.

It is a direct member of a record only (a state, a memory, arguments, a result), never inside one of its values.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

UNKNOWN: Final = "$unknown"
"""The key under which canonical JSON has the reason."""


class Unknown(Struct, frozen=True):
    """Stands for a value that a recording does not tell, with the reason."""

    reason: str
    withheld: bool = False


def graver(*unknowns: Unknown | None) -> Unknown | None:
    """The first that is of a withheld value, whose verdict may be recorded, else the first; None if there is none."""
    there = [unknown for unknown in unknowns if unknown is not None]
    return next((unknown for unknown in there if unknown.withheld), there[0] if there else None)


def first_unknown(record: Any) -> Unknown | None:
    """The first member of a record that is unknown, or the value itself if it is; None if there is none."""
    if type(record) is Unknown:
        return record
    members = record.values() if type(record) is dict else ()
    return next((member for member in members if type(member) is Unknown), None)


def unknown_within(value: Any) -> Unknown | None:
    """The first unknown at any depth of a value; None if there is none."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if type(node) is Unknown:
            return node
        waiting += node.values() if type(node) is dict else node if type(node) is list else ()
    return None
