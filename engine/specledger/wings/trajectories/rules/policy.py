"""Policies in action: a session hears a trajectory entry by entry and says what each rule makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.unknown import Unknown
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.spec.base import QFIXED_ONE, format_qfixed
from specledger.wings.trajectories.model import Call, Entry, Kept, Message, Result, Speaker, Withheld
from specledger.wings.trajectories.rules.conditions import Event, bind, decide
from specledger.wings.trajectories.rules.earlier import PARALLEL, EarlierCalls
from specledger.wings.trajectories.rules.kept import as_kept
from specledger.wings.trajectories.rules.past import Origin, Source, SourcePlan
from specledger.wings.trajectories.rules.plans import EarlierPlan, Outcome, RulePlan, Status
from specledger.wings.trajectories.rules.undo import Undo, copies
from specledger.wings.trajectories.rules.values import PLURAL, WHOLE, text_of
from specledger.wings.trajectories.rules.windows import Window

_SHOWN: Final = 200
_EVERYTHING: Final = SourcePlan("any", "anything")

Check = tuple[Any, str, str]
"""True, False or Unknown, with the value and where it was."""
_HOLDS: Final[Check] = (True, "", "")


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
    """

    def __init__(self, policy: Policy, *, retracts: bool = False, messages: bool = True) -> None:
        self.policy, self.retracts, self.messages = policy, retracts, messages
        self.sources = [Source(plan, self) for plan in policy.sources]
        self._everything = Source(_EVERYTHING, self)
        self._request = [s for s in self.sources if s.plan.sort == "request"]
        self._system = [s for s in self.sources if s.plan.sort == "system"]
        self._earlier = [EarlierCalls(plan) for plan in policy.earlier]
        self._memory: dict[str, dict[str, Any]] = {}
        self._windows: dict[tuple[str, str], Window] = {}
        self._last: dict[str, tuple[Any, int]] = {}
        self.request: list[str] = []
        self._number = 0
        self._calls: dict[str, Event] = {}
        self._records: dict[str, list[Event]] = {}
        self._of_messages = [rule for rule in policy.rules if rule.matches is None]
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
        for window in self._windows.values():
            window.forget(undo.event.number)
        undo.apply(self._memory, self._last, sources, [self._earlier[number] for number in concerned.earlier])
        del self._calls[call]
        self._records[tool].remove(undo.event)
        return True

    def _hear_message(self, message: Message) -> list[Outcome]:
        self._undo = None
        event = Event(self._number, message=message)
        outcomes = []
        if message.speaker is Speaker.ASSISTANT:
            judged = (self._judge(rule, event) for rule in self._of_messages)
            outcomes = [outcome for outcome in judged if outcome is not None]
        elif message.speaker is Speaker.USER and not message.actor:
            self.request.append(message.text)
            for source in self._request:
                source.result(event)
        elif message.speaker is Speaker.SYSTEM:
            for source in self._system:
                source.result(event)
        self._everything.result(event)
        return outcomes

    def _hear_call(self, call: Call) -> list[Outcome]:
        concerned = _concerned(self.policy, call.tool)
        event = Event(self._number, call=call)
        if self.retracts:
            self._undo = Undo(
                event,
                copies(self._memory, concerned.rules),
                {rule.name: self._last.get(rule.name) for rule in concerned.rules},
                [(self._earlier[number], self._earlier[number].last_since) for number in concerned.since],
            )
        judged = [outcome for rule in concerned.rules if (outcome := self._judge(rule, event)) is not None]
        outcomes = as_kept(judged, self._kept) if self._kept else judged
        for number in concerned.since:
            self._earlier[number].last_since = self._number
        for number in concerned.sources:
            self.sources[number].call(event)
        for number in concerned.earlier:
            self._earlier[number].pending.append(event)
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
        self._everything.result(event)

    def _judge(self, rule: RulePlan, event: Event) -> Outcome | None:
        """The outcome of a rule; None if the call is no opportunity."""
        if rule.pattern is not None and (event.message is None or rule.pattern.search(event.message.text) is None):
            return None
        bound = bind(rule.readers, self, event) if rule.readers else {}
        if rule.when.checked is not None:
            concerned = decide(rule.when, bound)
            if concerned is False:
                return None
            if type(concerned) is Unknown:
                return self._outcome(rule, event, concerned, bound)
        if rule.memory:
            self._remember(rule, event, bound)
        if rule.each is None and rule.after is None and rule.not_after is None and rule.require is not None:
            return self._outcome(rule, event, decide(rule.require, bound), bound)
        if rule.each is not None:
            values = self._values(rule, event)
            if not values:
                return None
            if isinstance(values, Unknown):
                return self._outcome(rule, event, values, bound)
            checks = [self._check_value(rule, event, bound, *value) for value in values]
        else:
            checks = [(decide(rule.require, bound), "", "")] if rule.require is not None else []
        if rule.after is not None:
            checks.append(self._check_earlier(rule.after, event, bound, wanted=True))
        if rule.not_after is not None:
            checks.append(self._check_earlier(rule.not_after, event, bound, wanted=False))
        verdict, value, source = checks[0] if len(checks) == 1 else _gravest(checks)
        return self._outcome(rule, event, verdict, bound, value, source)

    def _check_earlier(self, plan: EarlierPlan, event: Event, bound: Mapping[str, Any], *, wanted: bool) -> Check:
        """Whether there was an earlier call, as it should be."""
        verdict, earlier = self._earlier[plan.number].decide(self, event, bound)
        source = "" if earlier is None or earlier.call is None else f"{earlier.call.tool}, call {earlier.call.id}"
        return verdict if type(verdict) is Unknown else verdict is wanted, "", source

    def _outcome(
        self, rule: RulePlan, event: Event, verdict: Any, bound: Mapping[str, Any], value: str = "", source: str = ""
    ) -> Outcome:
        call = "" if event.call is None else event.call.id
        if verdict is True and not value:
            return Outcome(rule.name, Status.HELD, "", "", source, call, rule.severity)
        shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
        if verdict is True:
            return Outcome(rule.name, Status.HELD, "", shown, source, call, rule.severity)
        if type(verdict) is Unknown:
            reason, withheld = verdict.reason, verdict.withheld
            return Outcome(rule.name, Status.UNJUDGED, reason, shown, source, call, rule.severity, withheld)
        if rule.sources and not source:
            source = self._elsewhere(rule, value, event)
        tool = event.call.tool if event.call is not None else "message"
        reason = _filled(rule, {**bound, "value": shown, "source": source, "tool": tool})
        return Outcome(rule.name, Status.BROKEN, reason, shown, source, call, rule.severity)

    def _elsewhere(self, rule: RulePlan, value: str, event: Event) -> str:
        for type_ in rule.types:
            name = PLURAL[type_][0] if type_ in PLURAL else type_
            whole = WHOLE[name](value)
            origin = None if whole is None else self._everything.find(name, whole)
            if origin is not None:
                return origin.text
        return "nothing before"

    def _values(self, rule: RulePlan, event: Event) -> list[tuple[str, str, str]] | Unknown:
        """The values of a rule, each with its type and the form in which it is compared."""
        assert rule.each is not None  # noqa: S101 - the caller asked
        root = event.root(rule.root)
        if rule.root == "args" and root is not UNSET and type(root) is not dict and type(root) is not Withheld:
            return Unknown("the arguments are no object")
        leaves = rule.each(root)
        if isinstance(leaves, Unknown):
            return leaves
        values: list[tuple[str, str, str]] = []
        for leaf in leaves:
            text = text_of(leaf)
            if text is None:
                return Unknown("a value is neither a text nor a number")
            known = False
            for type_ in rule.types:
                if type_ in PLURAL:
                    known = True
                    name, inside = PLURAL[type_]
                    values += [(name, inner, WHOLE[name](inner) or "") for inner in inside(text)]
                elif (whole := WHOLE[type_](text)) is not None:
                    known = True
                    as_words = type_ in ("text", "name")
                    values.append((type_, text, whole) if as_words else (type_, whole, WHOLE[type_](whole) or ""))
                    break
            if not known and text.strip():
                return Unknown(f"{text[:80]!r} is no {' or '.join(rule.types)}")
        return values

    def _check_value(
        self, rule: RulePlan, event: Event, bound: Mapping[str, Any], type_: str, value: str, compared: str
    ) -> Check:
        """Whether a value comes from where it may, and what it is required to be."""
        unknown: Unknown | None = None
        origin: Origin | None = None
        for number in rule.forbidden:
            source = self.sources[number]
            inside = type_ == "text" and source.plan.sort in ("field", "text")
            leak = source.flows(compared) if inside else source.find(type_, compared)
            if leak is not None:
                if leak.event is None or not leak.event.parallel_to(event):
                    return False, value, leak.text
                unknown = unknown or Unknown(PARALLEL)
            unknown = unknown or source.unknown(event)
        if unknown is not None:
            return unknown, value, ""
        for number in rule.sources:
            origin = self.sources[number].find(type_, compared, stems=rule.stems)
            if origin is not None and (origin.event is None or not origin.event.parallel_to(event)):
                break
            unknown = unknown or (self.sources[number].unknown(event) if origin is None else Unknown(PARALLEL))
            origin = None
        if rule.sources and origin is None:
            return unknown or False, value, ""
        if rule.require is not None:
            verdict = decide(rule.require, {**bound, "value": compared if type_ not in ("text", "name") else value})
            return verdict, value, ""
        return True, value, "" if origin is None else origin.text

    def _remember(self, rule: RulePlan, event: Event, bound: dict[str, Any]) -> None:
        state = self._memory.setdefault(rule.name, {})
        for name, plan in rule.memory.items():
            value = 1 if plan.term is None else decide(plan.term, bound)
            if plan.within is not None:
                window = self._windows.setdefault((rule.name, name), Window(plan.within * QFIXED_ONE))
                state[name] = _bounded(window.add(event.number, event.time, value))
            elif plan.sort != "repeats":
                state[name] = _added(state.get(name, 0), value)
            else:
                state[name] = self._repeated(rule.name, event)
            bound[name] = state[name]

    def _repeated(self, name: str, event: Event) -> Any:
        call = event.call
        if call is None or call.arguments is UNSET:
            self._last.pop(name, None)
            return Unknown("args is not recorded")
        key = (call.tool, call.arguments)
        last, number = self._last.get(name, (None, 0))
        number = number + 1 if last is not None and last == key and _alike(last[1], key[1]) else 1
        self._last[name] = (key, number)
        return number


