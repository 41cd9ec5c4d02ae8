"""Mutants of rules: each policy of one rule in which one part is dropped, shifted or negated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.load import Resolved
from specledger.load.bundle import decode, dump, key_of
from specledger.wings.trajectories.mutants.expressions import mutants_of
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec

_DEMANDS: Final = ("from", "not_from", "after", "not_after", "require")
Way = tuple[str | int, ...]


class RuleMutant(Struct, frozen=True, eq=False):
    """A policy with one rule, in which one part is changed.

    Attributes:
        way: Where the part is, below the rule.
        change: What was done to it, in words.
    """

    rule: str
    way: Way
    change: str
    policy: Policy

    @property
    def text(self) -> str:
        """The change with the place of the part, as people read it."""
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.way)
        return f"{where.removeprefix('.')} {self.change}".strip()


def alone(resolved: Resolved, rule: str) -> Policy:
    """The policy of one rule only."""
    policy = _compiled(resolved, rule, _data(resolved)["rules"][rule])
    assert policy is not None  # noqa: S101 - the rule compiled before
    return policy


def rule_mutants(resolved: Resolved, rule: str) -> Iterator[RuleMutant]:
    """The mutants of a rule that are rules; those that say the same as it are not told apart."""
    data = _data(resolved)
    original = data["rules"][rule]
    for way, change, mutated in _mutated(original, data.get("tools", {})):
        policy = _compiled(resolved, rule, mutated)
        if policy is not None:
            yield RuleMutant(rule, way, change, policy)


def _data(resolved: Resolved) -> Any:
    return decode(resolved.data)


def _compiled(resolved: Resolved, name: str, rule: Any) -> Policy | None:
    """The policy of a rule; None if it is no rule."""
    data = {**_data(resolved), "rules": {name: rule}}
    try:
        model = PolicySpec.model_validate(data)
        form = dump(model)
        changed = Resolved(resolved.kind, resolved.name, key_of(resolved.kind, resolved.name, form), model, form, {})
        return compile_policy(changed, Diagnostics())
    except (ValueError, Rejected):
        return None


def _mutated(rule: Mapping[str, Any], sets: Mapping[str, Any]) -> Iterator[tuple[Way, str, Any]]:
    """Where a rule is changed, how, and the changed rule."""
    for way in _expressions(rule):
        for change, text in mutants_of(_at(rule, way)):
            yield way, change, _with(rule, way, text)
    demands = [key for key in _DEMANDS if key in rule]
    for key in demands:
        if len(demands) > 1:
            yield (key,), "dropped", _without(rule, (key,))
    for key in ("from", "not_from"):
        for index in range(len(rule.get(key, ()))):
            if len(rule[key]) > 1:
                yield (key, index), f"dropped ({_named(rule[key][index])})", _without(rule, (key, index))
    yield from _spans(rule)
    for way in _limits(rule):
        yield way, "dropped", _without(rule, way)
    tools = rule.get("when", {}).get("tool", [])
    listed = [tool for name in ([tools] if isinstance(tools, str) else tools) for tool in sets.get(name, [name])]
    for tool in listed if len(listed) > 1 else ():
        yield ("when", "tool"), f"without {tool}", _with(rule, ("when", "tool"), [t for t in listed if t != tool])


def _limits(rule: Mapping[str, Any]) -> Iterator[Way]:
    """Where a rule says which calls, messages and results alone it is about."""
    ways: list[Way] = [(key,) for key in ("after", "not_after", "when")]
    ways += [(key, index) for key in ("from", "not_from") for index in range(len(rule.get(key, ())))]
    for way in ways:
        part = _at(rule, way) if way[0] in rule else None
        if isinstance(part, dict):
            yield from ((*way, key) for key in ("if", "since", "same", "matches") if key in part)


def _spans(rule: Mapping[str, Any]) -> Iterator[tuple[Way, str, Any]]:
    """The spans of time of a rule's memory, shifted and dropped."""
    for name, kept in rule.get("memory", {}).items():
        way: Way = ("memory", name, "within")
        if "within" in kept:
            for seconds in _shifted(kept["within"]):
                yield way, f"`{kept['within']}` is `{seconds}`", _with(rule, way, seconds)
            yield way, "dropped", _without(rule, way)


def _shifted(seconds: int) -> tuple[int, ...]:
    """A span of time a tenth shorter and a tenth longer, by at least a second."""
    step = max(seconds // 10, 1)
    return tuple(shifted for shifted in (seconds - step, seconds + step) if shifted > 0)


def _expressions(rule: Mapping[str, Any]) -> Iterator[Way]:
    if "if" in rule.get("when", {}):
        yield ("when", "if")
    if "require" in rule:
        yield ("require",)
    for key in ("after", "not_after"):
        if "if" in rule.get(key, {}):
            yield (key, "if")
    for key in ("from", "not_from"):
        for index, source in enumerate(rule.get(key, ())):
            if isinstance(source, dict) and "if" in source:
                yield (key, index, "if")


def _named(source: Any) -> str:
    return source if isinstance(source, str) else ", ".join(f"{key} {source[key]}" for key in sorted(source)[:1])


def _at(value: Any, way: Way) -> Any:
    for step in way:
        value = value[step]
    return value


def _with(rule: Mapping[str, Any], way: Way, value: Any) -> Any:
    changed = deepcopy(dict(rule))
    _at(changed, way[:-1])[way[-1]] = value
    return changed


def _without(rule: Mapping[str, Any], way: Way) -> Any:
    changed = deepcopy(dict(rule))
    del _at(changed, way[:-1])[way[-1]]
    return changed
