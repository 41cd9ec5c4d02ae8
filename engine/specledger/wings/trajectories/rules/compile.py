"""From a policy as it is written to what judges: every path, pattern, name and type is checked, with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import re2
from msgspec import UNSET

from specledger.core.diagnostics import Diagnostics, suggest
from specledger.core.unknown import Unknown
from specledger.expr.check.environment import Environment
from specledger.expr.check.types import BOOL, FIXED, INT, MISTAKEN, STRING, FixedType, IntType, Type
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.wings.trajectories.rules import codes
from specledger.wings.trajectories.rules.conditions import (
    Condition,
    Event,
    Reader,
    compile_condition,
    request_reader,
    time_reader,
)
from specledger.wings.trajectories.rules.extraction import ValueReader, compile_reader, compile_values, in_turn
from specledger.wings.trajectories.rules.past import SourcePlan, tool_matcher
from specledger.wings.trajectories.rules.paths import ANY, Path, PathError, parse_path
from specledger.wings.trajectories.rules.plans import EarlierPlan, MemoryPlan, RulePlan
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.rules.same import Compared, Pair, are_same, compared_in
from specledger.wings.trajectories.rules.values import PLURAL, WHOLE, text_of
from specledger.wings.trajectories.spec.policy import (
    Count,
    Earlier,
    FieldSource,
    Read,
    Rule,
    SetSource,
    Sum,
    TextSource,
)
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec

_TYPES: Final[Mapping[str, Type]] = {"number": FIXED, "int": INT, "bool": BOOL}
_DEMANDS: Final = ("from_", "not_from", "after", "not_after", "require")
Where = tuple[str | int, ...]


def compile_policy(resolved: Resolved, diagnostics: Diagnostics) -> Policy:
    """Check and compile a policy.

    Raises:
        Rejected: It has errors.
    """
    policy = _Compiler(resolved, diagnostics).policy()
    diagnostics.raise_if_errors()
    return policy


class _Compiler:
    """The compilation of one policy."""

    def __init__(self, resolved: Resolved, diagnostics: Diagnostics) -> None:
        model = resolved.model
        assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
        self.spec, self.resolved, self.diagnostics = model, resolved, diagnostics
        self.sources: list[SourcePlan] = []
        self.known_sources: dict[tuple[str, tuple[str, ...]], int] = {}
        self.earlier: list[EarlierPlan] = []
        self.readers: dict[tuple[Any, ...], Reader] = {}
        self.value_readers: dict[tuple[str, tuple[str, ...]], ValueReader] = {}
        self.scope = Scope(Environment(), resolved, diagnostics)
        self.compared = Compared(model)

    def policy(self) -> Policy:
        # the order in which they are written has no meaning, and evidence does not keep it
        rules = tuple(self.rule(name, rule) for name, rule in sorted(self.spec.rules.items()))
        return Policy(self.spec.name, self.resolved.key, rules, tuple(self.sources), tuple(self.earlier))

    def wrong(self, code: str, message: str, where: Where, hint: str | None = None) -> None:
        self.diagnostics.error(code, message, self.resolved.span(*where), hint=hint)

    def rule(self, name: str, rule: Rule) -> RulePlan:
        at: Where = ("rules", name)
        self.form(rule, at)
        readers, types = self.reads(rule.read, (*at, "read"))
        scope = self.scope.declare(types, *at, "read")
        when = self.condition(scope, rule.when.if_, readers, (*at, "when", "if"))
        kept, scope = self.memory(rule, scope, readers, at)
        each = self.judged(rule, at)
        as_ = tuple(rule.as_) if isinstance(rule.as_, list) else (rule.as_,)
        inner = scope.within(value=STRING) if each is not None else scope
        require = None
        if rule.require is not None:
            require = self.condition(inner, rule.require, readers, (*at, "require"))
        message = rule.else_ or (f"not so: {rule.doc}" if rule.doc else f"{name} does not hold")
        self.message(rule, {*types, *rule.memory, "value", "source", "tool"}, at)
        fixed = frozenset(n for n, t in scope.environment.variables.items() if isinstance(t, FixedType))
        about_messages = rule.when.message is not None
        return RulePlan(
            name=name,
            severity=rule.severity,
            matches=None
            if about_messages
            else tool_matcher(self.tools(rule.when.tool or "any", (*at, "when", "tool"))),
            pattern=None if rule.when.matches is None else self.pattern(rule.when.matches, (*at, "when", "matches")),
            when=when,
            readers=readers,
            memory=kept,
            each=None if each is None else self.values(each, as_),
            types=as_,
            sources=self.source_list(rule.from_, as_, (*at, "from")),
            forbidden=self.source_list(rule.not_from, as_, (*at, "not_from")),
            stems=rule.stems,
            after=self.earlier_plan(rule.after, scope, (*at, "after")),
            not_after=self.earlier_plan(rule.not_after, scope, (*at, "not_after")),
            require=require,
            message=message,
            fixed=fixed,
        )

    def form(self, rule: Rule, at: Where) -> None:
        if all(getattr(rule, key) is None for key in _DEMANDS):
            hint = "add `from`, `not_from`, `after`, `not_after` or `require`"
            self.wrong(codes.E_POLICY_FORM, "the rule demands nothing, so it can never be broken", at, hint)
        for key in ("from_", "not_from"):
            if getattr(rule, key) is not None and rule.each is None:
                message = f"`{key.rstrip('_')}` is about values, and the rule has none"
                self.wrong(codes.E_POLICY_FORM, message, (*at, key.rstrip("_")), "say which by `each: args.NAME`")
        if rule.when.message is not None:
            for steps in compared_in(rule):
                message = "`same` compares arguments of calls, and a message has none"
                self.wrong(
                    codes.E_POLICY_FORM, message, (*at, *steps, "same"), "leave it out, or name the tools in `when`"
                )
        for name in ("value", "source", "tool"):
            if name in rule.read or name in rule.memory:
                key = "read" if name in rule.read else "memory"
                self.wrong(codes.E_POLICY_FORM, f"`{name}` has a meaning of its own", (*at, key, name), "rename it")

    def message(self, rule: Rule, known: set[str], at: Where) -> None:
        for name in re.findall(r"\{(\w+)\}", rule.else_ or ""):
            if name not in known:
                near = suggest(name, known)
                hint = f"did you mean {{{near}}}?" if near else f"known: {', '.join(sorted(known))}"
                self.wrong(codes.E_POLICY_ELSE, f"the message names {{{name}}}, which is unknown", (*at, "else"), hint)

    def tools(self, tools: str | list[str], at: Where) -> tuple[str, ...]:
        """The tools that names stand for."""
        names: list[str] = []
        members = {tool for tools_ in self.spec.tools.values() for tool in tools_}
        for index, name in enumerate([tools] if isinstance(tools, str) else tools):
            if name in self.spec.tools:
                names += self.spec.tools[name]
                continue
            near = suggest(name, self.spec.tools)
            if near is not None and name not in members and abs(len(near) - len(name)) <= 1:
                where = at if isinstance(tools, str) else (*at, index)
                message = f"{name!r} is no set of tools, so it would be a tool"
                self.wrong(codes.E_POLICY_TOOL, message, where, f"did you mean the set {near!r}?")
            names.append(name)
        return tuple(names)

    def path(self, text: str, at: Where, roots: tuple[str, ...] = ("args", "text")) -> Path | None:
        try:
            path = parse_path(text)
        except PathError as error:
            self.wrong(codes.E_POLICY_PATH, f"{text!r}: {error}", at, "as in `args.recipients[*].mail`")
            return None
        if path.root not in roots:
            message = f"`{path.root}` cannot be read here"
            self.wrong(codes.E_POLICY_PATH, message, at, f"what can be read: {', '.join(roots)}")
        return path

    def pattern(self, text: str, at: Where) -> Any:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = 1 << 24
        try:
            return re2.compile(text, options)
        except re2.error as error:
            shown = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
            hint = "RE2 has no look-around" if "(?" in shown else None
            self.wrong(codes.E_POLICY_PATTERN, f"RE2 does not accept the pattern: {shown}", at, hint)
            return None

    def reads(
        self, reads: Mapping[str, Read], at: Where, *, earlier: bool = False
    ) -> tuple[dict[str, Reader], dict[str, Type]]:
        readers, types = {}, {}
        for name, read in reads.items():
            readers[name] = self.reader(read, (*at, name), earlier=earlier)
            types[name] = BOOL if read.matches is not None else _TYPES.get(read.as_ or "", STRING)
        return readers, types

    def reader(self, read: Read, at: Where, *, earlier: bool) -> Reader:
        past = earlier or read.of is not None
        roots = (*(("args", "result", "tool", "error") if past else ("args", "text", "tool", "request")), "time")
        path = self.path(read.path, (*at, "path"), roots)
        pattern = None if read.matches is None else self.pattern(read.matches, (*at, "matches"))
        if path is None:
            return lambda session, event: Unknown("")
        if path.root == "request":
            return request_reader(pattern, read.as_ or "text")
        if path.root == "time" and read.as_ != "number":
            message = "a time is read as a number of seconds since 1970"
            self.wrong(codes.E_POLICY_VALUE, message, at, "write `as: number`")
        own = time_reader if path.root == "time" else self.own_reader(path, read, pattern)
        if read.of is None:
            return own
        matches = tool_matcher(self.tools(read.of, (*at, "of")))
        return _record_reader(own, matches, self.pairs(read.same, (*at, "same")), read)

    def own_reader(self, path: Path, read: Read, pattern: Any) -> Reader:
        """What reads a value; rules that read it alike share it, so that it is read once."""
        key = (path.text, read.as_, read.matches, read.several)
        return self.readers.setdefault(key, compile_reader(path, read, pattern))

    def judged(self, rule: Rule, at: Where) -> tuple[Path, ...] | None:
        """The paths of the values that a rule judges; None if there is none."""
        paths = [self.path(text, (*at, *where)) for text, where in rule.judged.items()]
        return tuple(path for path in paths if path is not None) or None

    def values(self, paths: tuple[Path, ...], types: tuple[str, ...]) -> ValueReader:
        """What reads the values at paths, likewise."""
        readers = [self.value_readers.setdefault((p.text, types), compile_values(p, types)) for p in paths]
        return readers[0] if len(readers) == 1 else in_turn(readers)

    def pairs(self, same: str | Mapping[str, str] | None, at: Where) -> tuple[Pair, ...]:
        """Paths of an earlier call and of this one whose values must be the same; an absent one is not known."""
        items = () if same is None else ((same, same),) if isinstance(same, str) else same.items()
        paths = [(self.path(theirs, at, ("args",)), self.path(ours, at, ("args",))) for theirs, ours in items]
        return tuple(self.compared.pair(one, two) for one, two in paths if one and two)

    def condition(self, scope: Scope, text: str | None, readers: Mapping[str, Reader], at: Where) -> Condition:
        checked = None if text is None else scope.expression(*at, expect=BOOL)
        return compile_condition(checked, readers)

    def memory(
        self, rule: Rule, scope: Scope, readers: Mapping[str, Reader], at: Where
    ) -> tuple[dict[str, MemoryPlan], Scope]:
        kept: dict[str, MemoryPlan] = {}
        types: dict[str, Type] = {}
        for name, term in rule.memory.items():
            if isinstance(term, Sum):
                checked = scope.expression(*at, "memory", name, "sum")
                types[name] = FIXED if checked is not None and isinstance(checked.type, FixedType) else INT
                if checked is not None and not isinstance(checked.type, IntType) and checked.type != MISTAKEN:
                    message = f"a sum is of int or qfixed, not of {checked.type}"
                    self.wrong(codes.E_POLICY_VALUE, message, (*at, "memory", name, "sum"), "read it `as: number`")
                kept[name] = MemoryPlan("sum", compile_condition(checked, readers), term.within)
            else:
                types[name] = INT
                within = term.within if isinstance(term, Count) else None
                kept[name] = MemoryPlan("count" if isinstance(term, Count) else "repeats", None, within)
        return kept, scope.declare(types, *at, "memory")

    def earlier_plan(self, earlier: Earlier | None, scope: Scope, at: Where) -> EarlierPlan | None:
        if earlier is None:
            return None
        readers, types = self.reads(earlier.read, (*at, "read"), earlier=True)
        outside = scope.environment.variables
        inner = scope.declare(types, *at, "read")
        checked = None if earlier.if_ is None else inner.expression(*at, "if", expect=BOOL)
        outer = frozenset() if checked is None else frozenset(checked.variables & outside.keys())
        reads_result = any(read.path.startswith(("result", "error")) for read in earlier.read.values())
        plan = EarlierPlan(
            number=len(self.earlier),
            matches=tool_matcher(self.tools(earlier.tool, (*at, "tool"))),
            condition=compile_condition(checked, readers, outer, reads_result=reads_result),
            since=None if earlier.since is None else tool_matcher(self.tools(earlier.since, (*at, "since"))),
            same=self.pairs(earlier.same, (*at, "same")),
        )
        self.earlier.append(plan)
        return plan

    def source_list(self, sources: list[Any] | None, types: tuple[str, ...], at: Where) -> tuple[int, ...]:
        """The numbers of sources; rules that name the same one share what it has read of a trajectory."""
        numbers = []
        for index, source in enumerate(sources or ()):
            plan = self.source(source, types, (*at, index))
            number = len(self.sources)
            if isinstance(source, str | SetSource) or all(read.of is None for read in source.read.values()):
                key = source if isinstance(source, str) else source.model_dump_json()
                number = self.known_sources.setdefault((key, types), number)
            if number == len(self.sources):
                self.sources.append(plan)
            numbers.append(number)
        return tuple(numbers)

    def source(self, source: Any, types: tuple[str, ...], at: Where) -> SourcePlan:
        if isinstance(source, str):
            return SourcePlan(source, "the request" if source == "request" else "the system prompt")
        if isinstance(source, SetSource):
            return SourcePlan("set", f"the set {source.set_}", elements=self.elements(source.set_, types, at))
        assert isinstance(source, FieldSource | TextSource)  # noqa: S101 - there are no others
        readers, named = self.reads(source.read, (*at, "read"), earlier=True)
        condition = self.condition(self.scope.declare(named, *at, "read"), source.if_, readers, (*at, "if"))
        same = self.pairs(source.same, (*at, "same"))
        if isinstance(source, TextSource):
            matches = tool_matcher(self.tools(source.text_of, (*at, "text_of")))
            return SourcePlan(
                "text", "the text of a result", matches, condition=condition, least=source.least, same=same
            )
        fields = [source.field] if isinstance(source.field, str) else source.field
        matches = tool_matcher(self.tools(source.result_of, (*at, "result_of")))
        parts = tuple(
            (ANY,) if field == "[*]" else tuple(part.removesuffix("[*]") for part in field.split("."))
            for field in fields
        )
        if any(not part for field in parts for part in field):
            self.wrong(
                codes.E_POLICY_PATH, "a field is names with dots between", (*at, "field"), "as in `sender.email`"
            )
        return SourcePlan(
            "field", f"{' or '.join(fields)} of a result", matches, parts, condition, least=source.least, same=same
        )

    def elements(self, name: str, types: tuple[str, ...], at: Where) -> dict[str, frozenset[str]]:
        if name not in self.spec.sets:
            near = suggest(name, self.spec.sets)
            hint = f"did you mean {near!r}?" if near else "`sets` names the sets"
            self.wrong(codes.E_POLICY_SET, f"there is no set {name!r}", (*at, "set"), hint)
            return {kind: frozenset() for kind in WHOLE}
        plain = [PLURAL[type_][0] if type_ in PLURAL else type_ for type_ in types]
        texts = [text if (text := text_of(element)) is not None else repr(element) for element in self.spec.sets[name]]
        for index, text in enumerate(texts):
            if all(WHOLE[type_](text) is None for type_ in plain):
                message = f"{text!r} is no {' or '.join(plain)}, so nothing can equal it"
                self.wrong(codes.E_POLICY_VALUE, message, ("sets", name, index), _other_than(text, plain))
            elif plain == ["email"] and "*" in text.removeprefix("*@"):
                message = f"{text!r} is no pattern of addresses, so nothing can equal it"
                self.wrong(
                    codes.E_POLICY_VALUE, message, ("sets", name, index), "`*@DOMAIN` is every address of a domain"
                )
        return {type_: frozenset(filter(None, map(WHOLE[type_], texts))) for type_ in plain}


def _other_than(text: str, types: list[str]) -> str:
    """What to write in place of an element that its type cannot read."""
    domain = "@" + text.lstrip("@").lower()
    if types == ["email"] and re.fullmatch(r"@[\w-]+(\.[\w-]+)+", domain):
        return (
            f'for a domain, in place of the set: `each: args.NAME`, `as: email`, `require: value.endsWith("{domain}")`'
        )
    return "compare it as another type"


def _record_reader(own: Reader, matches: Callable[[str], bool], pairs: tuple[Pair, ...], read: Read) -> Reader:
    tools = read.of if isinstance(read.of, str) else " or ".join(read.of or ())
    never = Unknown(f"the record was never read: no call of {tools} for it")

    def reader(session: Any, event: Event) -> Any:
        mine = [ours(event.root("args")) for _, ours in pairs]
        if any(type(value) is Unknown for value in mine):
            return next(value for value in mine if type(value) is Unknown)
        for record in session.records(matches):
            alike = False if record.parallel_to(event) else are_same(record, pairs, mine)
            if isinstance(alike, Unknown):
                return alike
            if alike:
                return own(session, record) if record.content is not UNSET else Unknown("result is not recorded")
        return never

    return reader
