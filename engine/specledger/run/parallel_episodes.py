"""The episodes of one run in several processes, if none of them depends on the one before.

The events are those of `loop.run` in the same order, and the receipts the same bytes, whatever the executor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_ints, parse_written
from specledger.core.events import Event
from specledger.run.executor import Executor, spread
from specledger.run.loop import run, run_episode, separate

WORTH: Final = 20_000
"""Steps from which several processes are used: to start one takes as long as some thousands of steps."""
_CHUNK: Final = 2_000  # steps at most that a process is given at a time, so that waiting results take some megabytes
_ROUNDS: Final = 4  # chunks at least for each process, so that none waits long for another


def run_parallel(
    plan: Plan,
    chunks: Callable[[tuple[int, int]], bytes],
    executor: Executor,
    progress: Callable[[int, int], None] | None = None,
    *,
    worth: int = WORTH,
    held: tuple[int, Iterable[Event]] = (0, ()),
    wanted: range | None = None,
) -> Iterator[Event]:
    """Run the episodes of a plan, in several processes if they are separate, many, and none too long.

    Args:
        plan: What to run.
        chunks: The work: `run_chunk` of the same plan, compiled in another process.
        executor: Where it is run; with one worker everything runs in this process.
        progress: Called with (steps done, steps at most).
        worth: Steps from which several processes are used.
        held: How many of the first of them were run before, and their events; only if episodes are separate.
        wanted: The numbers of some that follow one another, only if episodes are separate; by default all.

    Yields:
        The events of `loop.run`.
    """
    count, events = held
    every = range(plan.episodes)
    left = (wanted or every)[count:]
    few = len(left) * plan.horizon < worth or min(len(left), executor.width) < 2
    if few or plan.horizon > _CHUNK or not separate(plan):
        rest = (event for number in left for event in run_episode(plan, number))
        yield from run(plan, progress, None if left == every else chain(events, rest))
        return
    results = spread(chunks, bounds_of(left, plan.horizon, executor.width), executor)
    rest = (event for lines in results for event in read_events(lines.splitlines()))
    yield from run(plan, progress, chain(events, rest))


def bounds_of(episodes: range, horizon: int, width: int) -> Sequence[tuple[int, int]]:
    """The first episode of each chunk and the one after its last; chunks are of about equal size."""
    size = max(1, min(len(episodes) // (width * _ROUNDS), _CHUNK // horizon))
    return [(start, min(start + size, episodes.stop)) for start in episodes[::size]]


def run_chunk(plan: Plan, bounds: Sequence[int]) -> bytes:
    """The events of some episodes, each as a line of its type, a space and its canonical body."""
    events = (event for number in range(*bounds) for event in run_episode(plan, number))
    return b"".join(write_event(event) for event in events)


def write_event(event: Event) -> bytes:
    """The line of an event."""
    type_, body, form = event
    return b"%s %s\n" % (type_.encode(), canonical_ints(body) if form is None else form)


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of lines that `write_event` wrote, without their newlines."""
    for line in lines:
        type_, _, form = line.partition(b" ")
        yield Event(type_.decode(), parse_written(form), form)
