"""What a rule remembers of the calls before: counts and sums, in all or of a span of time, and equal calls in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET

from specledger.core.unknown import Unknown
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.spec.base import QFIXED_ONE
from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.plans import MemoryPlan, RulePlan
from specledger.wings.trajectories.rules.windows import Window

Repeated = tuple[Any, int | Unknown]
"""The last call, None if it may be another one, and how often it came in a row."""
Remembered = Mapping[str, tuple[dict[str, Any], Repeated | None]]
"""By rule the values of its terms, and the last call; None if there was none."""


class Memory:
    """What the rules of a session remember.

    Attributes:
        states: By rule the value of each of its terms.
        repeated: By rule the last call, and how often it came in a row.
        windows: By rule and term what it counts or adds of a span of time.
    """

    def __init__(self) -> None:
        """Begin with nothing remembered."""
        self.states: dict[str, dict[str, Any]] = {}
        self.repeated: dict[str, Repeated] = {}
        self.windows: dict[tuple[str, str], Window] = {}

    def copy_of(self, rules: Iterable[str]) -> Remembered:
        """What some rules remember, as it is now."""
        return {rule: (dict(self.states.get(rule, {})), self.repeated.get(rule)) for rule in rules}

    def restore(self, remembered: Remembered, number: int) -> None:
        """Restore what was copied before the call of a number."""
        for rule, (state, before) in remembered.items():
            self.states[rule] = state
            if before is None:
                self.repeated.pop(rule, None)
            else:
                self.repeated[rule] = before
        for window in self.windows.values():
            window.forget(number)


Term = Callable[[Memory, Event, dict[str, Any], Any, Unknown | None], Any]
"""`(memory, event, bound, before, doubt)`: the value of a term with a call, from its value before it."""


def compile_memory(rule: RulePlan) -> Callable[[Memory, Event, dict[str, Any], Unknown | None], None]:
    """What remembers a call for a rule, and binds the values of its terms.

    A call of which nobody knows whether the rule is about it is the doubt: what counts it is unknown from then on.
    """
    rule_name = rule.name
    terms = [(name, _term(rule_name, name, plan)) for name, plan in rule.memory.items()]

    def remember(memory: Memory, event: Event, bound: dict[str, Any], doubt: Unknown | None) -> None:
        state = memory.states.get(rule_name)
        if state is None:
            state = memory.states[rule_name] = {}
        for name, term in terms:
            bound[name] = state[name] = term(memory, event, bound, state.get(name, 0), doubt)

    return remember


def _term(rule: str, name: str, plan: MemoryPlan) -> Term:
    value = None if plan.term is None else plan.term.decide
    if plan.within is not None:
        span = plan.within * QFIXED_ONE

        def within(memory: Memory, event: Event, bound: dict[str, Any], before: Any, doubt: Unknown | None) -> Any:
            window = memory.windows.setdefault((rule, name), Window(span))
            return _bounded(window.add(event.number, event.time, doubt or (1 if value is None else value(bound))))

        return within
    if plan.sort == "repeats":
        return lambda memory, event, bound, before, doubt: _repeated(memory.repeated, rule, event, doubt)
    if value is None:
        return lambda memory, event, bound, before, doubt: _added(before, doubt or 1)
    return lambda memory, event, bound, before, doubt: _added(before, doubt or value(bound))


def _repeated(repeated: dict[str, Repeated], rule: str, event: Event, doubt: Unknown | None) -> int | Unknown:
    """How often a call came in a row, with this one."""
    call = event.call
    if doubt is not None or call is None or call.arguments is UNSET:
        doubt = doubt or Unknown("args is not recorded")
        repeated[rule] = None, doubt
        return doubt
    last, number = repeated.get(rule, (None, 0))
    key = (call.tool, call.arguments)
    is_next = last is None or (last == key and _alike(last[1], key[1]))
    number = 1 if not is_next else number if isinstance(number, Unknown) else number + 1
    repeated[rule] = key, number
    return number


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
