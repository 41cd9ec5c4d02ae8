"""What a command takes: its processor time, and the most memory that it and its workers hold together.

Memory is the sum of the proportional shares (Pss) of a process and of all that it started, read often while they run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took: its status, processor seconds, seconds of the clock, and bytes of memory."""

    status: int
    seconds: float
    clock: float
    memory: int


def spent(words: Sequence[str], pause: float = 0.02, room: int | None = None) -> Spent:
    """Run `spec` with these words, and read its memory after each pause (in seconds).

    It may have no more than `room` bytes of addresses, where that is given.
    """
    command = [sys.executable, "-m", "specledger", *words]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if room is not None:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (room, room))
        most = 0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            most = max(most, held_by(process.pid))
            time.sleep(pause)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
    return Spent(process.returncode, usage.ru_utime + usage.ru_stime, time.monotonic() - began, most)


def held_by(pid: int) -> int:
    """The bytes of memory that a process and all that it started hold."""
    return sum(map(_share, _processes(pid)))


def _processes(pid: int) -> Iterator[int]:
    """A process and those that its threads started."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = thread.read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            yield from _processes(int(child))


def _share(pid: int) -> int:
    """The proportional share of a process, in bytes; 0 if it ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
