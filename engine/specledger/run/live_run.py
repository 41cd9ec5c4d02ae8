"""A live run: a kernel that asks its agent in a process of its own, episode by episode, and the tape of the answers.

The process of the kernel asks, logs and acts. This process keeps only its answers, and makes the events of the run from
them, as a replay does. A late answer, and an agent that ended its process, are recorded as answers too: a kernel's
episode ends with them, any other run continues. The log and the record of an ending are arguments.

Source: toy-pseudo-axion, WatchdogTimer and I5.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from specledger.compile.plan import Plan, PlannedWatchdog
from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.oracles.answer import DIED, TIMED_OUT, Answer
from specledger.oracles.outside import Policy, policy_of
from specledger.oracles.recording import Oracle, Place, Tape, TapeError
from specledger.run.watchdog import MAX_MESSAGE, Ending, Pulse, Watchdog

E_KERNEL_DIED = code(
    "E_KERNEL_DIED",
    "the process of the kernel ended by itself",
    "It ended between two decisions, so no agent was being asked: it was killed, memory was short, or this is a "
    "defect. What it had logged stays in the log; the run has no result.",
)
E_KERNEL_DIFFERS = code(
    "E_KERNEL_DIFFERS",
    "the run made from the answers differs from the live one",
    "The process of the kernel came to another state than its own answers lead to. Something in the run depends on "
    "more than its specs and its answers: an agent that changed the engine in memory, or a defect.",
)

Made = TypeVar("Made")


class Log(Protocol):
    """Who writes audit entries, from inside the kernel's process."""

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write one entry; when this returns, what it speaks of may be done."""

    def sync(self) -> None:
        """Force what was appended to the disk."""


Open = Callable[[], AbstractContextManager[Log | None]]
"""Opens the log of a run, in the kernel's process, for one episode."""

_ANSWER, _DONE, _STATE, _REFUSED = b"A", b"D", b"S", b"R"


def conduct(
    make: Callable[[Plan], Iterator[Event]],
    plan: Plan,
    tape: Tape,
    open_log: Open = nullcontext,
    record: Callable[[Ending], None] | None = None,
) -> Iterator[Event]:
    """Make a run live.

    Args:
        make: Runs a plan.
        plan: A plan that has a watchdog.
        tape: An empty one, which receives every answer.
        open_log: Opens the audit log, if the run has one.
        record: Writes down that a kernel hung or died while it asked; called before the event of that is made.

    Yields:
        The events of the run, those of an episode after it is over.

    Raises:
        Rejected: E_KERNEL_DIED, E_KERNEL_DIFFERS, and whatever the kernel's process was refused.
    """
    assert plan.watchdog is not None  # noqa: S101 - the caller looked
    oracle = Oracle(tape)
    events = make(replace(plan, oracle=oracle))
    yield next(events)
    kernel = _Kernel(events, oracle, plan, plan.watchdog, open_log, record)
    for number in range(plan.episodes):
        came = kernel.ask(number, plan.horizon)
        last = None
        for event in _episode(events):
            yield event
            last = event
        if came is not None and last is not None and came != canonical_bytes(last.body):
            raise Rejected([Diagnostic(E_KERNEL_DIFFERS, f"episode {number} ended in another state")])
    yield from events


def _episode(events: Iterator[Event]) -> Iterator[Event]:
    """The events up to the end of the next episode."""
    for event in events:
        yield event
        if event.type == "episode_end":
            return


class _Kernel:
    """The processes in which the episodes of one run are made."""

    def __init__(
        self,
        events: Iterator[Event],
        oracle: Oracle,
        plan: Plan,
        limits: PlannedWatchdog,
        open_log: Open,
        record: Callable[[Ending], None] | None,
    ) -> None:
        self._events = events
        self._oracle = oracle
        self._outside = None if plan.outside is None else plan.outside.source
        self._limits = limits
        self._open_log = open_log
        self._record = record

    def ask(self, episode: int, horizon: int) -> bytes | None:
        """Let an episode be made, and put its answers on the tape.

        Returns:
            Its last event, as the kernel made it; None if the kernel did not come to it.
        """
        while True:
            watchdog = Watchdog(self._ended, self._limits.deadline_ms)
            done, last = 0, None
            for message in watchdog.watch(self._work):
                kind, payload = message[:1], message[1:]
                if kind == _REFUSED:
                    raise _refusal(payload)
                done += kind in (_ANSWER, _DONE)
                if kind == _ANSWER:
                    self._keep(Answer.read(parse_canonical(payload, limit=MAX_MESSAGE)))
                elif kind == _STATE:
                    last = payload
            ending = watchdog.ending
            assert ending is not None  # noqa: S101 - its messages came to their end
            if ending.kind == "finished":
                return last
            if ending.evaluation == done:
                raise Rejected([Diagnostic(E_KERNEL_DIED, f"in episode {episode}: {ending.reason}")])
            failure = TIMED_OUT if ending.kind == "hang" else DIED
            self._keep(Answer(episode, ending.tick - episode * horizon, None, failure, ending.reason))
            if self._limits.ms_per_tick is not None:
                return None

    def _keep(self, answer: Answer) -> None:
        """Put an answer on the tape."""
        try:
            self._oracle.tape.add(answer)
        except TapeError as error:
            raise Rejected([Diagnostic(error.code, error.message)]) from None

    def _ended(self, ending: Ending) -> None:
        """Write an ending down, if it came while the kernel asked."""
        if self._record is not None and self._limits.ms_per_tick is not None:
            self._record(ending)

    def _work(self, pulse: Pulse) -> None:
        """Make the next episode, in the kernel's process."""
        outside = self._outside
        if outside is not None:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 2)
        try:
            with ExitStack() as stack:
                log = stack.enter_context(self._open_log())
                policy = None if outside is None else policy_of(outside)
                if policy is not None:
                    stack.callback(policy.close)
                self._oracle.live = _Asking(pulse, policy, 0 if outside is None else outside.start_ms)
                for event in _episode(self._events):
                    if event.type == "audit" and log is not None:
                        log.append(event.body)
                    if event.type == "episode_end":
                        if log is not None:
                            log.sync()
                        pulse.send(_STATE + canonical_bytes(event.body))
        except Rejected as rejected:
            first = rejected.diagnostics[0]
            pulse.send(_REFUSED + canonical_bytes({"code": first.code, "message": first.message}))


class _Asking:
    """Asks inside the kernel's process, and reports to the watchdog when that begins and ends."""

    def __init__(self, pulse: Pulse, policy: Policy | None, start_ms: int) -> None:
        self._pulse = pulse
        self._policy = policy
        self._start_ms = start_ms

    def ask(self, place: Place, question: bytes) -> Answer:
        """Ask outside."""
        assert self._policy is not None  # noqa: S101 - only a desk of an agent outside asks
        more = 0 if self._policy.started else self._start_ms
        self._pulse.enter(place.tick, place.proposal_hash, place.trace_hash, more_ms=more)
        answer = self._policy.answer(place.episode, place.t, question)
        self._pulse.leave()
        self._pulse.send(_ANSWER + canonical_bytes(answer.document()))
        return answer

    def watch(self, place: Place, work: Callable[[], Made]) -> Made:
        """Let the agent inside decide."""
        self._pulse.enter(place.tick, place.proposal_hash, place.trace_hash)
        made = work()
        self._pulse.leave()
        self._pulse.send(_DONE)
        return made


def _refusal(payload: bytes) -> Rejected:
    """The rejection that the kernel's process reported."""
    told: Any = parse_canonical(payload, limit=MAX_MESSAGE)
    return Rejected([Diagnostic(told["code"], told["message"])])
