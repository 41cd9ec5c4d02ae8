"""From the plan of a rule to the function that judges by it: a part that the rule lacks costs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import UNSET

from specledger.core.unknown import Unknown, graver
from specledger.spec.base import format_qfixed
from specledger.wings.trajectories.model import Withheld
from specledger.wings.trajectories.rules.conditions import Bound, Event
from specledger.wings.trajectories.rules.extraction import Value
from specledger.wings.trajectories.rules.memory import compile_memory
from specledger.wings.trajectories.rules.plans import BROKEN, HELD, UNJUDGED, EarlierPlan, Outcome, RulePlan

_SHOWN: Final = 200
_AS_WORDS: Final = ("text", "name")

Judge = Callable[[Any, Event], Outcome | None]
"""`(session, event)`: the outcome of a rule; None if the call or message is no opportunity."""
Check = tuple[Any, str, str, str]
"""True, False or Unknown, with the value and where it was, and the key of the rule that was checked."""
Checker = Callable[[Any, Event, dict[str, Any]], Check | None]
"""`(session, event, bound)`: the gravest check of a rule; None if there is nothing to check."""
_HOLDS: Final[Check] = (True, "", "", "")
_WITHHELD: Final = Unknown("text is withheld", withheld=True)


def compile_judge(rule: RulePlan) -> Judge:
    """The function that judges by a rule."""
    name, severity, pattern, check = rule.name, rule.severity, rule.pattern, _checker(rule)
    readers = tuple(rule.readers.items())
    when = None if rule.when.checked is None else rule.when.decide
    remember = compile_memory(rule) if rule.memory else None

    def judge(session: Any, event: Event) -> Outcome | None:
        bound: dict[str, Any] = {}
        if pattern is not None:
            text = event.root("text")
            if type(text) is Withheld:
                if remember is not None:
                    remember(session.memory, event, bound, _WITHHELD)
                return _outcome(rule, session, event, bound, (_WITHHELD, "", "", ""))
            if text is UNSET or pattern.search(text) is None:
                return None
        for read, reader in readers:
            bound[read] = reader(session, event)
        if when is not None:
            concerned = when(bound)
            if concerned is False:
                return None
            if type(concerned) is Unknown:
                if remember is not None:
                    remember(session.memory, event, bound, concerned)
                return _outcome(rule, session, event, bound, (concerned, "", "", ""))
        if remember is not None:
            remember(session.memory, event, bound, None)
        checked = check(session, event, bound)
        if checked is None or checked[0] is not True:
            return None if checked is None else _outcome(rule, session, event, bound, checked)
        _, value, source, _ = checked
        shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
        return Outcome(name, HELD, "", shown, source, "" if event.call is None else event.call.id, severity)

    return judge


def _checker(rule: RulePlan) -> Checker:
    """What checks all that a rule demands."""
    earlier = [(plan, wanted) for plan, wanted in ((rule.after, True), (rule.not_after, False)) if plan is not None]
    require = None if rule.require is None else rule.require.decide
    if rule.each is None and require is not None and not earlier:
        return lambda session, event, bound: (require(bound), "", "", "require")
    values, check_value = rule.each, _value_checker(rule)

    def check(session: Any, event: Event, bound: dict[str, Any]) -> Check | None:
        checks: list[Check] = []
        found: list[Value] = []
        if values is not None:
            found, unread = values(event)
            if not found:
                return None if unread is None else (unread, "", "", "")
            checks = [check_value(session, event, bound, value) for value in found]
            if unread is not None:
                checks.append((unread, "", "", ""))
        elif require is not None:
            checks.append((require(bound), "", "", "require"))
        for plan, wanted in earlier:
            checks.append(_check_earlier(plan, session, event, bound, wanted=wanted))
        gravest = checks[0] if len(checks) == 1 else _gravest(checks)
        if gravest[0] is not False or gravest[-1] != "from":
            return gravest
        type_, value, compared = found[checks.index(gravest)]
        heard = session.everything
        nothing = "nothing before" if heard.unknown(event) is None else "nothing before that can be read"
        return False, value, heard.find(type_, compared, event) or nothing, "from"

    return check


def _value_checker(rule: RulePlan) -> Callable[[Any, Event, Bound, Value], Check]:
    """What checks whether a value comes from where it may, and is what it is required to be."""
    forbidden, allowed, stems = rule.forbidden, rule.sources, rule.stems
    require = None if rule.require is None else rule.require.decide

    def check(session: Any, event: Event, bound: Bound, read: Value) -> Check:
        type_, value, compared = read
        unknown: Unknown | None = None
        origin: str | None = None
        for number in forbidden:
            source = session.sources[number]
            inside = type_ == "text" and source.plan.sort in ("field", "text")
            leak = source.flows(compared, event) if inside else source.find(type_, compared, event)
            if type(leak) is str:
                return False, value, leak, "not_from"
            unknown = graver(unknown, leak, source.unknown(event))
        doubt: Unknown | None = None
        for number in allowed:
            origin = session.sources[number].find(type_, compared, event, stems=stems)
            if origin is not None:
                break
            doubt = graver(doubt, session.sources[number].unknown(event))
        if allowed and origin is None:
            if doubt is None:
                return False, value, "", "from"
            unknown = graver(unknown, doubt)
        if require is not None:
            holds = require({**bound, "value": value if type_ in _AS_WORDS else compared})
            if holds is False:
                return False, value, origin or "", "require"
            unknown = graver(unknown, holds if type(holds) is Unknown else None)
        return (True if unknown is None else unknown), value, origin or "", ""

    return check


def _check_earlier(plan: EarlierPlan, session: Any, event: Event, bound: Bound, *, wanted: bool) -> Check:
    """Whether there was an earlier call, as it should be."""
    verdict, earlier = session.earlier[plan.number].decide(session, event, bound, serves=wanted)
    source = "" if earlier is None or earlier.call is None else f"{earlier.call.tool}, call {earlier.call.id}"
    if verdict is False and source:
        source = f"{source}, stands in the same message: it is parallel, not before" if wanted else ""
    return verdict if type(verdict) is Unknown else verdict is wanted, "", source, "after" if wanted else "not_after"


def _gravest(checks: Sequence[Check]) -> Check:
    """The first check that is broken, else the first that is unknown, else the first."""
    broken = next((check for check in checks if check[0] is False), None)
    unknown = graver(*(check[0] for check in checks if isinstance(check[0], Unknown)))
    if broken is None and unknown is not None:
        return next(check for check in checks if check[0] is unknown)
    return broken or (checks[0] if checks else _HOLDS)


def _outcome(rule: RulePlan, session: Any, event: Event, bound: Bound, check: Check) -> Outcome:
    """What a check means that does not hold."""
    verdict, value, source, demand = check
    call = "" if event.call is None else event.call.id
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    if type(verdict) is Unknown:
        return Outcome(rule.name, UNJUDGED, verdict.reason, shown, source, call, rule.severity, verdict.withheld)
    tool = event.call.tool if event.call is not None else "message"
    reason = rule.message
    if "{" in reason:
        reason = _filled(rule, {**bound, "value": shown, "source": source, "tool": tool})
    elif demand == "after" and source:
        reason = f"{reason} ({source})"
    return Outcome(rule.name, BROKEN, reason, shown, source, call, rule.severity, demand=demand)


def _filled(rule: RulePlan, values: Bound) -> str:
    """The message of a rule with values in the place of names, of which none is looked for in a value."""

    def shown(match: re.Match[str]) -> str:
        name = match[0][1:-1]
        value = values[name]
        text = "unknown" if type(value) is Unknown else format_qfixed(value) if name in rule.fixed else str(value)
        return text[: _SHOWN * 2]

    return re.sub("|".join(re.escape(f"{{{name}}}") for name in values), shown, rule.message)
