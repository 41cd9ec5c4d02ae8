"""What a rule reads: which tools it names, and which of their arguments, as a policy writes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from specledger.wings.trajectories.rules.nested import json_inside
from specledger.wings.trajectories.rules.past import tool_matcher
from specledger.wings.trajectories.rules.paths import ANY, LEAVES, Path, PathError, parse_path
from specledger.wings.trajectories.spec.policy import (
    Earlier,
    FieldSource,
    Policy,
    Read,
    Repeats,
    Rule,
    TextSource,
)

Steps = tuple[str | int, ...]

_DEEPEST: Final = 6
_MOST_ELEMENTS: Final = 20


class Access(Struct, frozen=True, eq=False):
    """Tools that a rule names in one of its keys, and the arguments of their calls that it reads.

    Attributes:
        key: The key of the rule: when, read, from, not_from, after, not_after or since.
        tools: The names, with those of sets in place of the set; `any` stands for all tools.
        origins: Where each name stands in the policy: in the rule, or in the set that the rule names.
        alternatives: Whether a set gives several names for what it is about, of which an agent may have any.
        arguments: The paths of arguments that are read, each with where it stands in the policy.
    """

    key: str
    tools: tuple[str, ...]
    matches: Callable[[str], bool]
    origins: Mapping[str, Steps]
    alternatives: bool
    arguments: Mapping[Steps, Steps] = {}

    @property
    def every_tool(self) -> bool:
        """Whether it is about all tools, so that it names none."""
        return "any" in self.tools or "*" in self.tools

    def reads(self, argument: Steps) -> bool:
        """Whether an argument, as steps below the arguments, is read."""
        return any(_covers(steps, argument) for steps in self.arguments)


def accesses(policy: Policy, name: str) -> tuple[Access, ...]:
    """What a rule of a policy reads; the first is the calls that it is about, unless it is about messages."""
    return tuple(_accesses(policy, ("rules", name), policy.rules[name]))


def _accesses(policy: Policy, at: Steps, rule: Rule) -> Iterator[Access]:
    sets = policy.tools
    own: list[tuple[str, Steps]] = [(path, (*at, *where)) for path, where in rule.judged.items()]
    own += _paths({name: read for name, read in rule.read.items() if read.of is None}, at)
    for name, read in rule.read.items():
        own += _same(read.same, (*at, "read", name), ours=True)
    for key, earlier in (("after", rule.after), ("not_after", rule.not_after)):
        own += [] if earlier is None else _same(earlier.same, (*at, key), ours=True)
    for key, index, source in _sources(rule):
        own += _same(source.same, (*at, key, index), ours=True)
    for name, term in rule.memory.items():
        own += [("args.**", (*at, "memory", name))] if isinstance(term, Repeats) else []
    if rule.when.message is None:
        yield _access("when", rule.when.tool or "any", own, sets, (*at, "when", "tool"))
    for name, read in rule.read.items():
        if read.of is not None:
            there = (*at, "read", name)
            paths = [(read.path, (*there, "path")), *_same(read.same, there, ours=False)]
            yield _access("read", read.of, paths, sets, (*there, "of"))
    for key, index, source in _sources(rule):
        there = (*at, key, index)
        paths = [*_paths(source.read, there), *_same(source.same, there, ours=False)]
        of, tools = ("result_of", source.result_of) if isinstance(source, FieldSource) else ("text_of", source.text_of)
        yield _access(key, tools, paths, sets, (*there, of))
    for key, earlier in (("after", rule.after), ("not_after", rule.not_after)):
        yield from () if earlier is None else _of_earlier(key, earlier, sets, (*at, key))


def _sources(rule: Rule) -> Iterator[tuple[str, int, FieldSource | TextSource]]:
    """The sources of a rule that are results, each with where it stands."""
    for key, sources in (("from", rule.from_), ("not_from", rule.not_from)):
        for index, source in enumerate(sources or ()):
            if isinstance(source, FieldSource | TextSource):
                yield key, index, source


def _of_earlier(key: str, earlier: Earlier, sets: Mapping[str, list[str]], at: Steps) -> Iterator[Access]:
    paths = [*_paths(earlier.read, at), *_same(earlier.same, at, ours=False)]
    yield _access(key, earlier.tool, paths, sets, (*at, "tool"))
    if earlier.since is not None:
        yield _access("since", earlier.since, [], sets, (*at, "since"))


def _access(
    key: str, tools: str | list[str], paths: list[tuple[str, Steps]], sets: Mapping[str, list[str]], at: Steps
) -> Access:
    origins: dict[str, Steps] = {}
    names = [tools] if isinstance(tools, str) else tools
    for index, name in enumerate(names):
        own = at if isinstance(tools, str) else (*at, index)
        for number, tool in enumerate(sets.get(name, ())):
            origins.setdefault(tool, ("tools", name, number))
        if name not in sets:
            origins.setdefault(name, own)
    arguments: dict[Steps, Steps] = {}
    for text, origin in paths:
        path = _parsed(text)
        if path is not None and path.root == "args":
            arguments.setdefault(path.steps, origin)
    several = any(len(sets.get(name, ())) > 1 for name in names)
    return Access(key, tuple(origins), tool_matcher(tuple(origins)), origins, several, arguments)


def _paths(reads: Mapping[str, Read], at: Steps) -> list[tuple[str, Steps]]:
    return [(read.path, (*at, "read", name, "path")) for name, read in reads.items()]


def _same(same: str | Mapping[str, str] | None, at: Steps, *, ours: bool) -> list[tuple[str, Steps]]:
    if same is None:
        return []
    paths = [same] if isinstance(same, str) else list(same.values() if ours else same)
    return [(path, (*at, "same")) for path in paths]


def _parsed(text: str) -> Path | None:
    try:
        return parse_path(text)
    except PathError:
        return None


def absent_tools(reads: Iterable[Access], known: Collection[str]) -> Iterator[tuple[Access, str, Steps]]:
    """The tools that a rule names and that are not known, each once for a key, and where the name stands."""
    done = set()
    for access in reads:
        for tool, origin in access.origins.items():
            if tool != "any" and "*" not in tool and tool not in known and (access.key, tool) not in done:
                done.add((access.key, tool))
                yield access, tool, origin


def argument_steps(arguments: object) -> Iterator[Steps]:
    """The ways to the values of arguments: keys, and ANY for the elements of a list."""
    waiting: list[tuple[object, Steps]] = [(arguments, ())]
    while waiting:
        node, way = waiting.pop()
        if isinstance(node, dict) and node and len(way) < _DEEPEST and not (len(node) == 1 and "$number" in node):
            waiting += [(member, (*way, key)) for key, member in reversed(node.items())]
        elif isinstance(node, list) and node and len(way) < _DEEPEST:
            waiting += [(element, (*way, ANY)) for element in reversed(node[:_MOST_ELEMENTS])]
        elif type(node) is str and len(way) < _DEEPEST and (inside := json_inside(node)):
            waiting.append((inside, way))
        elif way:
            yield way


def shown_steps(steps: Steps) -> str:
    """Steps as a path is written."""
    text = ""
    for step in steps:
        text += "[*]" if step == ANY else ".**" if step == LEAVES else f"[{step}]" if type(step) is int else f".{step}"
    return text.removeprefix(".")


def reaches(steps: Steps, argument: Steps) -> bool:
    """Whether a path may lead to a value of an argument: at it, above it, or below it, where nothing is known."""
    return _covers(steps[: len(argument)], argument)


def _covers(steps: Steps, argument: Steps) -> bool:
    """Whether what stands at an argument is read by a path: at it, or by what is above it."""
    for index, step in enumerate(steps):
        if step == LEAVES:
            return True
        if index >= len(argument):
            return False
        other = argument[index]
        if step not in (other, ANY) and not (type(step) is int and other == ANY):
            return False
    return True
