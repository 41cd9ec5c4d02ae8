"""Several independent pieces of work at once, in processes of their own.

Decides that results come back in the order of the work, so that nothing depends on how many workers there are, and that
an interruption ends the workers too. Refuses to know what the work is: a function of a module, and what it takes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


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
        Exception: Whatever `work` raises, at its item; work that was not begun is not done any more.
    """
    workers = min(workers, len(given))
    if workers < 2:
        yield from map(work, given)
        return
    others = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupt)
    try:
        yield from pool.map(work, given)
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupt() -> None:
    """An interruption goes to every process of a terminal; the one that gave the work decides what becomes of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
