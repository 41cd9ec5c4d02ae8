"""Fields of results that rules look for and no result has, each with the one that was meant, perhaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, field

from specledger.core.diagnostics import suggest
from specledger.core.unknown import Unknown
from specledger.wings.trajectories.model import Call, Result, Withheld
from specledger.wings.trajectories.rules.accesses import Steps, argument_steps
from specledger.wings.trajectories.rules.past import tool_matcher
from specledger.wings.trajectories.rules.paths import ANY
from specledger.wings.trajectories.rules.structured import at_fields, structured
from specledger.wings.trajectories.spec.policy import FieldSource, Policy
from specledger.wings.trajectories.tools.lists import Tool

MOST_RESULTS: Final = 200
"""Results in which one field is looked for: what none of them has is told."""
_MOST_KEYS: Final = 500
_MOST_WAITING: Final = 10_000
_DEEPEST_SCHEMA: Final = 8


class Sought(Struct, eq=False):
    """A field that a rule looks for in results.

    Attributes:
        rule: The rule, and where the word stands in the policy.
        tools: The tools, as the rule names them.
        seen: How many results there were, until one had the field.
        keys: The ways to the values of these results.
    """

    rule: str
    origin: Steps
    name: str
    tools: tuple[str, ...]
    matches: Callable[[str], bool]
    seen: int = 0
    absent: bool = True
    keys: dict[tuple[str, ...], None] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys of the field."""
        return tuple(part.removesuffix("[*]") for part in self.name.split("."))

    @property
    def meant(self) -> str:
        """A field of these results that is written nearly so; empty if there is none."""
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
    if next(at_fields(value, (sought.parts,)), None) is not None:
        sought.absent = False
        return
    for way in argument_steps(value):
        keys = tuple(step for step in way if isinstance(step, str) and step != ANY)
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
