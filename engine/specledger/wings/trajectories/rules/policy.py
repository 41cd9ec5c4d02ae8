"""Policies in action: a session hears a trajectory entry by entry and says what each rule makes of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from msgspec import UNSET, Struct

from specledger.wings.trajectories.model import Call, Entry, Kept, Message, Result, Speaker, Withheld
from specledger.wings.trajectories.room import MOST_SEARCHED, Room
from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.earlier import EarlierCalls
from specledger.wings.trajectories.rules.judging import Judge, compile_judge
from specledger.wings.trajectories.rules.kept import as_kept
from specledger.wings.trajectories.rules.matched import MatchedSource
from specledger.wings.trajectories.rules.memory import Memory
from specledger.wings.trajectories.rules.past import Source, SourcePlan
from specledger.wings.trajectories.rules.plans import EarlierPlan, Outcome, RulePlan
from specledger.wings.trajectories.rules.undo import Undo

_EVERYTHING: Final = SourcePlan("any", "anything")


class Policy(Struct, frozen=True, eq=False):
    """A compiled policy."""

    name: str
    key: str
    rules: tuple[RulePlan, ...]
    sources: tuple[SourcePlan, ...]
    earlier: tuple[EarlierPlan, ...]

    def begin(self, *, retracts: bool = False, messages: bool = True) -> Session:
        """A session for one trajectory."""
        return Session(self, retracts=retracts, messages=messages)


class Session:
    """The rules of a policy over one trajectory.

    Attributes:
        retracts: Whether a call may turn out to be denied, as its result says: then it counts for nothing.
        messages: Whether messages are recorded; without them nobody knows what the request was.
        room: What is left of the memory that may be kept to find values; then what is not found is unknown.
    """

    def __init__(self, policy: Policy, *, retracts: bool = False, messages: bool = True) -> None:
        self.policy, self.retracts, self.messages = policy, retracts, messages
        self.sources = [MatchedSource(plan, self) if plan.same else Source(plan, self) for plan in policy.sources]
        self.everything = Source(_EVERYTHING, self)
        self._request = [s for s in self.sources if s.plan.sort == "request"]
        self._system = [s for s in self.sources if s.plan.sort == "system"]
        self.earlier = [EarlierCalls(plan) for plan in policy.earlier]
        self.memory = Memory()
        self.room = Room(MOST_SEARCHED)
        self.request: list[str | Withheld] = []
        self._number = 0
        self._calls: dict[str, Event] = {}
        self._records: dict[str, list[Event]] = {}
        self._undo: Undo | None = None
        self._kept: dict[tuple[str, str], str] = {}

    def hear(self, entry: Entry) -> list[Outcome]:
        """Judge an entry against what came before it, then remember it."""
        self._number += 1
        if type(entry) is Call:
            return self._hear_call(entry)
        if type(entry) is Result:
            if not (entry.denied and self._retract(entry.call)):
                self._hear_result(entry)
        elif type(entry) is Message:
            return self._hear_message(entry)
        elif type(entry) is Kept and entry.policy == self.policy.key and not self.retracts:
            self._kept[entry.rule, entry.call] = entry.status
        return []

    def records(self, matches: Callable[[str], bool]) -> list[Event]:
        """The earlier calls of some tools, the latest first."""
        events = [event for tool, calls in self._records.items() if matches(tool) for event in calls]
        return sorted(events, key=lambda event: -event.number)

    def _retract(self, call: str) -> bool:
        """Forget the last call, which was denied: no rule counts it or finds it later; False if it is another one."""
        undo, self._undo = self._undo, None
        if undo is None or undo.event.call is None or undo.event.call.id != call:
            return False
        tool = undo.event.call.tool
        concerned = _concerned(self.policy, tool)
        sources = [self.sources[number] for number in concerned.sources]
        undo.apply(self.memory, sources, [self.earlier[number] for number in concerned.earlier])
        del self._calls[call]
        self._records[tool].remove(undo.event)
        return True

    def _hear_message(self, message: Message) -> list[Outcome]:
        self._undo = None
        event = Event(self._number, message=message, room=self.room)
        outcomes = []
        if message.speaker is Speaker.ASSISTANT:
            judged = [judge(self, event) for judge in _of_messages(self.policy)]
            outcomes = as_kept([outcome for outcome in judged if outcome is not None], self._kept)
        elif message.speaker is Speaker.USER and not message.actor:
            self.request.append(message.text)
            for source in self._request:
                source.result(event)
        elif message.speaker is Speaker.SYSTEM:
            for source in self._system:
                source.result(event)
        self.everything.result(event)
        if self._kept:  # what was kept of messages is of this one
            self._kept = {(rule, call): status for (rule, call), status in self._kept.items() if call}
        return outcomes

    def _hear_call(self, call: Call) -> list[Outcome]:
        concerned = _concerned(self.policy, call.tool)
        event = Event(self._number, call=call, room=self.room)
        if self.retracts:
            self._undo = Undo(
                event,
                self.memory.copy_of(concerned.rules),
                [(self.earlier[number], self.earlier[number].mark()) for number in concerned.since],
            )
        judged = []
        for judge in concerned.judges:
            outcome = judge(self, event)
            if outcome is not None:
                judged.append(outcome)
        outcomes = as_kept(judged, self._kept) if self._kept else judged
        for number in concerned.since:
            self.earlier[number].begin_anew(event)
        for number in concerned.sources:
            self.sources[number].call(event)
        for number in concerned.earlier:
            self.earlier[number].pending.append(event)
        self._calls[call.id] = event
        self._records.setdefault(call.tool, []).append(event)
        return outcomes

    def _hear_result(self, result: Result) -> None:
        event = self._calls.get(result.call)
        if event is None or event.answered:
            return
        event.content, event.error, event.answered, event.parsed = result.content, result.error, True, UNSET
        assert event.call is not None  # noqa: S101 - it is the event of a call
        for number in _concerned(self.policy, event.call.tool).sources:
            self.sources[number].result(event)
        self.everything.result(event)


class _Concerned(Struct, frozen=True, eq=False):
    """What of a policy is about a tool: rules, and the numbers of sources and of plans of earlier calls.

    Attributes:
        rules: The names of its rules.
    """

    rules: tuple[str, ...]
    judges: tuple[Judge, ...]
    sources: tuple[int, ...]
    earlier: tuple[int, ...]
    since: tuple[int, ...]


@lru_cache(maxsize=4096)
def _concerned(policy: Policy, tool: str) -> _Concerned:
    rules = [rule for rule in policy.rules if rule.matches is not None and rule.matches(tool)]
    return _Concerned(
        tuple(rule.name for rule in rules),
        tuple(map(_judge_of, rules)),
        tuple(n for n, plan in enumerate(policy.sources) if plan.sort in ("field", "text") and plan.matches(tool)),
        tuple(plan.number for plan in policy.earlier if plan.matches(tool)),
        tuple(plan.number for plan in policy.earlier if plan.since is not None and plan.since(tool)),
    )


@lru_cache(maxsize=4096)
def _judge_of(rule: RulePlan) -> Judge:
    return compile_judge(rule)


@lru_cache(maxsize=64)
def _of_messages(policy: Policy) -> tuple[Judge, ...]:
    return tuple(_judge_of(rule) for rule in policy.rules if rule.matches is None)
