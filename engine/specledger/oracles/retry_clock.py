"""The clock of clients of services: the time left, the wait before the next attempt, and how old a price is.

Nothing that it measures is hashed. Tests replace it.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


class Clock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since some moment; never fewer than before."""
        return time.monotonic()

    def today(self) -> date:
        """The day in UTC."""
        return datetime.fromtimestamp(time.time(), UTC).date()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
