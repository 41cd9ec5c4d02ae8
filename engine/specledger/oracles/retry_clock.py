"""The clock of those who ask services: how much time is left, and how one waits before asking again.

Decides nothing; it is here so that whoever waits can be tested without waiting. Nothing of what it says is hashed: that
an answer did not come in time is a fact about a machine, which the answer states and nobody measures again.
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
