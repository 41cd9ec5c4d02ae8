"""Several independent pieces of work at once, in processes of their own.

Decides that results come back in the order of the work, so that nothing depends on how many workers there are, and
that whatever ends the work ends the workers too. Refuses to know what the work is: a function of a module, and what it
takes.

Each worker has a pipe of its own. A queue that workers share would be left locked, or with half a result in it, by one
that is killed while it writes, and whoever reads it would wait for ever (as `ProcessPoolExecutor` does).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from specledger.core.diagnostics import Diagnostic, Rejected, code

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

Given = TypeVar("Given")
Made = TypeVar("Made")

_AHEAD: Final = 3  # items for each process that are made before their turn comes, so that results never pile up


E_WORKER_DIED = code(
    "E_WORKER_DIED",
    "a process that shared the work was ended",
    "Somebody ended it, or memory was short. Nothing of the work under way was kept: begin it again, with fewer "
    "`--workers` if memory is what was missing.",
)


class WorkerDied(Rejected):
    """One of the processes was ended from outside, and the others have ended with it."""

    def __init__(self) -> None:
        super().__init__([Diagnostic(E_WORKER_DIED, "a worker was ended by somebody, or for want of memory")])


class _Worker(NamedTuple):
    """A process, and this end of its pipe."""

    process: SpawnProcess
    pipe: Connection


def available() -> int:
    """How many workers the machine has processors for."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[Given], Made], given: Sequence[Given], workers: int) -> Iterator[Made]:
    """Apply a function to each item.

    Args:
        work: A function of a module; what it takes and gives can be pickled. With one worker it is called here.
        given: The items.
        workers: How many processes at most.

    Yields:
        The results in the order of the items.

    Raises:
        WorkerDied: A process was ended from outside.
        Exception: Whatever `work` raises, at its item; what the others are doing then is not finished.
    """
    workers = min(workers, len(given))
    if workers < 2:
        yield from map(work, given)
        return
    crew: list[_Worker] = []
    done = False
    try:
        with _undisturbed():
            crew.extend(_start(work) for _ in range(workers))
        yield from _Turns([worker.pipe for worker in crew], given).results()
        done = True
    finally:
        _end(crew, at_once=not done)


def _start(work: Callable[[Any], Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    # A daemon: what a generator that nobody closed has left is ended with this process, which would wait for it else.
    process = context.Process(target=_serve, args=(work, there), daemon=True)
    try:
        process.start()
    except BrokenPipeError:  # it was ended before it had read what it is for
        raise WorkerDied() from None
    there.close()  # the worker has the only other end: when it ends, however, this one says so
    return _Worker(process, here)


class _Turns:
    """Who works at which item, and what was made of those whose turn has not come."""

    def __init__(self, pipes: list[Connection], given: Sequence[Any]) -> None:
        self._given = given
        self._ahead = len(pipes) * _AHEAD
        self._idle = pipes
        self._busy: dict[Connection, int] = {}
        self._made: dict[int, tuple[Any, Exception | None]] = {}
        self._begun = 0

    def results(self) -> Iterator[Any]:
        """Wait for each item's result when it is its turn, and meanwhile keep everybody at work."""
        for turn in range(len(self._given)):
            self._take(at_most=0)
            self._give(turn)
            while turn not in self._made:
                self._take()
                self._give(turn)
            result, error = self._made.pop(turn)
            if error is not None:
                raise error
            yield result

    def _give(self, turn: int) -> None:
        """Send each worker that waits an item, as long as that is not too far ahead of the turn.

        One item at a time, and only to who waits for it: so nobody waits to send while the other does too.
        """
        end = min(len(self._given), turn + self._ahead)
        while self._idle and self._begun < end:
            pipe = self._idle.pop()
            self._busy[pipe] = self._begun
            item = self._given[self._begun]
            self._begun += 1
            try:
                pipe.send(item)
            except OSError:
                raise WorkerDied() from None

    def _take(self, at_most: float | None = None) -> None:
        """Receive what is ready, after waiting for it, for some seconds at most if they are told."""
        ready = wait(list(self._busy), at_most)
        for pipe in [pipe for pipe in self._busy if pipe in ready]:
            try:
                self._made[self._busy[pipe]] = pipe.recv()
            except (EOFError, OSError):  # nothing, or a part of it
                raise WorkerDied() from None
            del self._busy[pipe]
            self._idle.append(pipe)


def _end(crew: list[_Worker], *, at_once: bool) -> None:
    """Wait until each process has ended: by itself, as nothing comes any more, or at once."""
    for process, pipe in crew:
        if at_once:
            process.terminate()
        pipe.close()
    for process, _ in crew:
        process.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold an interruption back while processes are started: one in their midst would leave some that nobody ends.

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
    before = signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGINT, before)
    if noted:
        signal.raise_signal(signal.SIGINT)  # to whoever is told of it now, who may ignore it


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Do what is sent, until nothing comes any more, or whoever sends it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        answer = _answer(work, item)
        try:
            pipe.send(answer)
        except OSError:
            return
        except Exception as error:  # it cannot be sent, and nothing of it was
            pipe.send((None, error))


def _answer(work: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    """What becomes of an item; an error is raised again where the work was given."""
    try:
        return work(item), None
    except Exception as error:
        error.add_note(f"In a worker: {format_exc()}")  # a place is lost on the way; a note is not
        return None, error


def _end_with_parent() -> None:
    """Wait for the end of the process that gave the work; whoever is killed tells its workers nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
