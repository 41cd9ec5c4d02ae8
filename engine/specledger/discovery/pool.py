"""Workers in processes of their own, which carry one discovery to its end.

Decides how many processes there are, what each of them opens for itself, and that what they hold is given back when the
work ends or is interrupted. Refuses to know evidence.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Final

from specledger.compile.model import PlannedModel, compile_model
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.discovery.loop import Progress, reached
from specledger.discovery.plan import compile_discovery
from specledger.discovery.step import Workbench, open_workbench
from specledger.discovery.worker import Worker, group_name, owner_name
from specledger.load import Bundle
from specledger.oracles.model import Model
from specledger.oracles.tape import E_TAPE_MISSING
from specledger.run.workers import WorkerDied, spread

if TYPE_CHECKING:
    from specledger.discovery.store import Store

_LOOK: Final = 0.25  # seconds between two looks at how far the workers are


@dataclass(frozen=True, slots=True)
class Job:
    """What workers work at, as every process is told it.

    Attributes:
        bundle: The discovery.
        store: A path or the URL of a database.
        lease: Seconds for which work is claimed.
        record: Whether a cassette asks its model what it does not hold, and keeps the answer.
        taped: Whether the store holds every answer that there is, so that nobody is asked.
    """

    bundle: Bundle
    store: str
    lease: float
    record: bool = False
    taped: bool = False


def open_all(bundle: Bundle) -> tuple[Workbench, PlannedModel]:
    """Compile a discovery with its model, prompt and ranking.

    Raises:
        Rejected: With the findings of the first of them that has any.
    """
    plan = compile_discovery(bundle)
    return open_workbench(plan), compile_model(bundle, plan.key("model"))


def work_all(job: Job, store: Store, workers: int, progress: Progress | None = None) -> None:
    """Have a discovery carried to its end.

    Args:
        job: The discovery.
        store: Its open store.
        workers: How many processes work; one is this one.
        progress: Called with (steps done, steps at most).

    Raises:
        Rejected: Whatever one of them was refused.
    """
    group = group_name(socket.gethostname(), os.getpid())
    try:
        if workers < 2:
            _work(job, group, 0, progress)
            return
        with _watched(store, compile_discovery(job.bundle).most_steps, progress):
            for refused in spread(partial(_work_apart, job, group), range(workers), workers):
                if refused is not None:
                    raise refused
    except WorkerDied:  # a worker was killed, and the others have ended with it: this process goes on alone
        store.release(group)
        _work(job, group, workers, progress)
    finally:
        store.release(group)


def _work(job: Job, group: str, number: int, progress: Progress | None = None) -> None:
    """Work in this process until the discovery has ended."""
    from specledger.discovery.store import Store  # noqa: PLC0415 - a database opens no door

    workbench, planned = open_all(job.bundle)
    open_model = _nobody if job.taped else partial(planned.open, job.record)
    store = Store(job.store, job.bundle.digest, job.lease)
    try:
        worker = Worker(store, workbench, planned.identity, open_model, owner_name(group, number), job.lease)
        worker.work(None if progress is None else lambda record: progress(*reached(workbench.plan, record)))
    finally:
        store.close()


def _work_apart(job: Job, group: str, number: int) -> Rejected | None:
    """Work in a process of its own; findings come back as values."""
    try:
        _work(job, group, number)
    except Rejected as rejected:
        return rejected
    return None


def _nobody() -> Model:
    raise Rejected([Diagnostic(E_TAPE_MISSING, "an iteration asks for something that the tape has no answer to")])


@contextmanager
def _watched(store: Store, most: int, progress: Progress | None) -> Iterator[None]:
    """Tell how far the workers are, for as long as the context lasts."""
    if progress is None:
        yield
        return
    over = Signal()
    watcher = Thread(target=_watch, args=(store, most, progress, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(store: Store, most: int, progress: Callable[[int, int], None], over: Signal) -> None:
    while not over.wait(_LOOK):
        try:
            progress(min(store.done(), most - 1), most)
        except Rejected:
            continue  # the database is busy; the next look is soon enough
