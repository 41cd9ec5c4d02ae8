"""A live run: a kernel that asks its agent in a process of its own, and the tape of the exchanges.

The process of the kernel asks, logs and acts. This process keeps only the answers, and makes the events of an episode
from them once the kernel has finished it, as a replay does. A late answer, and an agent that ended its process, are
recorded as answers too. A new process then makes the episode once more from the answers so far, and goes on where it
was; where the scenario bears no such answer, the episode of a kernel ends there. The log and the record of an ending
are arguments.

Source: toy-pseudo-axion, WatchdogTimer and I5.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from specledger.compile.plan import Plan, PlannedOutside
from specledger.core.canonical import canonical_bytes, canonical_ints, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import AuditEntry
from specledger.oracles.answer import AT_WORK, DIED, TIMED_OUT, Answer, Asked, Exchange
from specledger.oracles.model_agent import ModelAgent
from specledger.oracles.outside import Transport, transport_of
from specledger.oracles.recording import Listener, Oracle, Place, Tape, TapeError
from specledger.run.watchdog import MAX_MESSAGE, Ending, Pulse, Watchdog

E_KERNEL_DIED = code("E_KERNEL_DIED", "the process of the kernel ended by itself")
E_KERNEL_DIFFERS = code("E_KERNEL_DIFFERS", "the run made from the answers differs from the live one")

Made = TypeVar("Made")


class Log(Protocol):
    """Who writes audit entries, from inside the kernel's process."""

    @property
    def head(self) -> str:
        """The hash that the next entry follows."""

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write one entry; when this returns, what it speaks of may be done."""

    def sync(self) -> None:
        """Force what was appended to the disk."""


Open = Callable[[], AbstractContextManager[Log | None]]
"""Opens the log of a run, in the kernel's process, for one episode."""

_ANSWER, _DONE, _STATE, _REFUSED = b"A", b"D", b"S", b"R"


def run_watched(
    make: Callable[[Plan], Iterator[Event]],
    plan: Plan,
    tape: Tape,
    open_log: Open = nullcontext,
    record: Callable[[Ending], None] = lambda _ending: None,
    trial: Listener | None = None,
) -> Iterator[Event]:
    """Make a run live.

    Args:
        make: Runs a plan.
        plan: A plan that has a watchdog.
        tape: An empty one, which receives every answer.
        open_log: Opens the audit log, if the run has one.
        record: Writes down that a kernel hung or died while it asked; called before the event of that is made.
        trial: Who listens to the trial of an agent.

    Yields:
        The events of the run, those of an episode after it is over.
    """
    oracle = Oracle(tape, None if trial is None else trial.hear)
    events = make(replace(plan, oracle=oracle))
    yield next(events)
    live = _LiveRun(events, oracle, plan, open_log, record, None if trial is None else trial.errors)
    for number, came in enumerate(live.episodes()):
        last = None
        for event in events:
            yield event
            if event.type == "episode_end":
                last = canonical_bytes(event.body)
                break
        if last is not None and came != last:
            raise Rejected([Diagnostic(E_KERNEL_DIFFERS, f"episode {number} ended in another state")])
    yield from events


