"""The second evaluator on chunks of the episodes of a run, if none depends on the one before, by any executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.events import Event
from specledger.load import Bundle
from specledger.run.executor import Executor, Work, spread
from specledger.run.loop import run_episode, separate
from specledger.run.parallel_episodes import bounds_of, read_events, write_event
from specledger.verify.judge import RunJudge
from specledger.verify.judged import Count
from specledger.verify.replay import compare, join_run, make_again

_WORTH: Final = 500
"""Steps from which several processes are used: one step takes about 25 times as long to judge as to run."""


class JudgedChunks(Work):
    """Judges chunks of the episodes of one scenario; each process compiles its plan and its expressions once."""

    entry = "judged chunks"

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def __reduce__(self) -> tuple[type[JudgedChunks], tuple[Bundle]]:
        return JudgedChunks, (self._bundle,)

    @cached_property
    def _judge(self) -> RunJudge:
        return RunJudge(self._bundle, compile_scenario(self._bundle))

    def __call__(self, item: Sequence[int]) -> dict[str, Any]:
        """The events of the episodes from one number to before another, and the count of what was judged."""
        judge, lines = self._judge, []
        for number in range(*item):
            for event in run_episode(judge.plan, number):
                lines.append(write_event(event))
                judge.see(event)
        return {"events": b"".join(lines), "count": judge.count.drain()}

    def document(self) -> dict[str, Any]:
        """The specs."""
        return {"specs": self._bundle.document()}


def in_chunks(plan: Plan, executor: Executor) -> bool:
    """Whether a run is judged in chunks."""
    few = min(plan.episodes, executor.width) < 2 or plan.episodes * plan.horizon < _WORTH
    return not few and plan.outside is None and separate(plan)


def judge_chunks(specs: Bundle, plan: Plan, recorded: Iterable[bytes], executor: Executor) -> Count:
    """Make a run again in chunks, judge each verdict, and compare every receipt with the recorded one.

    Raises:
        Broken: E_REPLAY, if the run is not the recorded one.
        Rejected: E_JUDGE_PACKAGE, here or where a chunk is judged.
    """
    count = Count()

    def episodes() -> Iterator[Event]:
        bounds = bounds_of(range(plan.episodes), plan.horizon, executor.width)
        yield from chain.from_iterable(map(taken, spread(JudgedChunks(specs), bounds, executor)))

    def taken(result: Mapping[str, Any]) -> Iterator[Event]:
        count.take(Count.of(result["count"]))
        return read_events(result["events"].splitlines())

    compare(make_again(lambda _: join_run(specs, plan, episodes()), specs.digest), recorded)
    return count
