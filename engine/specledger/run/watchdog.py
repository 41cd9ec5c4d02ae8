"""A watchdog: a kernel runs in a process of its own, and is ended if an agent takes too long.

The kernel's process reports over a pipe when it begins to ask the agent and when it is done. This process waits with a
deadline, so no loop inside an extension can block it. After a time-out the kernel's process group is ended first, and
on Linux what left the group, too; then the time-out is recorded. If this process is killed, a third one ends the group.
This module holds no token, world or step function, and imports nothing that has them.

Whether an answer was in time is a fact about a machine: a run records it as an event, and its replay reads that instead
of a clock. Nothing else in a run reads a clock. An agent shares its process with the kernel, so the watchdog stops
mistakes and endless loops, not code that attacks the kernel.

Source: toy-pseudo-axion, WatchdogTimer and I5.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, NoReturn

from msgspec import Struct

from specledger.core.binding import GENESIS
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.run.descendants import Guard, Orphans

MAX_MESSAGE: Final = 67_108_864
"""Bytes of one message of a kernel at most."""

E_WATCHDOG_SYSTEM = code("E_WATCHDOG_SYSTEM", "this system cannot run a kernel under a watchdog")

_ORPHANED_MS: Final = 5_000  # if the watchdog does not act on a time-out, the system ends the kernel
_HEAD: Final = struct.Struct(">cI")
_MARK: Final = struct.Struct(">QQ64s64s")
_SET_DEATH_SIGNAL: Final = 1  # prctl(2)
_ENTER, _LEAVE, _MESSAGE, _FINISHED, _FAILED = b"E", b"L", b"M", b"F", b"X"


class Ending(Struct, frozen=True):
    """How a kernel's process ended.

    Attributes:
        kind: `finished`; `hang`, if an evaluation took too long; `died`, if the process ended by itself before its work
            was done.
        reason: A code: `timeout`; of one that died `raised:` and the exception's class, `exit:` and the status, or
            `signal:` and the number; else empty.
        tick, proposal_hash, trace_hash: What the last of them was begun with; zeros before the first.
    """

    kind: str
    reason: str = ""
    evaluation: int = 0
    tick: int = 0
    proposal_hash: str = GENESIS
    trace_hash: str = GENESIS


class Pulse:
    """The reports of a kernel to its watchdog, from inside the kernel's process."""

    def __init__(self, pipe: int, timeout_ms: int) -> None:
        self._pipe = pipe
        self._orphaned_ms = timeout_ms + _ORPHANED_MS

    def enter(
        self,
        tick: int,
        proposal_hash: str = GENESIS,
        trace_hash: str = GENESIS,
        *,
        more_ms: int = 0,
        note: bytes = b"",
    ) -> None:
        """Say that the evaluation of a policy begins.

        It may take `more_ms` beyond the time-out, to start an agent. The hashes are of the last proposal that is known.
        The watchdog holds the `note` if this evaluation does not end.
        """
        mark = _MARK.pack(tick, more_ms, proposal_hash.encode("ascii"), trace_hash.encode("ascii"))
        self._put(_ENTER, mark + note)  # before the timer is set: the watchdog may be busy for long
        signal.setitimer(signal.ITIMER_REAL, (self._orphaned_ms + more_ms) / 1000)

    def leave(self, message: bytes = b"") -> None:
        """Say that it has ended, and send a message, unless it is empty."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._put(_LEAVE, message)

    def send(self, message: bytes) -> None:
        """Send a message to the watchdog.

        Raises:
            ValueError: It has more than `MAX_MESSAGE` bytes.
        """
        self._put(_MESSAGE, message)

    def end(self, failure: str | None) -> None:
        """Say that the work is done, or the class of the exception that ended it."""
        self._put(*((_FINISHED,) if failure is None else (_FAILED, failure.encode("ascii", "replace")[:100])))

    def _put(self, kind: bytes, payload: bytes = b"") -> None:
        if len(payload) > MAX_MESSAGE:
            raise ValueError(f"a message has at most {MAX_MESSAGE} bytes, not {len(payload)}")
        frame = _HEAD.pack(kind, len(payload)) + payload
        while frame:
            frame = frame[os.write(self._pipe, frame) :]


class Watchdog:
    """Runs kernels one after the other, each in a process of its own.

    Attributes:
        ending: How the last kernel ended, whose locks are free then; None while it runs, or if nobody awaited its end.
        note: Of the last evaluation that the last kernel began.
    """

    def __init__(self, timeout_ms: int) -> None:
        """Watch with a time-out: milliseconds that one evaluation may take."""
        self._timeout_ms = timeout_ms
        self.ending: Ending | None = None
        self.note = b""

    def watch(self, work: Callable[[Pulse], None]) -> Iterator[bytes]:
        """Do some work in a process of its own, and yield the messages that it sends.

        The process inherits what is in memory. It opens for itself whatever is locked: a lock that it inherits does not
        end with it. This process should have no other threads.

        Args:
            work: Done in the other process, each evaluation of a policy is between `enter` and `leave`.
        """
        self.ending = None
        kernel = _Kernel(work, self._timeout_ms)
        try:
            yield from kernel.messages()
        finally:
            status = kernel.end()
        self.ending, self.note = kernel.ending(status), kernel.note


class _Kernel:
    """One kernel's process, seen from outside."""

    def __init__(self, work: Callable[[Pulse], None], timeout_ms: int) -> None:
        if sys.platform == "win32":
            raise Rejected([Diagnostic(E_WATCHDOG_SYSTEM, "this system has no process groups")])
        self._timeout_ms = timeout_ms
        self._pipe, inner = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # or the other process would hold, and might write, the same text
        self._orphans = Orphans()
        watching = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._pipe)
            _work(work, Pulse(inner, timeout_ms), watching)
        os.close(inner)
        with suppress(OSError):  # it has done so itself
            os.setpgid(self._pid, self._pid)
        self._guard = Guard(self._pid)
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)
        self._read = bytearray()
        self._deadline: float | None = None
        self._kind, self._reason = "died", ""
        self._evaluation = 0
        self._mark = (0, GENESIS, GENESIS)
        self.note = b""

    def messages(self) -> Iterator[bytes]:
        """What the kernel sends, until it has finished, failed, hung or gone."""
        while (frame := self._frame()) is not None:
            kind, payload = frame
            if kind == _LEAVE:
                self._deadline = None
            if kind == _MESSAGE or (kind == _LEAVE and payload):
                left = time.monotonic()
                yield payload
                if self._deadline is not None:  # a kernel waits while its messages are not read
                    self._deadline += time.monotonic() - left
            elif kind == _ENTER:
                tick, more, proposal, trace = _MARK.unpack_from(payload)
                self.note = payload[_MARK.size :]
                self._mark = (tick, proposal.decode("ascii"), trace.decode("ascii"))
                self._evaluation += 1
                self._deadline = time.monotonic() + (self._timeout_ms + more) / 1000
            elif kind != _LEAVE:
                self._kind = "finished" if kind == _FINISHED else "died"
                self._reason = f"raised:{payload.decode('ascii')}" if payload else ""
                return

    def end(self) -> int:
        """End the process, all of its group, and on Linux what left the group; give the status.

        The group is ended before its leader is waited for: until then no other process can have its number.
        """
        for end in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                end(self._pid, signal.SIGKILL)
        self._guard.end()
        os.close(self._pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._orphans.end()
        return status

    def ending(self, status: int) -> Ending:
        """How it ended, given its status."""
        kind, reason = self._kind, self._reason
        if kind == "died" and not reason:
            reason = f"exit:{status}" if status >= 0 else f"signal:{-status}"
            if self._deadline is not None and status == -signal.SIGALRM:
                kind, reason = "hang", "timeout"
        return Ending(kind, reason, self._evaluation, *self._mark)

    def _frame(self) -> tuple[bytes, bytes] | None:
        """The next frame; None after a time-out, or if no whole one comes any more."""
        if not self._fill(_HEAD.size):
            return None
        kind, size = _HEAD.unpack_from(self._read)
        if size > MAX_MESSAGE or not self._fill(_HEAD.size + size):
            return None
        payload = bytes(self._read[_HEAD.size : _HEAD.size + size])
        del self._read[: _HEAD.size + size]
        return kind, payload

    def _fill(self, size: int) -> bool:
        """Read until so many bytes are there; what came in time is read before a time-out is called one."""
        while len(self._read) < size:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic()) * 1000
            if not self._poll.poll(left):
                self._kind, self._reason = "hang", "timeout"
                return False
            more = os.read(self._pipe, 1 << 16)
            if not more:
                return False
            self._read += more
        return True


def _work(work: Callable[[Pulse], None], pulse: Pulse, watching: int) -> NoReturn:
    """Be the kernel's process: never return to what its parent was doing."""
    status = 70
    try:
        _end_with_parent(watching)
        os.setpgid(0, 0)
        for number in (signal.SIGALRM, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        failure = None
        try:
            work(pulse)
        except BaseException as error:
            failure = type(error).__name__
        pulse.end(failure)
        status = 0 if failure is None else 70
    finally:
        os._exit(status)


def _end_with_parent(parent: int) -> None:
    """Have the system end this process when the one that started it ends, however: at once, if it has ended already.

    Until then this one holds the locks that it inherited.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
