"""Wings: capabilities that register themselves by an entry point of the group `specledger.wings`.

The core names no wing. Each layer of the core reads the fields that concern it through a typed function of its own
(`compile.extension`, `report.extension`, ...), so a command imports only the parts of a wing that it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from msgspec import Struct

GROUP: Final = "specledger.wings"
"""The group of entry points; each names a `Wing`."""


class Wing(Struct, frozen=True):
    """What one capability adds to the core. Every field but the name is a function that imports what it returns.

    Attributes:
        name: The name of its folder and of its entry point.
    """

    name: str
    kinds: Callable[[], tuple[Any, ...]] = tuple


@cache
def wings() -> tuple[Wing, ...]:
    """The installed wings, by name. An entry point whose module is absent is not installed."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(wing for point in points if (wing := _load(point)) is not None)


def _load(point: EntryPoint) -> Wing | None:
    try:
        wing = point.load()
    except ModuleNotFoundError as error:
        if error.name is not None and f"{point.module}.".startswith(f"{error.name}."):
            return None
        raise
    if not isinstance(wing, Wing):
        raise TypeError(f"the entry point {point.name!r} of {GROUP} is no Wing but {type(wing).__name__}")
    return wing