class _Concerned(Struct, frozen=True, eq=False):
    """What of a policy is about a tool: rules, and the numbers of sources and of plans of earlier calls."""

    rules: tuple[RulePlan, ...]
    sources: tuple[int, ...]
    earlier: tuple[int, ...]
    since: tuple[int, ...]


@lru_cache(maxsize=4096)
def _concerned(policy: Policy, tool: str) -> _Concerned:
    return _Concerned(
        tuple(rule for rule in policy.rules if rule.matches is not None and rule.matches(tool)),
        tuple(n for n, plan in enumerate(policy.sources) if plan.sort in ("field", "text") and plan.matches(tool)),
        tuple(plan.number for plan in policy.earlier if plan.matches(tool)),
        tuple(plan.number for plan in policy.earlier if plan.since is not None and plan.since(tool)),
    )


def _gravest(checks: Sequence[Check]) -> Check:
    """The first check that is broken, else the first that is unknown, else the first."""
    broken = next((check for check in checks if check[0] is False), None)
    unknown = next((check for check in checks if type(check[0]) is Unknown), None)
    return broken or unknown or (checks[0] if checks else _HOLDS)


def _alike(one: Any, two: Any) -> bool:
    """Whether equal values are equal in JSON, too, where 1 is not true."""
    if type(one) is not type(two):
        return False
    if type(one) is list:
        return all(map(_alike, one, two))
    return all(_alike(member, two[key]) for key, member in one.items()) if type(one) is dict else True


def _added(total: Any, value: Any) -> Any:
    if type(total) is Unknown or type(value) is Unknown:
        return total if type(total) is Unknown else value
    return _bounded(total + value)


def _bounded(total: Any) -> Any:
    fits = type(total) is Unknown or INT_MIN <= total <= INT_MAX
    return total if fits else Unknown("the sum does not fit 64 bits")


def _filled(rule: RulePlan, values: Mapping[str, Any]) -> str:
    text = rule.message
    for name, value in values.items():
        if f"{{{name}}}" in text:
            shown = "unknown" if type(value) is Unknown else format_qfixed(value) if name in rule.fixed else str(value)
            text = text.replace(f"{{{name}}}", shown[: _SHOWN * 2])
    return text
