"""Processes that outlive the one that is responsible for them: Linux only.

What leaves the group of a kernel is adopted when its parent ends, and is ended with the kernel. A kernel itself ends
with the process that watches it.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_SET_DEATH_SIGNAL: Final = 1  # prctl(2)
_SET_SUBREAPER: Final = 36  # prctl(2), since Linux 3.4
_GET_SUBREAPER: Final = 37
_ROUNDS: Final = 1_000  # the end of a process may make others orphans


def end_with_parent(parent: int) -> None:
    """Have the system end this process when the one that started it ends, however: at once, if it has ended already.

    Until then this one holds the locks that it inherited.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


class Orphans:
    """Adopts the orphans among the descendants of this process, until they are ended.

    Elsewhere than on Linux, and where `/proc` does not list children, nothing is adopted.
    """

    def __init__(self) -> None:
        """Adopt from now on; the children that this process has are not ended."""
        self._before = ctypes.c_int(1)
        if sys.platform == "linux":
            library = ctypes.CDLL(None)
            library.prctl(_GET_SUBREAPER, ctypes.byref(self._before), 0, 0, 0)
            library.prctl(_SET_SUBREAPER, 1, 0, 0, 0)
        self._known = _children()

    def end(self) -> None:
        """End the orphans that came since, and adopt no more."""
        for _ in range(_ROUNDS):
            found = [pid for pid in _children() - self._known if _is_orphan(pid)]
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except OSError:  # of another user
                    self._known |= {pid}
            if not found:
                break
        if not self._before.value:
            ctypes.CDLL(None).prctl(_SET_SUBREAPER, 0, 0, 0, 0)


def _children() -> frozenset[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended
            found |= set(map(int, task.read_text(encoding="ascii").split()))
    return frozenset(found)


def _is_orphan(pid: int) -> bool:
    """Whether a child is of another group: what this process itself starts is of its own."""
    with suppress(OSError):
        return os.getpgid(pid) != os.getpgrp()
    return False
