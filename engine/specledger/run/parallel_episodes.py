"""The episodes of one run in several processes, where nothing goes on from one to the next.

Decides when that is worth the start of processes, and how many episodes go to one at a time. The events are those of
`loop.run` in the same order, and the receipts the same bytes, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_ints, parse_written
from specledger.core.events import Event
from specledger.run.loop import run, run_episode, separate
from specledger.run.workers import spread

WORTH: Final = 20_000
"""Steps at most of a run that is made here: to start a process takes as long as some thousands of them."""
_CHUNK: Final = 2_000  # steps that go to a process at a time, at most, so that what waits has some megabytes
_ROUNDS: Final = 4  # times at least that each process is given work, so that none is waited for long

Made = list[tuple[str, bytes]]
"""Types and canonical bodies of events."""


class Share(NamedTuple):
    """The episodes that one process makes at a time: the specs' digest, what compiles them, and the numbers."""

    specs: str
    plan_again: Callable[[], Plan]
    episodes: range


def run_apart(
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
        plan_again: Gives the same plan in another process; it can be pickled, a plan cannot.
        workers: How many processes at most; with one everything is made here.
        progress: Called with (steps done, steps at most).
        worth: The steps from which several processes are worth their start.

    Yields:
        The events of `loop.run`.
    """
    steps = plan.episodes * plan.horizon
    if min(workers, plan.episodes) < 2 or steps < worth or plan.horizon > _CHUNK or not separate(plan):
        yield from run(plan, progress)
        return
    yield from run(plan, progress, _gather(spread(_make, _shares(plan, plan_again, workers), workers)))


def _shares(plan: Plan, plan_again: Callable[[], Plan], workers: int) -> Sequence[Share]:
    """Episodes of about the same number for each turn of each process."""
    size = max(1, min(plan.episodes // (workers * _ROUNDS), _CHUNK // plan.horizon))
    starts = range(0, plan.episodes, size)
    return [Share(plan.specs, plan_again, range(first, min(first + size, plan.episodes))) for first in starts]


def _gather(made: Iterator[Made]) -> Iterator[Event]:
    for events in made:
        for type_, form in events:
            yield Event(type_, parse_written(form), form)


_compiled: dict[str, Plan] = {}
"""The plan of the run that this process works for."""


def _make(share: Share) -> Made:
    """The events of some episodes, in a process of their own."""
    plan = _compiled.get(share.specs)
    if plan is None:
        _compiled.clear()
        plan = _compiled[share.specs] = share.plan_again()
    events = (event for number in share.episodes for event in run_episode(plan, number))
    return [(type_, canonical_ints(body) if form is None else form) for type_, body, form in events]
