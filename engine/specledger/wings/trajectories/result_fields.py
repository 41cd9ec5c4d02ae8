"""Fields of results that rules look for or read and no result has, each with the one that was meant, perhaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, field

from specledger.core.diagnostics import suggest
from specledger.core.unknown import Unknown
from specledger.wings.trajectories.model import Call, Result, Withheld
from specledger.wings.trajectories.rules.accesses import Steps, argument_steps, shown_steps
from specledger.wings.trajectories.rules.past import tool_matcher
from specledger.wings.trajectories.rules.paths import ANY, LEAVES, Path, below, parse_path
from specledger.wings.trajectories.rules.structured import at_fields, structured
from specledger.wings.trajectories.spec.policy import FieldSource, Policy, Read, Rule, TextSource
from specledger.wings.trajectories.tools.lists import Tool

MOST_RESULTS: Final = 200
"""Results in which one field is looked for: what none of them has is told."""
_MOST_KEYS: Final = 500
_MOST_WAITING: Final = 10_000
_DEEPEST_SCHEMA: Final = 8


class Sought(Struct, eq=False):
    """A field that a rule looks for in results, or reads of them.

    Attributes:
        rule: The rule, and where the word stands in the policy.
        tools: The tools, as the rule names them.
        path: The path that is read, from the root of a result on; None for a field at any depth.
        seen: How many results there were, until one had the field.
        keys: The ways to the values of these results.
    """

    rule: str
    origin: Steps
    name: str
    tools: tuple[str, ...]
    matches: Callable[[str], bool]
    path: Path | None = None
    seen: int = 0
    absent: bool = True
    keys: dict[tuple[str, ...], None] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys of the field."""
        if self.path is not None:
            return tuple(step for step in self.path.steps if isinstance(step, str) and step != ANY)
        return tuple(part.removesuffix("[*]") for part in self.name.split("."))

    def is_in(self, value: Any) -> bool:
        """Whether a result has the field; where a part of it is withheld nobody knows, and it may."""
        if self.path is not None:
            nodes = [value]
            for step in self.path.steps:
                nodes = [inner for node in nodes for inner in below(node, step)]
            return bool(nodes)
        return next(at_fields(value, (self.parts,)), None) is not None

    @property
    def meant(self) -> str:
        """A field of these results that is written nearly so; empty if there is none."""
        if self.path is not None:
            near = suggest(shown_steps(self.path.steps), sorted(map(shown_steps, self.keys)))
            return f"result.{near}" if near else ""
        length = len(self.parts)
        return suggest(self.name, sorted({".".join(way[-length:]) for way in self.keys})) or ""


class FieldWatch:
    """Hears calls and results, and looks for the fields of rules in them."""

    def __init__(self, policy: Policy, listed: Mapping[str, Tool]) -> None:
        """Look for the fields of a policy, but for those that the schema of a listed tool's result has."""
        self._sought = [sought for sought in _sought(policy) if not _is_listed(sought, listed)]
        self._open = list(self._sought)
        self._waiting: dict[str, str] = {}

    def hear(self, entry: Call | Result) -> None:
        """Note a call, or look into its result."""
        if not self._open:
            return
        if isinstance(entry, Call):
            if any(sought.matches(entry.tool) for sought in self._open) and len(self._waiting) < _MOST_WAITING:
                self._waiting[entry.id] = entry.tool
            return
        tool = self._waiting.pop(entry.call, None)
        if tool is None or entry.error or entry.content is UNSET or isinstance(entry.content, Withheld):
            return
        value = structured(entry.content)
        for sought in self._open if not isinstance(value, Unknown) else ():
            if sought.matches(tool):
                _look(sought, value)
        self._open = [sought for sought in self._open if sought.absent and sought.seen < MOST_RESULTS]

    def absent(self, rule: str) -> Iterator[Sought]:
        """The fields of a rule that none of the results had."""
        return (sought for sought in self._sought if sought.rule == rule and sought.absent and sought.seen)


def _look(sought: Sought, value: Any) -> None:
    sought.seen += 1
    if sought.is_in(value):
        sought.absent = False
        return
    for way in argument_steps(value):
        keys = tuple(step for step in way if isinstance(step, str) and (step != ANY or sought.path is not None))
        for end in range(1, len(keys) + 1) if len(sought.keys) < _MOST_KEYS else ():
            sought.keys[keys[:end]] = None


def _sought(policy: Policy) -> Iterator[Sought]:
    for name, rule in policy.rules.items():
        for key, sources in (("from", rule.from_), ("not_from", rule.not_from)):
            for index, source in enumerate(sources or ()):
                if not isinstance(source, FieldSource):
                    continue
                at: Steps = ("rules", name, key, index, "field")
                written = [source.result_of] if isinstance(source.result_of, str) else source.result_of
                tools = tuple(tool for word in written for tool in policy.tools.get(word, [word]))
                fields = [source.field] if isinstance(source.field, str) else source.field
                for number, path in enumerate(fields):
                    origin = at if isinstance(source.field, str) else (*at, number)
                    if path != "[*]":
                        yield Sought(name, origin, path, tools, tool_matcher(tools))
        yield from _read(policy, name, rule)


def _read(policy: Policy, name: str, rule: Rule) -> Iterator[Sought]:
    """The fields that the paths of a rule read of results."""
    at: Steps = ("rules", name)
    reads: list[tuple[str | list[str], Mapping[str, Read], Steps]]
    reads = [(read.of, {key: read}, (*at, "read")) for key, read in rule.read.items() if read.of is not None]
    for demand, earlier in (("after", rule.after), ("not_after", rule.not_after)):
        reads += [] if earlier is None else [(earlier.tool, earlier.read, (*at, demand, "read"))]
    for demand, sources in (("from", rule.from_), ("not_from", rule.not_from)):
        for index, source in enumerate(sources or ()):
            if isinstance(source, FieldSource | TextSource):
                written = source.result_of if isinstance(source, FieldSource) else source.text_of
                reads.append((written, source.read, (*at, demand, index, "read")))
    for written, named, there in reads:
        words = [written] if isinstance(written, str) else written
        tools = tuple(tool for word in words for tool in policy.tools.get(word, [word]))
        for key, read in named.items():
            path = parse_path(read.path)
            if path.root == "result" and path.steps and LEAVES not in path.steps:
                yield Sought(name, (*there, key, "path"), read.path, tools, tool_matcher(tools), path)


def _is_listed(sought: Sought, tools: Mapping[str, Tool]) -> bool:
    """Whether the result of a listed tool has the field, by its schema."""
    schemas = (tool.result for name, tool in tools.items() if sought.matches(name) and tool.result is not UNSET)
    return any(sought.parts[-1] in _names(schema, _DEEPEST_SCHEMA) for schema in schemas)


def _names(schema: Any, depth: int) -> Iterator[str]:
    """The names of members that a schema has, at any depth."""
    if isinstance(schema, dict) and depth:
        properties = schema.get("properties")
        for name, member in properties.items() if isinstance(properties, dict) else ():
            yield name
            yield from _names(member, depth - 1)
        yield from _names(schema.get("items"), depth - 1)
