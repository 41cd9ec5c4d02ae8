"""SIGTERM ends a command as SIGINT does: the work under way is undone, and the exit code is 128 and the signal."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

_PATIENCE: Final = 2  # `timeout` sends a signal to the process and to its group, so a second one is not impatience


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt at the first SIGINT or SIGTERM; the third one ends the process at once.

    Signals that are ignored stay ignored. In another thread than the main one nothing is changed.

    Yields:
        The signals that came, in order.
    """
    received: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > _PATIENCE:
            os._exit(128 + received[0])
        if len(received) == 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}
    try:
        for number in handled:
            signal.signal(number, interrupt)
        yield received
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
