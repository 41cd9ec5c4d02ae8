"""Execution of independent pieces of work in several processes of this machine.

Each worker has its own pipe. A worker that is killed while it writes to a shared queue would leave the queue locked or
with half a result in it, and its reader would wait forever (as `ProcessPoolExecutor` does).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from traceback import format_exc
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from msgspec import Struct

from specledger.core.diagnostics import code
from specledger.run.executor import CONTINUES, Done, Executor, Lost

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

E_WORKER_DIED = code("E_WORKER_DIED", "a process that shared the work was ended")


class WorkerDied(Lost):
    """One of the processes was killed; the others are terminated."""

    def __init__(self) -> None:
        super().__init__(E_WORKER_DIED, "a worker process was killed", CONTINUES)


class _Worker(NamedTuple):
    """A process, and this end of its pipe."""

    process: BaseProcess
    pipe: Connection


def available() -> int:
    """How many workers the machine has processors for."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes(Struct, frozen=True):
    """Processes of this machine as an executor.

    Attributes:
        workers: How many at most; one means none beside this process.
    """

    workers: int = 1

    @property
    def width(self) -> int:
        """How many pieces of work are done at once."""
        return self.workers

    @property
    def remote(self) -> bool:
        """They share the files of this process."""
        return False

    def open(self, work: Callable[[Any], Any], pieces: int | None = None) -> Pool:
        """A pool of processes, of no more than there are pieces."""
        return Pool(work, self.workers if pieces is None else min(self.workers, pieces))


ALONE: Final = Processes()
"""This process alone."""


def here(executor: Executor) -> Executor:
    """An executor on this machine, for work that needs its files."""
    return Processes(available()) if executor.remote else executor


class Pool:
    """Executes submitted pieces of work in processes of its own; with one worker, in this process.

    Used as a context: when it is left with work outstanding, the processes are terminated.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        """Prepare the pool; each process receives the work, a picklable callable, once."""
        self._work = work
        self._workers = workers if workers > 1 else 0
        self._crew: list[_Worker] = []
        self._idle: list[Connection] = []
        self._waiting: deque[tuple[int, Any]] = deque()
        self._busy: dict[Connection, int] = {}
        self._done: deque[Done] = deque()

    def __enter__(self) -> Self:
        """Prepare; the processes start with the first piece of work."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        _end(self._crew, at_once=kind is not None or bool(self._busy))

    def submit(self, index: int, item: Any) -> None:
        """Queue a piece of work; an idle process begins at once.

        Raises:
            WorkerDied: A process was ended from outside.
        """
        if not self._crew and self._workers:
            copied = _is_copied_whole()
            with _undisturbed():
                self._crew.extend(_start(self._work if copied else None) for _ in range(self._workers))
            if not copied:
                self._hand_out()
            self._idle = [worker.pipe for worker in self._crew]
        self._waiting.append((index, item))
        self._send()

    def ready(self) -> list[Done]:
        """What is finished and was not returned yet, without waiting for anything."""
        self._receive(at_most=0)
        self._send()
        done = list(self._done)
        self._done.clear()
        return done

    def wait(self) -> Done:
        """Wait for the next finished piece of work, in whatever order they finish.

        Raises:
            WorkerDied: A process was ended from outside.
        """
        if not self._crew:
            index, item = self._waiting.popleft()
            try:
                return Done(index, self._work(item), None)
            except Exception as error:
                return Done(index, None, error)
        while not self._done:
            self._receive()
            self._send()
        return self._done.popleft()

    def _hand_out(self) -> None:
        """Send the work to the processes: when this one is killed meanwhile, they see the end of their pipes."""
        form = ForkingPickler.dumps(self._work)
        for _, pipe in self._crew:
            try:
                pipe.send_bytes(form)
            except OSError:
                raise WorkerDied() from None

    def _send(self) -> None:
        """Send an item to each idle process: one at a time, so that two sides never wait to send to each other."""
        while self._idle and self._waiting:
            pipe = self._idle.pop()
            index, item = self._waiting.popleft()
            self._busy[pipe] = index
            try:
                pipe.send((item,))
            except OSError:
                raise WorkerDied() from None

    def _receive(self, at_most: float | None = None) -> None:
        """Receive what is ready, after waiting for it, for `at_most` seconds if given."""
        ready = wait(list(self._busy), at_most)
        for pipe in [pipe for pipe in self._busy if pipe in ready]:
            try:
                self._done.append(Done(self._busy[pipe], *pipe.recv()))
            except (EOFError, OSError):  # nothing, or a part of it
                raise WorkerDied() from None
            del self._busy[pipe]
            self._idle.append(pipe)


def _start(work: Callable[[Any], Any] | None) -> _Worker:
    """Start a process: a copy of this one, which has imported and compiled what this one has, if the work is given."""
    here, there = multiprocessing.Pipe()
    own = work is not None
    make = multiprocessing.get_context("fork").Process if own else multiprocessing.get_context("spawn").Process
    # A daemon: the workers of a generator that is not closed end with this process, which would else wait for them.
    process = make(target=_serve, args=(there, work), daemon=True)
    try:
        process.start()
    except BrokenPipeError:  # it was ended before it had read what it is for
        raise WorkerDied() from None
    there.close()  # the worker has the only other end: when it ends, however, this one says so
    return _Worker(process, here)


def _is_copied_whole() -> bool:
    """Whether a fork of this process has all of it: threads are not copied, and a lock that one holds stays locked."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # no Linux
        return False


def _end(crew: list[_Worker], *, at_once: bool) -> None:
    """Wait until each process has ended: by itself, as it is told that nothing comes any more, or at once.

    A copy of this process that was made later has a pipe open too, so that closing it here may tell nothing.
    """
    for process, pipe in crew:
        if at_once:
            process.kill()
        else:
            with suppress(OSError):
                pipe.send(())
        pipe.close()
    for process, _ in crew:
        process.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold an interruption back while processes are started: one between two starts would leave processes running.

    What is started meanwhile never sees one: a terminal sends it to all its processes, and the one that gave the work
    decides what becomes of the others.

    Raises:
        KeyboardInterrupt: Afterwards, if one came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # the first process would start it otherwise, and that lifts what is held back
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: noted.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, before)  # a copy would note them for nobody
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for number, handler in before.items():
            signal.signal(number, handler)
    if noted:
        signal.raise_signal(noted[0])  # to the present handler, which may ignore it


def _serve(pipe: Connection, work: Callable[[Any], Any] | None) -> None:
    """Receive the work, if it is not known, then apply it to each item that arrives, until nothing comes any more."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # also one that came while this process began
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work = work or pipe.recv()
    except (EOFError, OSError):
        return
    while True:
        try:
            given = pipe.recv()
        except (EOFError, OSError):
            return
        if not given:
            return
        answer = _answer(work, *given)
        try:
            pipe.send(answer)
        except OSError:
            return
        except Exception as error:  # it cannot be sent, and nothing of it was
            with suppress(OSError):
                pipe.send((None, error))


def _answer(work: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    """What becomes of an item; an error is raised again where the work was given."""
    try:
        return work(item), None
    except Exception as error:
        error.add_note(f"In a worker: {format_exc()}")  # a place is lost on the way; a note is not
        return None, error


def _end_with_parent() -> None:
    """End with the process that gave the work: a process that is killed does not notify its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
