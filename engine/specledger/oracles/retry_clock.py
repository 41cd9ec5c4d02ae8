"""The clock of clients of services, and of a guard: the time left, the wait before the next attempt, what time it is.

A guard records the time at which it saw an entry, and whatever reads that later reads the record. Nothing else that the
clock measures is hashed. Tests replace it.
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

    def microseconds(self) -> int:
        """Microseconds since 1970 in UTC, as this machine has them; they may be fewer than before."""
        return time.time_ns() // 1_000

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
