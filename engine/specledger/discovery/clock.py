"""The clock of the store: until when work is claimed, and how a worker waits.

Decides nothing that is hashed: a lease that runs out early costs work that is done twice, never a result. Refuses to
know what is claimed.
"""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since 1970, by the clock of this machine."""
    return time.time_ns() // 1_000_000


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)
