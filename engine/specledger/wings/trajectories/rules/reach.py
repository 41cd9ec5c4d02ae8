"""Rules that can notice nothing: by their own conditions, or by the tools that there are and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import suggest
from specledger.wings.trajectories.rules.accesses import Access, Steps, accesses
from specledger.wings.trajectories.rules.constants import constant, sorts_of
from specledger.wings.trajectories.rules.paths import ANY, LEAVES, PathError, parse_path
from specledger.wings.trajectories.rules.plans import RulePlan
from specledger.wings.trajectories.spec.policy import FieldSource, Policy, Rule, TextSource

Tools = Mapping[str, Sequence[str] | None]
"""The tools that there are, each with the names of its arguments; None of one that may have any."""

_SHOWN: Final = 8
_NAMED: Final = 5


class Obstacle(Struct, frozen=True):
    """Why a rule can notice nothing.

    Attributes:
        lacks: What it can never have: an `opportunity`, or a `breach`, where it has opportunities that nothing breaks.
        reason: What of the rule keeps it from that.
        steps: Where that stands in the policy.
        hint: What was meant, perhaps.
        of_tools: Whether other tools, or other arguments of them, would let it.
    """

    lacks: str
    reason: str
    steps: Steps
    hint: str
    of_tools: bool = True


def obstacle(policy: Policy, plan: RulePlan, tools: Tools | None) -> Obstacle | None:
    """Why a rule can notice nothing; None if it may. `tools` are all that there are, None if nobody knows.

    A rule about a set of several names is written for agents that call one thing by different names, so it may have
    none of them.
    """
    rule, at = policy.rules[plan.name], ("rules", plan.name)
    sorts, require = sorts_of(rule), plan.require
    if constant(plan.when.checked, sorts) is False:
        reason = f"its condition `{rule.when.if_}` is never true"
        return Obstacle("opportunity", reason, (*at, "when", "if"), "its parts exclude each other", of_tools=False)
    read = accesses(policy, plan.name)
    if tools is not None and rule.when.message is None:
        idle = _without_calls(rule, read[0], at, tools)
        if idle is not None:
            return idle
    if _only_requires(rule) and require is not None and constant(require.checked, sorts) is True:
        return Obstacle("breach", "its `require` is always true", (*at, "require"), "", of_tools=False)
    return None if tools is None else _without_past(rule, read, tools)


def _without_calls(rule: Rule, about: Access, at: Steps, tools: Tools) -> Obstacle | None:
    """Why no call is about a rule: there is no such tool, or none has the argument that it judges."""
    if not any(map(about.matches, tools)):
        return None if about.alternatives else _no_tool("opportunity", about, tools)
    names, listed = list(map(_first_key, rule.judged)), arguments_of(about, tools)
    if not names or not all(names) or listed is None or any(name in listed for name in names):
        return None
    near = next((near for name in names if (near := suggest(name, listed))), None)
    hint = f"did you mean `args.{near}`?" if near else f"there is {', '.join(listed) or 'nothing'}"
    paths = " or ".join(f"`{path}`" for path in rule.judged)
    return Obstacle("opportunity", f"{paths} is no argument of its tools", (*at, "each"), hint)


def _without_past(rule: Rule, read: Sequence[Access], tools: Tools) -> Obstacle | None:
    """Why nothing that a rule forbids can have come before: there is none of the tools that it looks for."""
    if rule.require is not None or rule.from_ is not None or rule.after is not None:
        return None
    if not all(isinstance(source, FieldSource | TextSource) for source in rule.not_from or ()):
        return None
    past = [access for access in read if access.key in ("not_from", "not_after")]
    if not past or any(access.alternatives or any(map(access.matches, tools)) for access in past):
        return None
    return _no_tool("breach", past[0], tools)


def _no_tool(lacks: str, access: Access, tools: Iterable[str]) -> Obstacle:
    left = len(access.tools) - _NAMED
    reason = f"no tool is {' or '.join(access.tools[:_NAMED])}{f' or {left} more' if left > 0 else ''}"
    return Obstacle(lacks, reason, next(iter(access.origins.values())), near_tool(access.tools, tools))


def arguments_of(about: Access, tools: Tools) -> list[str] | None:
    """The arguments of the tools that a rule is about; None where one of them may have any."""
    names: dict[str, None] = {}
    for tool, arguments in tools.items():
        if about.matches(tool):
            if arguments is None:
                return None
            names |= dict.fromkeys(arguments)
    return list(names)


def near_tool(names: Iterable[str], known: Iterable[str]) -> str:
    """A hint at a tool that may have been meant."""
    tools = sorted(known)
    near = next((tool for name in names if (tool := suggest(name, tools)) is not None), None)
    if near is not None:
        return f"did you mean {near}?"
    left = len(tools) - _SHOWN
    more = f" and {left} more" if left > 0 else ""
    return f"tools are {', '.join(tools[:_SHOWN])}{more}" if tools else "no tool was called"


def _first_key(path: str) -> str:
    """The argument that a path begins with; empty if it is of all arguments, or of a message."""
    try:
        parsed = parse_path(path)
    except PathError:
        return ""
    step = parsed.steps[0] if parsed.root == "args" and parsed.steps else ANY
    return step if isinstance(step, str) and step not in (ANY, LEAVES) else ""


def _only_requires(rule: Rule) -> bool:
    others = (rule.from_, rule.not_from, rule.after, rule.not_after)
    return rule.require is not None and all(other is None for other in others)
