"""How many calls of one model are made at once and in a minute, by all processes of this user together.

A slot is a locked file, so that a process that ends gives its slot back. Nothing here is part of evidence.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from specledger.oracles.retry_clock import Clock

if sys.platform != "win32":
    import fcntl

_PATIENCE: Final = 0.05  # seconds between two looks for a free slot


class CallGate:
    """Lets calls through one at a time for each slot, and not more often than is allowed."""

    def __init__(self, name: str, per_minute: int | None, slots: int | None, clock: Clock) -> None:
        """Prepare; nothing is made until a call is.

        Args:
            name: Of the model: calls of the same name share slots and minutes.
            per_minute: Calls in a minute at most; None for any number.
            slots: Calls at once at most; None for any number.
            clock: Measures and waits; the same on all processes.
        """
        self._name, self._slots, self._clock = name[:32], slots, clock
        self._gap = None if per_minute is None else 60.0 / per_minute

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a slot and for the next time at which a call may be made, and hold the slot."""
        if sys.platform == "win32" or (self._gap is None and self._slots is None):
            yield
            return
        folder = Path(tempfile.gettempdir()) / f"specledger-calls-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        slot = None if self._slots is None else self._take(folder, self._slots)
        try:
            if self._gap is not None:
                self._space(folder, self._gap)
            yield
        finally:
            if slot is not None:
                os.close(slot)

    def _take(self, folder: Path, slots: int) -> int:
        while True:
            for number in range(slots):
                file = _open(folder / f"{self._name}.{number}")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(file)
                else:
                    return file
            self._clock.wait(_PATIENCE)

    def _space(self, folder: Path, gap: float) -> None:
        """Book the next time that is free, and wait for it."""
        file = _open(folder / f"{self._name}.next")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            held = os.read(file, 64).decode("ascii", "replace")
            now = self._clock.now()
            free = float(held) if held.replace(".", "", 1).isdigit() else now
            at = max(now, min(free, now + 3600))  # after a restart of the machine its clock begins anew
            os.ftruncate(file, 0)
            os.pwrite(file, f"{at + gap:.6f}".encode("ascii"), 0)
        finally:
            os.close(file)
        if at > now:
            self._clock.wait(at - now)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
