"""The clock of clients of services: the time left, and the wait before the next attempt.

Nothing that it measures is hashed. Tests replace it.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds that pass."""

    def now(self) -> float:
        """Seconds since some moment."""

    def wait(self, seconds: float) -> None:
        """Come back after so many seconds."""


class MachineClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since some moment; never fewer than before."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
