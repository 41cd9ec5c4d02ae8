"""The episodes of one run in several processes, if none of them depends on the one before.

The events are those of `loop.run` in the same order, and the receipts the same bytes, whatever the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_ints, parse_written
from specledger.core.events import Event
from specledger.run.loop import run, run_episode, separate
from specledger.run.workers import spread

WORTH: Final = 20_000
"""Steps from which several processes are used: to start one takes as long as some thousands of steps."""
_CHUNK: Final = 2_000  # steps at most that a process is given at a time, so that waiting results take some megabytes
_ROUNDS: Final = 4  # chunks at least for each process, so that none waits long for another

Made = list[tuple[str, bytes]]
"""Types and canonical bodies of events."""


def run_parallel(
    plan: Plan,
    plan_again: Callable[[], Plan],
    workers: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    worth: int = WORTH,
) -> Iterator[Event]:
    """Run every episode of a plan, in several processes if its episodes are separate, many, and none too long.

    Args:
        plan: What to run.
        plan_again: Compiles the same plan in another process; it can be pickled, a plan cannot.
        workers: How many processes at most; with one everything runs in this process.
        progress: Called with (steps done, steps at most).
        worth: Steps from which several processes are used.

    Yields:
        The events of `loop.run`.
    """
    steps = plan.episodes * plan.horizon
    if min(workers, plan.episodes) < 2 or steps < worth or plan.horizon > _CHUNK or not separate(plan):
        yield from run(plan, progress)
        return
    results = spread(_Worker(plan_again), _chunks(plan, workers), workers)
    events = (Event(type_, parse_written(form), form) for made in results for type_, form in made)
    yield from run(plan, progress, events)


def _chunks(plan: Plan, workers: int) -> Sequence[range]:
    """The numbers of the episodes in chunks of about equal size."""
    size = max(1, min(plan.episodes // (workers * _ROUNDS), _CHUNK // plan.horizon))
    return [range(first, min(first + size, plan.episodes)) for first in range(0, plan.episodes, size)]


class _Worker:
    """Runs chunks of episodes; each process has a copy, which compiles the plan at its first chunk."""

    def __init__(self, plan_again: Callable[[], Plan]) -> None:
        self._plan_again = plan_again
        self._plan: Plan | None = None

    def __call__(self, episodes: range) -> Made:
        plan = self._plan = self._plan or self._plan_again()
        events = (event for number in episodes for event in run_episode(plan, number))
        return [(type_, canonical_ints(body) if form is None else form) for type_, body, form in events]