class _LiveRun:
    """The processes in which the episodes of one run are made."""

    def __init__(
        self,
        events: Iterator[Event],
        oracle: Oracle,
        plan: Plan,
        open_log: Open,
        record: Callable[[Ending], None],
        errors: Path | None,
    ) -> None:
        assert plan.watchdog is not None  # noqa: S101 - the caller looked
        self._events, self._oracle, self._plan = events, oracle, plan
        self._outside, self._limits = plan.outside, plan.watchdog
        self._open_log, self._record, self._errors = open_log, record, errors

    def episodes(self) -> Iterator[bytes]:
        """Let every episode be made, and put its exchanges on the tape.

        Yields:
            The last event of each episode, as the kernel made it.
        """
        number, horizon = 0, self._plan.horizon
        while number < self._plan.episodes:
            watchdog, done = Watchdog(self._limits.deadline_ms), 0
            for message in watchdog.watch(self._work):
                kind, payload = message[:1], message[1:]
                if kind == _REFUSED:
                    raise _refusal(payload)
                done += kind in (_ANSWER, _DONE)
                if kind == _ANSWER:
                    self._keep(Exchange.read(parse_canonical(payload, limit=MAX_MESSAGE), 0))
                elif kind == _STATE:
                    number += 1
                    yield payload
            ending = watchdog.ending
            assert ending is not None  # noqa: S101 - its messages came to their end
            if ending.kind == "finished":
                return
            if self._limits.ms_per_tick is not None:
                self._record(ending)
            if ending.evaluation == done:
                raise Rejected([Diagnostic(E_KERNEL_DIED, f"in episode {number}: {ending.reason}")])
            failure = TIMED_OUT if ending.kind == "hang" else DIED
            noted: Any = parse_canonical(watchdog.note)
            answer = Answer(None, failure, ending.reason)
            self._keep(Exchange(number, ending.tick - number * horizon, Asked(*noted), answer))

    def _keep(self, exchange: Exchange) -> None:
        """Put an exchange on the tape."""
        try:
            self._oracle.tape.add(exchange)
        except TapeError as error:
            raise Rejected([Diagnostic(error.code, error.message)]) from None

    def _enter(self, log: Log, entry: Mapping[str, Any]) -> bool:
        """Whether the log has every entry before this one: an earlier process of the episode logged what it made."""
        logged = entry["entry_hash"] == log.head or entry["prev_entry_hash"] == log.head
        return logged or self._oracle.read == len(self._oracle.tape.exchanges)

    def _work(self, pulse: Pulse) -> None:
        """Make the episodes that are left, in the kernel's process."""
        if self._outside is not None:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 2)
        try:
            with ExitStack() as stack:
                log = stack.enter_context(self._open_log())
                live = _Asking(pulse, self._outside, self._errors)
                stack.callback(live.close)
                self._oracle.live = live
                caught_up = False
                for event in self._events:
                    if event.type == "audit" and log is not None:
                        caught_up = caught_up or self._enter(log, event.body)
                        if caught_up and typed(AuditEntry, event.body)["entry_hash"] != log.head:
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

    def __init__(self, pulse: Pulse, outside: PlannedOutside | None, errors: Path | None) -> None:
        self._pulse = pulse
        self._errors = errors
        self._outside = outside
        self._sessions: dict[int, Transport] = {}

    def ask(self, position: Place, asked: Asked, message: bytes) -> Answer:
        """Send a message to a session, and open the session if this is its first message."""
        assert self._outside is not None  # noqa: S101 - only the agents of `outside_agent` ask
        transport = self._sessions.get(asked.session)
        if transport is None:
            transport = self._sessions[asked.session] = _transport(self._outside, self._errors)
        more = 0 if transport.started else self._outside.source.start_ms
        note = canonical_ints(list(asked))
        self._pulse.enter(position.tick, position.proposal_hash, position.trace_hash, more_ms=more, note=note)
        answer = transport.exchange(message)
        exchange = Exchange(position.episode, position.t, asked, answer)
        self._pulse.leave(_ANSWER + canonical_ints(exchange.document(0)))
        return answer

    def end(self, session: int) -> None:
        """End a session, if it is open."""
        transport = self._sessions.pop(session, None)
        if transport is not None:
            transport.close()

    def close(self) -> None:
        """Say goodbye to every session."""
        for transport in self._sessions.values():
            transport.close(bye=True)

    def watch(self, position: Place, work: Callable[[], Made]) -> Made:
        """Let the agent inside decide."""
        note = canonical_bytes(list(AT_WORK))
        self._pulse.enter(position.tick, position.proposal_hash, position.trace_hash, note=note)
        result = work()
        self._pulse.leave(_DONE)
        return result


def _transport(outside: PlannedOutside, errors: Path | None) -> Transport:
    return transport_of(outside.source, errors) if outside.model is None else ModelAgent(outside.model)


def _refusal(payload: bytes) -> Rejected:
    """The rejection that the kernel's process reported."""
    document: Any = parse_canonical(payload, limit=MAX_MESSAGE)
    return Rejected([Diagnostic(document["code"], document["message"])])
