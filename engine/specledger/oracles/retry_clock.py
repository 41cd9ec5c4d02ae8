"""The clock of clients of services: the time left, and the wait before the next attempt.

Nothing that it measures is hashed. Tests replace it.
"""

from __future__ import annotations

import time


class Clock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since some moment; never fewer than before."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
