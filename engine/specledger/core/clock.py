"""The clock of a run: the episode, the step and the actor at which the loop stands.

The loop sets it, and expressions read it as `episode`, `t` and `actor`; each thread has its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final


class Clock(threading.local):
    """Where the episode that this thread computes stands."""

    def __init__(self) -> None:
        self.episode = 0
        self.t = 0
        self.actor = ""

    def set(self, episode: int, t: int, actor: str) -> None:
        """Move to a step of an episode, and to who acts there; empty where the scenario has one agent."""
        self.episode, self.t, self.actor = episode, t, actor


CLOCK: Final = Clock()
"""The one that the loop sets and expressions read."""


def _episode() -> int:
    return CLOCK.episode


def _t() -> int:
    return CLOCK.t


def _actor() -> str:
    return CLOCK.actor


READERS: Final[Mapping[str, Callable[[], Any]]] = {"t": _t, "episode": _episode, "actor": _actor}
"""What reads each name of the clock: the number of the step and of the episode, from 0, and who acts."""
