"""What a reader of a format is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from specledger.wings.trajectories.model import Trajectory
from specledger.wings.trajectories.source import Source


class Reader(Struct, frozen=True):
    """The reader of one format.

    Attributes:
        name: What `--format` calls it.
        recognises: Whether a record is one of this format and of no other.
        read: The trajectories of a log.
        is_of_traces: Whether the format records what a model was given only where that was switched on.
    """

    name: str
    recognises: Callable[[Any], bool]
    read: Callable[[Source], Iterator[Trajectory]]
    is_of_traces: bool = False
