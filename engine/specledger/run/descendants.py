"""What a kernel's process started ends with the kernel, and with the process that watches it, however either ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

_SET_SUBREAPER: Final = 36  # prctl(2), since Linux 3.4
_GET_SUBREAPER: Final = 37
_ROUNDS: Final = 1_000  # the end of a process may make others orphans


class Guard:
    """A member of the kernel's process group that ends the group when the watching process is gone, however it ended.

    The system ends the kernel then, but not the programs that the kernel has started. The guard notices it by the end
    of a pipe that the watching process alone holds open. It is in the group, so that the number of the group is not
    given to another one while it waits.
    """

    def __init__(self, group: int) -> None:
        """Guard the group of a kernel, which this process has not waited for yet."""
        end, self._held = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _guard(group, end)
        os.close(end)
        with suppress(OSError):  # it has done so itself
            os.setpgid(self._pid, group)

    def end(self) -> None:
        """End it, and wait until it is gone."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._held)


def _guard(group: int, end: int) -> NoReturn:
    """Be the guard: hold nothing but the end of the pipe, for what this process inherits may be locked."""
    try:
        os.setpgid(0, group)
        os.dup2(end, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))
        while os.read(0, 1):
            pass
        os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(70)


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
            orphans = [pid for pid in _children() - self._known if _is_orphan(pid)]
            for pid in orphans:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except OSError:  # of another user
                    self._known |= {pid}
            if not orphans:
                break
        if not self._before.value:
            ctypes.CDLL(None).prctl(_SET_SUBREAPER, 0, 0, 0, 0)


def _children() -> frozenset[int]:
    children: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended
            children |= set(map(int, task.read_text(encoding="ascii").split()))
    return frozenset(children)


def _is_orphan(pid: int) -> bool:
    """Whether a child is of another group: what this process itself starts is of its own."""
    with suppress(OSError):
        return os.getpgid(pid) != os.getpgrp()
    return False
