"""The run of a scenario from its specs: what makes its events, in this process and in workers that compile it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.events import Event
from specledger.load import Bundle
from specledger.run.executor import Executor, Work
from specledger.run.loop import run, run_chunk, run_parallel
from specledger.run.workers import ALONE
from specledger.spec.scenario import Scenario

Progress = Callable[[int, int], None]
"""Called with how much of a run is done, of how much."""
Tell = Callable[[int, int, str], None]
"""Called with how much of a run was finished before, of how much, and what is counted."""


class EpisodeChunks(Work):
    """Chunks of the episodes of one scenario; each process compiles its plan once."""

    entry = "episodes"

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def __reduce__(self) -> tuple[type[EpisodeChunks], tuple[Bundle]]:
        return type(self), (self._bundle,)

    @cached_property
    def _plan(self) -> Plan:
        return compile_scenario(self._bundle)

    def __call__(self, item: Sequence[int]) -> Any:
        """The events of the episodes from one number to before another."""
        return run_chunk(self._plan, item)

    def document(self) -> dict[str, Any]:
        """The specs."""
        return {"specs": self._bundle.document()}


def make_run(
    bundle: Bundle,
    plan: Plan,
    progress: Progress | None = None,
    executor: Executor = ALONE,
    resumed: tuple[int, Iterable[Event]] = (0, ()),
    wanted: range | None = None,
    tell: Tell | None = None,
) -> Iterator[Event]:
    """The events of a scenario's run, from its compiled plan.

    `resumed` is how many of the first episodes were run before, and their events; only if episodes are separate.
    `wanted` are the numbers of the episodes, if not all are run.
    """
    if tell is not None:
        tell(resumed[0], len(wanted or range(plan.episodes)), "episode")
    return _stated(
        bundle, run_parallel(plan, EpisodeChunks(bundle), executor, progress, resumed=resumed, wanted=wanted)
    )


def join_run(bundle: Bundle, plan: Plan, episodes: Iterator[Event]) -> Iterator[Event]:
    """The events of a run whose episodes, in order, were made elsewhere."""
    return _stated(bundle, run(plan, None, episodes))


def _stated(bundle: Bundle, events: Iterator[Event]) -> Iterator[Event]:
    """The events of a run; one that commits to no set of proposals has no commitments, and says so at its start."""
    assert isinstance(bundle.main.model, Scenario)  # noqa: S101 - what compiles as a scenario is one
    return _uncommitted(events) if bundle.main.model.commit == "none" else events


def _uncommitted(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if event.type == "start":
            yield Event("start", {**event.body, "commit": "none"})
        elif event.type != "commit":
            yield event
