"""Tools as logs show them: JSON Schemas of the arguments and results that calls had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, field

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.log_json import NUMBER
from specledger.core.unknown import Unknown
from specledger.wings.trajectories.model import Call, Result, Trajectory, Withheld
from specledger.wings.trajectories.rules.structured import structured

_MOST_MEMBERS: Final = 100
_DEEPEST: Final = 5
_MOST_ELEMENTS: Final = 100

MOST_SHAPES: Final = 50_000
"""Tools, arguments and members of results that are told of; a text of 500 characters counts as one more."""

E_TOOLS_SIZE = code("E_TOOLS_SIZE", "Logs whose calls have too many tools and arguments")

Inferred = tuple[str, dict[str, Any] | UnsetType, dict[str, Any] | UnsetType]


class _Room(Struct):
    """How many shapes there may be more, so that memory is bounded whatever logs hold."""

    left: int = MOST_SHAPES

    def shape(self, name: str = "") -> _Shape:
        """A shape of what has a name.

        Raises:
            Rejected: E_TOOLS_SIZE.
        """
        self.left -= 1 + len(name) // 500
        if self.left < 0:
            message = f"its calls have more than {MOST_SHAPES} tools, arguments and members of results"
            raise Rejected([Diagnostic(E_TOOLS_SIZE, message, hint="give logs of fewer tools, or a list of the tools")])
        return _Shape(self)


class _Shape(Struct):
    """What values at one place were: names of types of JSON Schema, members of objects, elements of lists."""

    room: _Room
    types: set[str] = field(default_factory=set)
    members: dict[str, _Shape] = field(default_factory=dict)
    times: int = 0
    objects: int = 0
    elements: _Shape | None = None

    def add(self, value: Any, depth: int = 0) -> None:
        """Note one more value."""
        self.times += 1
        if type(value) is dict and NUMBER not in value:
            self.types.add("object")
            self.objects += 1
            for key, member in value.items() if depth < _DEEPEST else ():
                if key not in self.members and len(self.members) < _MOST_MEMBERS:
                    self.members[key] = self.room.shape(key)
                if key in self.members:
                    self.members[key].add(member, depth + 1)
        elif type(value) is list:
            self.types.add("array")
            self.elements = self.elements or self.room.shape()
            for element in value[:_MOST_ELEMENTS] if depth < _DEEPEST else ():
                self.elements.add(element, depth + 1)
        else:
            self.types.add(_type_of(value))

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the values."""
        types = sorted(self.types - {"null"})
        if types == ["integer", "number"]:
            types = ["number"]
        if "null" in self.types and types:
            types.append("null")
        schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types} if types else {}
        if "object" in types:
            schema["properties"] = {name: member.schema() for name, member in sorted(self.members.items())}
            schema["required"] = sorted(name for name, shape in self.members.items() if shape.times == self.objects)
        if "array" in types and self.elements is not None:
            schema["items"] = self.elements.schema()
        return schema


def _type_of(value: Any) -> str:
    if type(value) is dict:
        return "number"
    return {bool: "boolean", int: "integer", str: "string", type(None): "null"}.get(type(value), "string")


def inferred(trajectories: Iterable[Trajectory]) -> Iterator[Inferred]:
    """The name of each tool that is called, and the schemas of its arguments and of its structured results.

    Raises:
        Rejected: E_TOOLS_SIZE.
    """
    room = _Room()
    arguments: dict[str, _Shape] = {}
    results: dict[str, _Shape] = {}
    for trajectory in trajectories:
        tools = {}
        for entry in trajectory.entries:
            if isinstance(entry, Call):
                tools[entry.id] = entry.tool
                if entry.tool not in arguments:
                    arguments[entry.tool] = room.shape(entry.tool)
                if type(entry.arguments) is dict:
                    arguments[entry.tool].add(entry.arguments)
            elif isinstance(entry, Result) and entry.call in tools and entry.error is not True:
                if tools[entry.call] not in results:
                    results[tools[entry.call]] = room.shape()
                _note_result(results[tools[entry.call]], entry)
    for tool in sorted(arguments):
        result = results.get(tool)
        structure = result is not None and result.types == {"object"}
        yield (
            tool,
            arguments[tool].schema() if arguments[tool].times else UNSET,
            result.schema() if result is not None and structure else UNSET,
        )


def _note_result(shape: _Shape, result: Result) -> None:
    value = structured(result.content)
    if value is not UNSET and not isinstance(value, Unknown | Withheld):
        shape.add(value)
