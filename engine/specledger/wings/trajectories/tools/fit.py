"""Calls that do not fit their tool: an unknown tool, arguments that are missing, not there, or of another type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.diagnostics import suggest
from specledger.core.log_json import NUMBER, as_text
from specledger.wings.trajectories.model import Call, Result, Trajectory, Withheld
from specledger.wings.trajectories.rules.paths import is_withheld
from specledger.wings.trajectories.tools.schemas import Schemas, has_alternatives, is_closed

MOST_MISFITS: Final = 1000
"""Different misfits that are kept; the others are counted."""
_MOST_PARTS: Final = 1000


class Misfit(Struct):
    """What does not fit, the first call, and how many calls there were like it."""

    tool: str
    problem: str
    file: str
    line: int
    call: str
    count: int = 0


Problems = Callable[[Call, Result | None], Iterator[str]]
"""`(call, its result) -> what does not fit`."""


class Fit:
    """Hears trajectories, and keeps what of their calls does not fit."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._misfits: dict[tuple[str, str], Misfit] = {}
        self.calls = 0
        """How many calls did not fit."""
        self.heard = 0
        """How many calls there were."""

    @property
    def misfits(self) -> list[Misfit]:
        """What did not fit, by tool."""
        return [self._misfits[key] for key in sorted(self._misfits)]

    def hear(self, trajectory: Trajectory) -> None:
        """Compare the calls of a trajectory."""
        results: dict[str, Result] = {}
        for entry in trajectory.entries:
            if isinstance(entry, Result):
                results.setdefault(entry.call, entry)
        for entry in trajectory.entries:
            if isinstance(entry, Call):
                problems = list(dict.fromkeys(self._problems(entry, results.get(entry.id))))
                self.heard += 1
                self.calls += bool(problems)
                for problem in problems:
                    self._note(entry, problem, trajectory)

    def _note(self, call: Call, problem: str, trajectory: Trajectory) -> None:
        key = (call.tool, problem)
        if key not in self._misfits:
            if len(self._misfits) >= MOST_MISFITS:
                return
            self._misfits[key] = Misfit(call.tool, problem, trajectory.file, call.line, call.id)
        self._misfits[key].count += 1


def tool_problems(tools: Schemas) -> Problems:
    """Compares calls with the schemas of the arguments of tools."""

    def problems(call: Call, _result: Result | None) -> Iterator[str]:
        if call.tool not in tools:
            yield no_such("tool", call.tool, tools)
            return
        schema = tools[call.tool]
        if schema is not None and call.arguments is not UNSET and not isinstance(call.arguments, Withheld):
            yield from _misfits(call.arguments, {"type": "object", **schema}, "args")

    return problems


def no_such(what: str, name: str, known: Iterable[str]) -> str:
    """That there is no tool or action of a name, with one that was meant perhaps."""
    near = suggest(name, known)
    return f"there is no such {what}" + (f"; did you mean {near}?" if near else "")


def _misfits(value: Any, schema: Any, path: str) -> Iterator[str]:
    """Where a value does not fit a schema, as far as its types, members and choices say; the rest is not judged."""
    if not isinstance(schema, dict) or has_alternatives(schema) or is_withheld(value):
        return
    wanted = schema.get("type")
    types = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    if types and not any(_is(value, type_) for type_ in types):
        yield f"`{path}` is {shown(value)}, not {' or '.join(map(str, types))}"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(value == choice and type(value) is type(choice) for choice in choices):
        yield f"`{path}` is none of its choices"
    if isinstance(value, dict) and not _is_number(value):
        yield from _misfits_of_members(value, schema, path)
    elif isinstance(value, list) and "items" in schema:
        for element in value[:_MOST_PARTS]:
            yield from _misfits(element, schema["items"], f"{path}[*]")


def _misfits_of_members(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else ():
        if name not in value:
            yield f"`{path}.{name}` is missing"
    closed = is_closed(schema)
    for name, member in [*value.items()][:_MOST_PARTS]:
        if name in properties:
            yield from _misfits(member, properties[name], f"{path}.{name}")
        elif closed:
            near = suggest(name, properties)
            yield f"`{path}.{name[:80]}` is not there" + (f"; did you mean {near}?" if near else "")


def _is(value: Any, type_: object) -> bool:
    match type_:
        case "string":
            return isinstance(value, str)
        case "integer":
            return (type(value) is int) or (_is_number(value) and _is_integral(value[NUMBER]))
        case "number":
            return type(value) is int or _is_number(value)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict) and not _is_number(value)
        case "null":
            return value is None
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, dict) and as_text(value) is not None


def _is_integral(text: str) -> bool:
    return not text.strip("-0123456789") or (text.partition(".")[2].strip("0") == "" and "e" not in text.lower())


def shown(value: Any) -> str:
    """What a value of a log is, in words."""
    if value is None:
        return "null"
    if _is_number(value) or (type(value) is int):
        return "a number"
    names = {str: "a text", bool: "a truth value", list: "a list", dict: "an object"}
    return names.get(type(value), "something else")
