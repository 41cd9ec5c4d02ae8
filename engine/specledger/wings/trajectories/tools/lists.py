"""Lists of tools: MCP `tools/list`, OpenAI and Anthropic `tools`, `tool_definitions` of ATIF; else what logs show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.log_json import parse_log_json
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.source import MAX_DOCUMENT
from specledger.wings.trajectories.tools.inferred import inferred

E_TOOLS = code("E_TOOLS", "A file that neither lists tools nor holds calls")

_FORMS: Final = "MCP's `tools/list`, `tools` of OpenAI or Anthropic, `tool_definitions` of ATIF, or logs with calls"
_LISTS: Final = ("tools", "tool_definitions")
_SCHEMAS: Final = ("inputSchema", "input_schema", "parameters")


class Tool(Struct, frozen=True):
    """A tool as a list describes it.

    Attributes:
        arguments: The JSON Schema of its arguments; UNSET if nothing is known of them.
        result: The JSON Schema of its structured result, if it has one.
    """

    name: str
    doc: str = ""
    arguments: dict[str, Any] | UnsetType = UNSET
    result: dict[str, Any] | UnsetType = UNSET


def read_tools(files: Sequence[Path]) -> dict[str, Tool]:
    """The tools that files list, or that logs call, by name; of two of one name the first.

    Raises:
        Rejected: E_TOOLS: there is none in a file; E_TOOLS_SIZE: there are too many.
    """
    tools: dict[str, Tool] = {}
    for file in files:
        listed = list(_listed(file)) or [
            Tool(name, "", arguments, result) for name, arguments, result in inferred(read_logs([file]))
        ]
        if not listed:
            raise Rejected([Diagnostic(E_TOOLS, f"there is no tool in {file}", hint=f"what is read: {_FORMS}")])
        for tool in listed:
            tools.setdefault(tool.name, tool)
    return tools


def _listed(file: Path) -> Iterator[Tool]:
    """The tools of a list; none where the file is no such list."""
    if not file.is_file() or file.stat().st_size > MAX_DOCUMENT:
        return
    try:
        value = parse_log_json(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return
    for tool in _members(value):
        read = _tool(tool)
        if read is not None:
            yield read


def _members(value: Any) -> list[Any]:
    """The list of tools that a document is or holds; a log, which has messages or steps, may hold one as well."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    for holder in (value, value.get("result"), value.get("agent")):
        for key in _LISTS:
            if isinstance(holder, dict) and isinstance(holder.get(key), list):
                return list(holder[key])
    return []


def _tool(value: Any) -> Tool | None:
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    value = function if isinstance(function, dict) else value
    name = value.get("name")
    if not isinstance(name, str) or not name:
        return None
    given = next((value[key] for key in _SCHEMAS if isinstance(value.get(key), dict)), None)
    if given is None and not any(key in value for key in ("description", "type")):
        return None
    doc, result = value.get("description"), value.get("outputSchema")
    return Tool(
        name,
        doc if isinstance(doc, str) else "",
        {"type": "object", "properties": {}} if given is None else given,
        result if isinstance(result, dict) else UNSET,
    )
