"""A conversation under guard: its calls are decided one after another, logged, and sealed as a run of the scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_bytes
from specledger.core.events import Event, GuardCause
from specledger.wings.guard.log import ConversationLog, Line, differs
from specledger.wings.guard.protocol import E_GUARD_CALL, E_GUARD_CONVERSATION, E_GUARD_UNWRITABLE, Refusal
from specledger.wings.trajectories.findings import E_LOG_NO_RESULT, E_LOG_SIZE
from specledger.wings.trajectories.lines import entry_document, entry_of
from specledger.wings.trajectories.model import GUARDED, Call, Entry, Finding, Message, Result, Speaker, text_of
from specledger.wings.trajectories.recording.decision import Decision
from specledger.wings.trajectories.recording.guard_log import (
    DECISION,
    END,
    ENTRY,
    decision_line,
    entry_line,
    opening,
    too_late,
)
from specledger.wings.trajectories.room import Room

Stamped = TypeVar("Stamped", Message, Call, Result)

MOST_BYTES: Final = 32 << 20
"""Bytes of a log after which its conversation takes nothing any more, and of memory that its entries take, about."""


class Answer(Struct, frozen=True):
    """A decision as it is answered.

    Attributes:
        receipt: The digest of the line of the log that has it.
    """

    decision: Decision
    cause: GuardCause
    receipt: str

    @property
    def allowed(self) -> bool:
        """Whether the call may be made."""
        return self.decision.allowed

    @property
    def reason(self) -> str:
        """Why the call is denied, or what could not be judged of it, for the agent."""
        return reason_of(self.decision)


class Conversation:
    """One conversation. Its methods are called by one thread at a time, but for `give_up`."""

    def __init__(
        self, name: str, plan: Plan, log: ConversationLog, *, closed: bool, microseconds: Callable[[], int]
    ) -> None:
        """Begin a conversation, or go on with the one that the log holds; entries get the time at which they came.

        Raises:
            Rejected: E_GUARD_DIFFERS, E_GUARD_LOG.
            OSError: The log cannot be written.
        """
        assert plan.recording is not None and plan.recording.live is not None  # noqa: S101, PT018 - the caller looked
        self.name, self._log, self._closed, self._microseconds = name, log, closed, microseconds
        self._latest = 0
        self.head = {"id": name, "file": f"{name}.jsonl", "format": GUARDED}
        self._episode = plan.recording.live(plan, self.head)
        self._settling = Lock()
        self._room = Room(MOST_BYTES)
        self._kept = 0
        self._full = False
        self._answers: dict[str, Answer] = {}
        self._calls: dict[str, Call] = {}
        self.waiting: str | None = None
        self.ended = False
        self.entries = 0
        first = opening(name, plan.name, plan.specs)
        if log.records:
            self._resume(first, log.records)
        else:
            log.append([first], sync=True)

    def stamped(self, entry: Stamped) -> Stamped:
        """An entry with the time at which it came; no earlier than an entry before it, whatever the clock says."""
        self._latest = max(self._latest, self._microseconds())
        return replace(entry, time=self._latest)

    def add(self, entry: Entry) -> str:
        """Take a message or a finding; the receipt."""
        self._go_on()
        self._charge(entry)
        self._write(entry)
        self._episode.add(entry)
        return self._log.head

    def say(self, message: Message, unless_argument: str | None = None) -> str:
        """Take a message, of which the agent is the author if it is an argument of an earlier call; the receipt."""
        if unless_argument is not None and message.speaker is Speaker.USER and not message.actor:
            message = replace(message, actor=self._author(text_of(message.text), unless_argument))
        return self.add(self.stamped(message))

    def _author(self, text: str, argument: str) -> str:
        """The first call that has a text as an argument; empty if there is none."""
        for call in self._calls.values():
            value = call.arguments.get(argument) if isinstance(call.arguments, dict) else None
            if isinstance(value, str) and value.strip() == text.strip():
                return call.id
        return ""

    def report(self, call: str, content: Any = UNSET, *, error: bool | None = None) -> str:
        """Take the result of the call that waits for it; the receipt."""
        self._go_on()
        if call != self.waiting:
            raise Refusal(E_GUARD_CALL, f"the call {call!r:.200} does not wait for a result")
        result = self.stamped(Result(call, content, error))
        self._charge(result)
        self._write(result)
        self.waiting = None
        self._episode.add(result)
        return self._log.head

    def known(self, call: Call) -> Answer | None:
        """The answer to a call that was asked before; Refusal if that was another one of the same id."""
        earlier = self._calls.get(call.id)
        if earlier is not None and not _is_same(earlier, call):
            raise Refusal(E_GUARD_CALL, f"the id {call.id!r:.200} is that of an earlier call")
        answer = self._answers.get(call.id)
        if answer is not None and answer.allowed and call.id != self.waiting:
            raise Refusal(E_GUARD_CALL, f"the call {call.id!r:.200} was made, and has its result")
        return answer

    def asked(self, call: str) -> bool:
        """Whether a call of this id was asked before."""
        return call in self._answers

    def free_id(self) -> str:
        """An id for a call whose client gives none."""
        number = len(self._answers) + 1
        while self.asked(f"#{number}"):
            number += 1
        return f"#{number}"

    def ask(self, call: Call) -> Answer:
        """Decide a call that was `stamped`; the answer is on the disk."""
        self._go_on()
        if self.waiting is not None:
            raise Refusal(E_GUARD_CALL, f"the call {self.waiting!r:.200} has no result yet")
        decision = self._episode.decide(call)
        answer = self._settle(call, decision, GuardCause.RULES)
        self._follow(call, answer)
        return answer

    def give_up(self, call: Call) -> Answer:
        """Settle a call whose decision takes too long, unless it was settled meanwhile."""
        return self._settle(call, too_late(call, closed=self._closed), GuardCause.DEADLINE)

    def finish(self) -> Sequence[Line]:
        """End the conversation; the lines of its log."""
        if not self.ended:
            if self.waiting is not None:
                message = f"the call {self.waiting!r} of {self._calls[self.waiting].tool} has no result"
                self._write(Finding(E_LOG_NO_RESULT, message))
            self._append([Event(END, {"entries": self.entries})], sync=True)
            self.ended = True
        self._log.close()
        with ConversationLog(self._log.path, self._log.run) as log:
            if log.head != self._log.head:
                raise differs(f"the log of {self.name} was changed while its conversation went on")
            return log.records

    def close(self) -> None:
        """Leave the conversation as it is, to be resumed."""
        self._log.close()

    def _go_on(self) -> None:
        if self.ended:
            raise Refusal(E_GUARD_CONVERSATION, f"the conversation {self.name} ended")
        if self._full:
            raise self._no_room()

    def _charge(self, *entries: Entry) -> None:
        """Charge for entries before they are written; Refusal if there is no room for them, nor for any after them.

        The log says so once, so that what is sealed does not pass for the whole, and none goes on after a crash.
        """
        if not self._full and self._log.size <= MOST_BYTES and all(map(self._room.take, entries)):
            self._kept = self._room.used
            return
        if not self._full:
            self._full = True
            self._write(_unread(), sync=True)
        raise self._no_room()

    def _no_room(self) -> Refusal:
        return Refusal(E_GUARD_CONVERSATION, f"the conversation {self.name} takes more than {MOST_BYTES} bytes; end it")

    @property
    def kept(self) -> int:
        """Bytes of memory, about, that the conversation takes."""
        searched: int = self._episode.searched
        return self._kept + searched

    def _settle(self, call: Call, decision: Decision, cause: GuardCause) -> Answer:
        """Log a call with its decision, once; whoever comes first decides."""
        with self._settling:
            answer = self._answers.get(call.id)
            if answer is None:
                logged = replace(call, late=cause is GuardCause.DEADLINE)
                receipt = self._write_decision(logged, decision, cause)
                answer = Answer(decision, cause, receipt)
                self._answers[call.id], self._calls[call.id] = answer, call
            return answer

    def _follow(self, call: Call, answer: Answer) -> None:
        if answer.allowed:
            self.waiting = call.id
        else:
            self._episode.add(denial(answer.decision))

    def _write_decision(self, call: Call, decision: Decision, cause: GuardCause) -> str:
        """Log a call, its decision, and what is told of it if it is denied; the digest of the decision's line."""
        denied = [] if decision.allowed else [denial(decision)]
        self._charge(call, *denied)
        lines = [entry_line(call), decision_line(decision, cause), *map(entry_line, denied)]
        _, receipt, *_ = self._append(lines, sync=True)
        self.entries += 1 + len(denied)
        return receipt

    def _write(self, entry: Entry, *, sync: bool = False) -> None:
        self._append([entry_line(entry)], sync=sync)
        self.entries += 1

    def _count(self, entry: Entry) -> None:
        """Count an entry that the log has."""
        self.entries += 1
        self._full = self._full or entry == _unread()
        self._room.take(entry)
        self._kept = self._room.used

    def _append(self, events: Sequence[Event], *, sync: bool) -> list[str]:
        try:
            return self._log.append(events, sync=sync)
        except OSError as error:
            reason = error.strerror or "unknown error"
            raise Refusal(E_GUARD_UNWRITABLE, f"the log cannot be written, so nothing acts: {reason}") from None

    def _resume(self, first: Event, lines: Sequence[Line]) -> None:
        """Decide again what the log holds, and see that every decision is what it was."""
        rest = iter(lines)
        type_, body, _ = next(rest)
        if (type_, body) != (first.type, first.body):
            raise differs(f"the log of {self.name} is of other specs, or of another conversation")
        for line in rest:
            if line.type == END:
                self.ended = True
            elif line.type == ENTRY:
                entry = entry_of(line.body)
                self._again(entry, rest)
                self._count(entry)

    def _again(self, entry: Entry, rest: Iterator[Line]) -> None:
        time = entry.time if isinstance(entry, Message | Call | Result) else 0
        self._latest = max(self._latest, time if isinstance(time, int) else 0)
        if not isinstance(entry, Call):
            self._episode.add(entry)
            if isinstance(entry, Result):
                self.waiting = None
            return
        decision, cause = self._episode.decide(entry), GuardCause.RULES
        if entry.late:
            decision, cause = too_late(entry, closed=self._closed), GuardCause.DEADLINE
        type_, body, receipt = next(rest)
        if (type_, body) != (DECISION, decision_line(decision, cause).body):
            raise differs(f"the call {entry.id!r:.200} of {self.name} is decided otherwise than it was")
        self._answers[entry.id] = Answer(decision, cause, receipt)
        self._calls[entry.id] = replace(entry, late=False)
        self.waiting = entry.id if decision.allowed else None
        if not decision.allowed:
            self._told_again(denial(decision), next(rest, None))

    def _told_again(self, result: Result, line: Line | None) -> None:
        """Hear what was told of a call that was denied, which a crash may have torn off the log."""
        if line is None:
            self._room.take(result)
            self._write(result)
        elif (line.type, line.body) != (ENTRY, entry_line(result).body):
            raise differs(f"the call {result.call!r:.200} of {self.name} is denied, and the log has another result")
        else:
            self._count(result)
        self._episode.add(result)


def _unread() -> Finding:
    """What stands in the log of a conversation after the last entry for which there was room."""
    return Finding(E_LOG_SIZE, f"the conversation takes more than {MOST_BYTES} bytes, so the rest is not in it")


def _is_same(first: Call, second: Call) -> bool:
    """Whether two calls are the same, whenever they were asked about."""
    bodies = [canonical_bytes(entry_document(replace(call, time=""))) for call in (first, second)]
    return bodies[0] == bodies[1]


def reason_of(decision: Decision) -> str:
    """Why a call is denied, or what could not be judged of it."""
    return "; ".join(f"{each.name}: {each.reason}" for each in (*decision.denied_by, *decision.unjudged))


def denial(decision: Decision) -> Result:
    """The result of a call that was denied: what the agent is told."""
    return Result(decision.call, reason_of(decision), error=True, denied=True)
