"""The tools of a server beside the actions of a world: what does not fit, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specledger.core.diagnostics import code
from specledger.load import Bundle
from specledger.wings.trajectories.tools.types import Types

E_GUARD_TOOLS = code("E_GUARD_TOOLS", "the tools of a server do not fit the world, or changed")


def described(tools: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the tools of a server say of themselves, by name, from what MCP lists."""
    return {
        tool["name"]: {
            "description": tool.get("description"),
            "arguments": tool["inputSchema"],
            "result": tool.get("outputSchema"),
        }
        for tool in tools
    }


def misfits(bundle: Bundle, schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What of a world's actions the tools of a server do not have: `schemas` are those of arguments, by tool."""
    world = bundle.specs[bundle.main.refs["world",]]
    agent = bundle.specs[bundle.main.refs["agent",]]
    otherwise = agent.data["trajectories"].get("otherwise")
    for name, action in world.data["actions"].items():
        if name == otherwise:
            continue
        if name not in schemas:
            yield f"the world has the action {name}, and the server no such tool"
            continue
        members = Types(schemas[name]).members()
        for argument, wanted in (action or {}).get("args", {}).items():
            if argument not in members:
                yield f"the action {name} has the argument {argument}, and the tool has not"
            elif not _fits(members[argument][0], wanted):
                given = _sort(members[argument][0])
                yield f"the argument {argument} of {name} is {_sort(wanted)} in the world, and {given} of the tool"


def _sort(type_: Any) -> str:
    """The sort of a type as documents write it."""
    if isinstance(type_, str):
        return type_
    if isinstance(type_, Mapping):
        return str(type_.get("type", "int" if all(type(one) is int for one in type_.get("enum", [""])) else "string"))
    return "another"


def _fits(given: Any, wanted: Any) -> bool:
    """Whether values of a tool's type can be those of an argument; a type with a name of its own is not looked into."""
    plain = {"int": "int", "integer": "int", "qfixed": "qfixed", "number": "qfixed", "string": "string", "bool": "bool"}
    one, two = plain.get(_sort(given)), plain.get(_sort(wanted))
    return one is None or two is None or one == two or (one, two) == ("int", "qfixed")


def changes(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What changed of tools, by name: those that came or went, and what each says of itself."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"the tool {name} is gone"
        elif name not in before:
            yield f"the tool {name} is new"
        elif before[name] != now[name]:
            what = [key for key in now[name] if before[name].get(key) != now[name][key]]
            yield f"the tool {name} changed: its {', '.join(what)}"
