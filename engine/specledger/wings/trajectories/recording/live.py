"""A conversation that goes on: its calls are decided before they are made, by the loop that judges recordings."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.plan import Actor, Plan
from specledger.core.events import Event
from specledger.run.actor_state import ActorState
from specledger.run.controller import Foresee, Moment
from specledger.run.episode import Episode
from specledger.wings.trajectories.model import Call, Entry, Result, Trajectory
from specledger.wings.trajectories.recording.controller import RecordedController
from specledger.wings.trajectories.recording.decision import Decision
from specledger.wings.trajectories.recording.guard_log import GUARD

MOST_CALLS: Final = 1_000_000
"""Calls of a conversation that a world follows."""
_WORLD_ENDED: Final = "the world could not follow an earlier call"


class _Waiting(Iterator[Entry]):
    """Entries that came and were not heard; it goes on after it was empty."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque()

    def __next__(self) -> Entry:
        if not self.entries:
            raise StopIteration
        return self.entries.popleft()


class LiveController(RecordedController):
    """The controller of a conversation; it stops at each call once that is decided, and goes on at the next one."""

    decided: Decision

    def begin(self) -> None:
        """Begin the conversation."""
        super().begin()
        self._chain = None  # the lines are those of the log that is being written
        self._entries = self.waiting = _Waiting()

    def add(self, entry: Entry) -> None:
        """Take what was said, called or given back next."""
        self.waiting.entries.append(entry)
        if isinstance(entry, Result):
            self._results.setdefault(entry.call, entry)

    def guard(self, moment: Moment, foresee: Foresee) -> Iterable[Event]:
        """Stop at a call that is decided."""
        self.decided = self.decide(foresee)
        return (Event(GUARD, {}),)

    def events_at(self, hook: str, moment: Moment) -> Iterable[Event]:
        """Nothing: its receipts are made once the conversation ended, of the recording of it."""
        return ()

    @property
    def searched(self) -> int:
        """Bytes of memory, about, that rules keep to find where values are from."""
        return sum(session.room.used for _, session in self._sessions)

    def decide_alone(self) -> Decision:
        """Decide the call that waits by the rules alone, after the world ended."""
        self._call, self._gap, self._judgement = self._next_call(), _WORLD_ENDED, None
        return self.decide(lambda _inputs: ([], []))


class LiveEpisode:
    """The episode of one conversation."""

    def __init__(
        self,
        plan: Plan,
        head: Mapping[str, str],
        make: Callable[[Actor, Iterator[Trajectory]], Any],
    ) -> None:
        """Begin a conversation under a plan; `head` has the id, the file and the format of its trajectory."""
        assert plan.recording is not None  # noqa: S101 - the caller looked
        endless = replace(plan, episodes=1, horizon=MOST_CALLS, recording=replace(plan.recording, lengths=None))
        actor = plan.actors[0]
        self._controller: LiveController = make(actor, iter([Trajectory(**head, entries=())]))
        self._events = Episode(endless, 0, [ActorState(actor, self._controller)]).run()
        next(self._events)

    @property
    def searched(self) -> int:
        """Bytes of memory, about, that rules keep of it."""
        return self._controller.searched

    def add(self, entry: Entry) -> None:
        """Take a message, a result or a finding."""
        self._controller.add(entry)

    def decide(self, call: Call) -> Decision:
        """Decide a call; what was added before it precedes it, and the result of the call before is among that."""
        self._controller.add(call)
        for event in self._events:
            if event.type == GUARD:
                return self._controller.decided
        return self._controller.decide_alone()
