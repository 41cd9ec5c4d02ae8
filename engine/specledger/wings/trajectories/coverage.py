"""Whether rules could notice anything in some logs: which of them can come to an opportunity, and what none reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET, Struct

from specledger.core.diagnostics import counted, suggest
from specledger.core.spans import Span
from specledger.core.unknown import Unknown
from specledger.load import Resolved
from specledger.wings.trajectories.model import Call, Entry, Message, Speaker
from specledger.wings.trajectories.room import MOST_DEFECTS, Room, count_text
from specledger.wings.trajectories.rules.accesses import Access, Steps, accesses, argument_steps, reaches, shown_steps
from specledger.wings.trajectories.rules.constants import constant, sorts_of
from specledger.wings.trajectories.rules.paths import ANY, LEAVES, Reader, compile_path, parse_path
from specledger.wings.trajectories.rules.plans import Outcome, RulePlan
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec
from specledger.wings.trajectories.spec.policy import Rule
from specledger.wings.trajectories.tools.lists import Tool

MOST_ARGUMENTS: Final = 200
"""Arguments of one tool that are kept."""
MOST_TOOLS: Final = 1000
"""Tools of which arguments are kept."""

_LIST: Final = "`--tools FILE` names tools that were not called"
_CONDITION: Final = "add a log with such a call, or write in `require` what must hold, in place of `when.if`"


class RuleCoverage(Struct, frozen=True):
    """How far a rule is reached.

    Attributes:
        place: Where the rule stands.
        calls: How many calls, or messages of the agent, there were of the tools that it is about.
        opportunities: How many of them there was something to judge of.
        reachable: Whether it can come to an opportunity, by the tools and arguments that are known.
        breakable: Whether it can be broken: not where its demand is always true.
        missing: Tools that it names, by the key that names them, which are not known.
        reason: Why there was no opportunity; empty if there was one.
        hint: What was meant, perhaps, or what to do; empty if nothing is near.
        meant: Tools that were called and are written nearly as those that are missing.
        misspelt: Arguments that it reads and no call has, each with one that calls have and that is written nearly so.
    """

    rule: str
    place: Span
    calls: int
    opportunities: int
    reachable: bool
    breakable: bool
    missing: tuple[tuple[str, str], ...]
    reason: str = ""
    hint: str = ""
    meant: tuple[str, ...] = ()
    misspelt: tuple[tuple[str, str], ...] = ()


class Coverage(Struct, frozen=True):
    """What a policy makes of some logs, beside verdicts.

    Attributes:
        unnamed: Tools that no rule names, with the number of their calls; rules about all tools name none.
        unread: Arguments that no rule reads, by their tool.
    """

    rules: tuple[RuleCoverage, ...]
    unnamed: dict[str, int]
    unread: dict[str, tuple[str, ...]]


class _Watched(Struct, eq=False):
    """A rule whose opportunities are counted."""

    plan: RulePlan
    rule: Rule
    accesses: tuple[Access, ...]
    path: Reader | None
    opportunities: int = 0
    absent: int = 0


class Watch:
    """Listens to a scan, and says at its end how far each rule was reached."""

    def __init__(self, resolved: Resolved, policy: Policy, known: Mapping[str, Tool] | None = None) -> None:
        """Watch the rules of a policy; `known` are tools that there are, whether they are called or not."""
        model = resolved.model
        assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
        self._resolved, self._known = resolved, known or {}
        self._rules = [self._watched(plan, model) for plan in policy.rules]
        self._idle = [watched for watched in self._rules if watched.path is not None and watched.accesses]
        self._by_name = {watched.plan.name: watched for watched in self._rules}
        self._calls: Counter[str] = Counter()
        self._messages = 0
        self._arguments: dict[str, dict[Steps, None]] = {}
        self._flat: set[tuple[str, ...]] = set()
        self._room = Room(MOST_DEFECTS)

    @staticmethod
    def _watched(plan: RulePlan, model: PolicySpec) -> _Watched:
        rule = model.rules[plan.name]
        path = None if rule.each is None else compile_path(parse_path(rule.each))
        return _Watched(plan, rule, accesses(model, plan.name), path)

    def hear(self, entry: Entry, outcomes: Sequence[Outcome]) -> None:
        """Note an entry and what rules made of it."""
        for outcome in outcomes:
            watched = self._by_name[outcome.rule]
            watched.opportunities += 1
            if watched.opportunities == 1 and watched in self._idle:
                self._idle.remove(watched)
        if isinstance(entry, Message):
            self._messages += entry.speaker is Speaker.ASSISTANT
            return
        if not isinstance(entry, Call):
            return
        count_text(self._calls, entry.tool)
        self._note_arguments(entry)
        for watched in self._idle:
            self._note_absent(watched, entry)

    def _note_arguments(self, call: Call) -> None:
        arguments = call.arguments
        if type(arguments) is dict and not any(type(value) in (dict, list) for value in arguments.values()):
            shape = (call.tool, *arguments)
            if shape in self._flat:
                return
            if len(self._flat) < MOST_TOOLS and self._room.take_value([*shape]):
                self._flat.add(shape)
        seen = self._arguments.get(call.tool)
        if seen is None:
            if len(self._arguments) >= MOST_TOOLS or not self._room.take_value(call.tool):
                return
            seen = self._arguments.setdefault(call.tool, {})
        for steps in argument_steps(call.arguments):
            if steps in seen:
                continue
            if len(seen) >= MOST_ARGUMENTS or not self._room.take_value([*steps]):
                return
            seen[steps] = None

    @staticmethod
    def _note_absent(watched: _Watched, call: Call) -> None:
        if watched.path is None or not watched.accesses[0].matches(call.tool) or call.arguments is UNSET:
            return
        leaves = watched.path(call.arguments)
        watched.absent += not isinstance(leaves, Unknown) and not leaves

    def finish(self) -> Coverage:
        """What was seen."""
        reads = [access for watched in self._rules for access in watched.accesses]
        unnamed = {
            tool: number
            for tool, number in self._calls.most_common()
            if not any(access.matches(tool) and not access.every_tool for access in reads)
        }
        unread = {}
        for tool in sorted(self._arguments):
            about = [access for access in reads if access.matches(tool)]
            left = [steps for steps in self._arguments[tool] if not any(access.reads(steps) for access in about)]
            if left:
                unread[tool] = tuple(map(shown_steps, left))
        return Coverage(tuple(map(self._rule, self._rules)), unnamed, unread)

    def _rule(self, watched: _Watched) -> RuleCoverage:
        tools = {*self._known, *self._calls}
        missing = tuple(
            (access.key, tool)
            for access in watched.accesses
            for tool in access.tools
            if tool != "any" and "*" not in tool and tool not in tools
        )
        sorts = sorts_of(watched.rule)
        require = watched.plan.require
        breakable = not (_only_requires(watched.rule) and require and constant(require.checked, sorts) is True)
        about = watched.accesses[0] if watched.rule.when.message is None else None
        calls = self._messages if about is None else sum(n for t, n in self._calls.items() if about.matches(t))
        reachable, reason, hint = True, "", ""
        never = constant(watched.plan.when.checked, sorts) is False
        if not watched.opportunities or never:
            reachable, reason, hint = self._why(watched, about, tools, calls, never=never)
        return RuleCoverage(
            rule=watched.plan.name,
            place=self._resolved.span("rules", watched.plan.name),
            calls=calls,
            opportunities=watched.opportunities,
            reachable=reachable,
            breakable=breakable,
            missing=tuple(dict.fromkeys(missing)),
            reason=reason,
            hint=hint,
            meant=tuple(
                dict.fromkeys(near for _, tool in missing if (near := suggest(tool, sorted(tools))) is not None)
            ),
            misspelt=tuple(pair for pair in self._misspelt(watched) if not reason or pair[0] != watched.rule.each),
        )

    def _misspelt(self, watched: _Watched) -> Iterator[tuple[str, str]]:
        """Paths of arguments that no call has, each with the one that was meant, perhaps."""
        done = set()
        for access in watched.accesses:
            seen = {tool: steps for tool, steps in self._arguments.items() if access.matches(tool)}
            if len(self._arguments) >= MOST_TOOLS or any(len(steps) >= MOST_ARGUMENTS for steps in seen.values()):
                continue
            there = {steps for arguments in seen.values() for steps in arguments}
            free = {shown_steps(steps) for steps in there if not access.reads(steps)}
            for path in access.arguments:
                if path in done or any(reaches(path, steps) for steps in there) or self._is_listed(access, path):
                    continue
                near = suggest(shown_steps(path), free)
                if near is not None:
                    done.add(path)
                    yield f"args.{shown_steps(path)}", f"args.{near}"

    def _is_listed(self, access: Access, path: Steps) -> bool:
        """Whether the known tools have an argument, or may have it."""
        listed = self._listed_arguments(access)
        return listed is None or (bool(path) and path[0] in listed)

    def _why(
        self, watched: _Watched, about: Access | None, tools: set[str], calls: int, *, never: bool
    ) -> tuple[bool, str, str]:
        """Whether a rule without an opportunity can have one, why it had none, and a hint."""
        condition = watched.rule.when.if_
        if never:
            return False, f"its condition `{condition}` is never true", "its parts exclude each other"
        if about is None:
            return True, f"none of {counted(self._messages, 'message')} of the agent is one that it is about", ""
        if not tools:
            return True, "no call was read", ""
        if not any(map(about.matches, tools)):
            names = " or ".join(about.tools[:5])
            reason = f"no tool is {names}" if self._known else f"no tool in these logs is {names} ({_LIST})"
            return not self._known, reason, _near(about.tools, tools)
        if not calls:
            listed = self._listed_arguments(about)
            name = _first_key(watched.rule.each)
            if listed is not None and name and name not in listed:
                near = suggest(name, listed)
                hint = f"did you mean `args.{near}`?" if near else f"there is {', '.join(listed) or 'nothing'}"
                return False, f"`{watched.rule.each}` is no argument of its tools", hint
            return True, f"none of its tools was called: {', '.join(about.tools[:5])}", _near(about.tools, self._calls)
        if watched.absent == calls and watched.rule.each is not None:
            there = {
                shown_steps(steps)
                for tool, arguments in self._arguments.items()
                if about.matches(tool)
                for steps in arguments
            }
            near = suggest(watched.rule.each.removeprefix("args."), there)
            hint = f"did you mean `args.{near}`?" if near else f"there is {', '.join(sorted(there)[:8]) or 'nothing'}"
            possible = not self._known or self._is_listed(about, parse_path(watched.rule.each).steps)
            return possible, f"`{watched.rule.each}` is absent in all {counted(calls, 'call')} of its tools", hint
        reason = f"`{watched.rule.each}` is absent" if condition is None else f"`{condition}` is not true"
        advice = "" if condition is None else _CONDITION
        return True, f"in none of {counted(calls, 'call')} there is something to judge: {reason}", advice

    def _listed_arguments(self, about: Access) -> list[str] | None:
        """The arguments of the known tools that a rule is about; None where one of them may have others."""
        names: dict[str, None] = {}
        for tool in self._known.values():
            if about.matches(tool.name):
                schema = {} if tool.arguments is UNSET else tool.arguments
                if not isinstance(schema.get("properties"), dict) or schema.get("additionalProperties"):
                    return None
                names |= dict.fromkeys(schema["properties"])
        return list(names)


def _first_key(path: str | None) -> str:
    """The argument that a path begins with; empty if it is of all arguments, or of a message."""
    parsed = None if path is None else parse_path(path)
    step = parsed.steps[0] if parsed is not None and parsed.root == "args" and parsed.steps else ANY
    return step if isinstance(step, str) and step not in (ANY, LEAVES) else ""


def _only_requires(rule: Rule) -> bool:
    others = (rule.from_, rule.not_from, rule.after, rule.not_after)
    return rule.require is not None and all(other is None for other in others)


def _near(names: Iterable[str], known: Iterable[str]) -> str:
    """A hint at a tool that may have been meant."""
    tools = sorted(known)
    near = next((tool for name in names if (tool := suggest(name, tools)) is not None), None)
    if near is not None:
        return f"did you mean {near}?"
    return f"tools are {', '.join(tools[:8])}" if tools else "no tool was called"
