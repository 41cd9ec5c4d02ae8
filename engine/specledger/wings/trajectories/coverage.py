"""Whether rules could notice anything in some logs: which of them can come to an opportunity, and what none reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET, Struct, field

from specledger.core.diagnostics import counted, suggest
from specledger.core.spans import Span
from specledger.load import Resolved
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker
from specledger.wings.trajectories.result_fields import FieldWatch
from specledger.wings.trajectories.rules.accesses import (
    Access,
    Steps,
    absent_tools,
    accesses,
    reaches,
    shown_steps,
)
from specledger.wings.trajectories.rules.called import Called
from specledger.wings.trajectories.rules.paths import Reader, compile_path, parse_path
from specledger.wings.trajectories.rules.plans import BROKEN, Outcome, RulePlan
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.rules.reach import Tools, arguments_of, near_tool, obstacle
from specledger.wings.trajectories.rules.spelling import misspelling
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec
from specledger.wings.trajectories.spec.policy import Rule
from specledger.wings.trajectories.tools.lists import Tool
from specledger.wings.trajectories.tools.schemas import argument_names, schemas_of

_LIST: Final = "`--tools FILE` names tools that were not called"
_CONDITION: Final = "add a log with such a call, or write in `require` what must hold, in place of `when.if`"


class Missing(Struct, frozen=True):
    """A tool that a rule names and that is not known.

    Attributes:
        key: The key that names it.
        span: Where its name stands.
        meant: A tool that is known and written nearly so; empty if there is none.
    """

    key: str
    tool: str
    span: Span
    meant: str


class Misspelt(Struct, frozen=True):
    """What a rule reads and nothing has, where it stands, and what is there and written nearly so."""

    word: str
    span: Span
    meant: str


class AbsentField(Struct, frozen=True):
    """A field that a rule looks for and no result of these tools has, where it stands, and what was meant, perhaps.

    Attributes:
        read: Whether a path of the rule reads it, rather than its sources.
    """

    word: str
    span: Span
    tools: tuple[str, ...]
    results: int
    meant: str
    read: bool


class RuleCoverage(Struct, frozen=True):
    """How far a rule is reached.

    Attributes:
        place: Where the rule stands, or what of it keeps it from an opportunity or a breach.
        calls: How many calls, or messages of the agent, there were of the tools that it is about.
        opportunities: How many of them there was something to judge of.
        reachable: Whether it can come to an opportunity, by its condition and the tools and arguments that are listed.
        breakable: Whether it can be broken, by its demand and the tools that are listed.
        missing: Tools that it names and that are not known.
        reason: Why there was no opportunity, or can be no breach; empty if there was one, or may be.
        hint: What was meant, perhaps, or what to do; empty if nothing is near.
        misspelt: Arguments that it reads and no call has.
        broken: By the key that was broken, where it stands, and how often.
        fields: Fields that it looks for in results of tools, or reads of them, and none of them has.
        is_misspelt: Whether nothing is written as a word of it, but something nearly so.
    """

    rule: str
    place: Span
    calls: int
    opportunities: int
    reachable: bool
    breakable: bool
    missing: tuple[Missing, ...]
    reason: str = ""
    hint: str = ""
    misspelt: tuple[Misspelt, ...] = ()
    fields: tuple[AbsentField, ...] = ()
    broken: tuple[tuple[str, Span, int], ...] = ()
    is_misspelt: bool = False

    @property
    def able(self) -> bool:
        """Whether it could notice anything, in these logs or in others."""
        return self.reachable and self.breakable


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
    paths: tuple[Reader, ...]
    opportunities: int = 0
    absent: int = 0
    broken: Counter[str] = field(default_factory=Counter)


class Watch:
    """Listens to a scan, and says at its end how far each rule was reached."""

    def __init__(self, resolved: Resolved, policy: Policy, known: Mapping[str, Tool] | None = None) -> None:
        """Watch the rules of a policy; `known` are tools that there are, whether they are called or not."""
        model = resolved.model
        assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
        self._resolved, self._model = resolved, model
        self._listed: Tools = {name: argument_names(schema) for name, schema in schemas_of(known or {}).items()}
        self._rules = [self._watched(plan, model) for plan in policy.rules]
        self._idle = [watched for watched in self._rules if watched.paths and watched.accesses]
        self._by_name = {watched.plan.name: watched for watched in self._rules}
        self._called = Called()
        self._calls, self._arguments = self._called.calls, self._called.arguments
        self._messages = 0
        self._fields = FieldWatch(model, known or {})

    @staticmethod
    def _watched(plan: RulePlan, model: PolicySpec) -> _Watched:
        rule = model.rules[plan.name]
        paths = tuple(compile_path(parse_path(path)) for path in rule.judged)
        return _Watched(plan, rule, accesses(model, plan.name), paths)

    def hear(self, entry: Entry, outcomes: Sequence[Outcome]) -> None:
        """Note an entry and what rules made of it."""
        for outcome in outcomes:
            watched = self._by_name[outcome.rule]
            watched.opportunities += 1
            if outcome.status is BROKEN:
                watched.broken[outcome.demand] += 1
            if watched.opportunities == 1 and watched in self._idle:
                self._idle.remove(watched)
        if isinstance(entry, Message):
            self._messages += entry.speaker is Speaker.ASSISTANT
            return
        if isinstance(entry, Call | Result):
            self._fields.hear(entry)
        if not isinstance(entry, Call):
            return
        self._called.hear(entry)
        for watched in self._idle:
            self._note_absent(watched, entry)

    @staticmethod
    def _note_absent(watched: _Watched, call: Call) -> None:
        if not watched.accesses[0].matches(call.tool) or call.arguments is UNSET:
            return
        watched.absent += all(path(call.arguments) == [] for path in watched.paths)

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
        tools = {*self._listed, *self._calls}
        about = watched.accesses[0] if watched.rule.when.message is None else None
        calls = self._messages if about is None else sum(n for t, n in self._calls.items() if about.matches(t))
        at: Steps = ("rules", watched.plan.name)
        lacks, reason, hint = "", "", ""
        kept = obstacle(self._model, watched.plan, self._tools() if self._listed else None)
        if kept is not None and not (kept.lacks == "opportunity" and watched.opportunities):
            at, lacks, reason, hint = kept.steps, kept.lacks, kept.reason, kept.hint
        elif not watched.opportunities:
            at, reason, hint = self._why(watched, about, tools, calls)
        wrong = None if lacks else misspelling(self._model, watched.plan.name, self._called, self._listed or None)
        return RuleCoverage(
            rule=watched.plan.name,
            place=self._resolved.span(*at),
            calls=calls,
            opportunities=watched.opportunities,
            reachable=lacks != "opportunity",
            breakable=lacks != "breach",
            missing=tuple(
                Missing(access.key, tool, self._resolved.span(*origin), suggest(tool, sorted(tools)) or "")
                for access, tool, origin in absent_tools(watched.accesses, tools)
            ),
            reason=reason,
            hint=hint,
            is_misspelt=wrong is not None,
            broken=tuple(
                (key, self._resolved.span("rules", watched.plan.name, key), times)
                for key, times in sorted(watched.broken.items())
                if key
            ),
            fields=tuple(
                AbsentField(
                    sought.name,
                    self._resolved.span(*sought.origin),
                    sought.tools,
                    sought.seen,
                    sought.meant,
                    sought.path is not None,
                )
                for sought in self._fields.absent(watched.plan.name)
            ),
            misspelt=tuple(
                word for word in self._misspelt(watched) if not reason or word.word not in watched.rule.judged
            ),
        )

    def _tools(self) -> Tools:
        """The tools that are listed or were called, with their arguments where a list has all of them."""
        return {**dict.fromkeys(self._calls), **self._listed}

    def _misspelt(self, watched: _Watched) -> Iterator[Misspelt]:
        """Paths of arguments that no call has, each with the one that was meant, perhaps."""
        done = set()
        for access in watched.accesses:
            there = self._called.arguments_of(access)
            if there is None:
                continue
            free = {shown_steps(steps) for steps in there if not access.reads(steps)}
            for path, origin in access.arguments.items():
                if path in done or any(reaches(path, steps) for steps in there) or self._is_listed(access, path):
                    continue
                near = suggest(shown_steps(path), free)
                if near is not None:
                    done.add(path)
                    words = (f"args.{shown_steps(path)}", self._resolved.span(*origin), f"args.{near}")
                    yield Misspelt(*words)

    def _is_listed(self, access: Access, path: Steps) -> bool:
        """Whether the known tools have an argument, or may have it."""
        listed = arguments_of(access, self._listed)
        return listed is None or (bool(path) and path[0] in listed)

    def _why(self, watched: _Watched, about: Access | None, tools: set[str], calls: int) -> tuple[Steps, str, str]:
        """What of a rule that may have an opportunity kept it from one in these logs, the reason, and a hint."""
        rule, at = watched.rule, ("rules", watched.plan.name)
        if about is None:
            reason = f"none of {counted(self._messages, 'message')} of the agent is one that it is about"
            return (*at, "when"), reason, ""
        if not tools:
            return at, "no call was read", ""
        if not calls:
            first, names = next(iter(about.origins.values())), " or ".join(about.tools[:5])
            if any(map(about.matches, tools)):
                reason = f"none of its tools was called: {', '.join(about.tools[:5])}"
                return first, reason, near_tool(about.tools, self._calls)
            reason = f"no tool is {names}" if self._listed else f"no tool in these logs is {names} ({_LIST})"
            return first, reason, near_tool(about.tools, tools)
        each = " and ".join(f"`{path}`" for path in rule.judged)
        if watched.absent == calls and each:
            seen = [steps for tool, steps in self._arguments.items() if about.matches(tool)]
            there = {shown_steps(steps) for arguments in seen for steps in arguments}
            near = next((n for path in rule.judged if (n := suggest(path.removeprefix("args."), there))), None)
            hint = f"did you mean `args.{near}`?" if near else f"there is {', '.join(sorted(there)[:8]) or 'nothing'}"
            return (*at, "each"), f"{each} is absent in all {counted(calls, 'call')} of its tools", hint
        condition = rule.when.if_
        part: Steps = (*at, "each") if condition is None else (*at, "when", "if")
        reason = f"{each} is absent" if condition is None else f"`{condition}` is not true"
        advice = "" if condition is None else _CONDITION
        return part, f"in none of {counted(calls, 'call')} there is something to judge: {reason}", advice
