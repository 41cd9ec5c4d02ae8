"""Several independent pieces of work at once, in processes of their own.

Decides that results come back in the order of the work, so that nothing depends on how many workers there are, and that
an interruption ends the workers too. Refuses to know what the work is: a function of a module, and what it takes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Final, TypeVar

from engine.core.diagnostics import Diagnostic, Rejected, code

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
        Exception: Whatever `work` raises, at its item; work that was not begun is not done any more.
    """
    workers = min(workers, len(given))
    if workers < 2:
        yield from map(work, given)
        return
    others = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    rest = iter(given)
    try:
        with _undisturbed():
            due = deque(pool.submit(work, item) for item in islice(rest, workers * _AHEAD))
        while due:
            made = due.popleft().result()
            due.extend(pool.submit(work, item) for item in islice(rest, 1))
            yield made
    except BrokenProcessPool:
        raise WorkerDied() from None
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold an interruption back while processes are started: one that comes in their midst leaves a pool without end.

    Raises:
        KeyboardInterrupt: Afterwards, if one came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt


def _begin() -> None:
    """Prepare a worker: it ends with whoever gave it work, however that ends.

    An interruption goes to every process of a terminal; the one that gave the work decides what becomes of it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the end of the process that gave the work; a pool that is killed tells its workers nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
