"""MCP: a middleware that asks a guard before a tool of a FastMCP server acts, and a proxy of any server with it.

The conversation is that of the middleware, from its first message until it is closed. Needs the extra `mcp`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from specledger.core.canonical import NotCanonical, canonical_bytes, check_volume
from specledger.core.log_json import log_value
from specledger.kinds import load
from specledger.wings.guard.client import MAX_MESSAGE, PROTOCOL
from specledger.wings.guard.protocol import MAX_WAIT_MS, Ask, Begin, End, Note, Refusal, Report
from specledger.wings.guard.server import prepare_folder
from specledger.wings.guard.service import GuardService
from specledger.wings.guard.tools import E_GUARD_TOOLS, changes, described, misfits

if TYPE_CHECKING:
    from anyio import CancelScope
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool, ToolResult

Described = Mapping[str, Mapping[str, Any]]
"""What tools say of themselves, by name."""

_DENIED: Final = "denied by the guard"
_UNREADABLE: Final = "its arguments cannot be read: they are too large, too deep, or integers beyond 64 bits"
_NOT_AS_IT_WAS: Final = "the tool came or changed after the start, and a scenario that fails open judges none such"
_MOST_NOTE: Final = 2000
_MOST_VOLUME: Final = 4 << 20


class ToolGuard:
    """Asks a guard before each call of a tool, and reports what came back: the hooks of a middleware."""

    def __init__(self, service: GuardService, first: Described | None = None) -> None:
        """Ask a guard of this process; `first` are the tools as they were looked at before the client came."""
        self._service = service
        self._first, self._changed = first, set[str]()
        self._beginning = asyncio.Lock()
        self._conversation: str | None = None
        self._tools: Described = {}

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]) -> ToolResult:
        """Let a call through if it is allowed; a denied one has the reason as its result."""
        given = context.message.arguments or {}
        tool, arguments = context.message.name, _plain(given)
        if arguments is UNSET or not _has_common_integers(
            given
        ):  # whatever the scenario says: of a call that cannot be read nothing is known
            return _failed(_UNREADABLE)
        try:
            with _shield():  # a decision that is logged is answered
                name = await self._begun(context)
                if tool not in self._tools:
                    await self._compare(name, _described(await _listed(context)))
                if tool in self._changed and self._service.settings.fail == "open":
                    await self._note(name, f"the tool {tool} is not called: {_NOT_AS_IT_WAS}")
                    return _failed(_NOT_AS_IT_WAS)
                ask = Ask(0, conversation=name, tool=tool, arguments=arguments, wait_ms=MAX_WAIT_MS)
                decision = await self._service.answer(ask)
        except Refusal as refusal:
            return _failed(str(refusal))
        if decision["decision"] == "deny":
            return _failed(f"{decision['reason']} (receipt {decision['receipt']})")
        call = decision["call"]
        try:
            result = await call_next(context)
        except asyncio.CancelledError:
            await self._report(name, call)
            raise
        except Exception as error:
            await self._report(name, call, str(error), error=True)
            raise
        await self._report(name, call, _content(result), error=bool(result.is_error))
        return result

    async def on_list_tools(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """Note tools that changed, and show those that may be allowed, as the scenario says."""
        tools = await call_next(context)
        with _shield():
            name = await self._begun(context)
            await self._compare(name, _described(tools))
        return [shown for tool in tools if (shown := self._shown(tool)) is not None]

    async def end(self) -> dict[str, Any] | None:
        """End the conversation, and seal it; None if there was none."""
        name, self._conversation = self._conversation, None
        return None if name is None else await self._service.answer(End(0, conversation=name))

    async def _begun(self, context: MiddlewareContext[Any]) -> str:
        """The conversation; when it begins, the tools are those that later ones are compared with."""
        async with self._beginning:
            if self._conversation is None:
                begun = await self._service.answer(Begin(0, protocol=PROTOCOL))
                name: str = begun["conversation"]
                tools = _described(await _listed(context))
                self._tools = tools if self._first is None else self._first
                await self._compare(name, tools)
                schemas = {tool: described["arguments"] for tool, described in tools.items()}
                for message in misfits(self._service.bundle, schemas):
                    await self._note(name, message)
                self._conversation = name
            return self._conversation

    async def _compare(self, name: str, now: Described) -> None:
        """Note which tools are not what they were at the start; they stay so, whatever they are later."""
        before, self._tools = self._tools, now
        self._changed |= {tool for tool in now if before.get(tool) != now[tool]}
        for message in changes(before, now):
            await self._note(name, message)

    async def _note(self, name: str, message: str) -> None:
        await self._service.answer(Note(0, conversation=name, code=E_GUARD_TOOLS, message=message[:_MOST_NOTE]))

    def _shown(self, tool: Tool) -> Tool | None:
        wanted, recording = self._service.settings.tools, self._service.plan.recording
        assert recording is not None  # noqa: S101 - a guard's scenario has one
        why = "" if wanted == "all" else recording.forbids(tool.name)
        if not why:
            return tool
        if wanted == "hide":
            return None
        return tool.model_copy(update={"description": f"[{_DENIED}: {why}] {tool.description or ''}".strip()})

    async def _report(self, name: str, call: str, content: Any = UNSET, *, error: bool | None = None) -> None:
        with _shield():
            try:
                await self._service.answer(Report(0, conversation=name, call=call, content=content, error=error))
            except Refusal:  # nothing can be logged any more, so the next call is denied
                return


def guard_middleware(scenario: str, folder: str | Path = "guard") -> Any:
    """The middleware of a scenario, for `server.add_middleware`; `await middleware.end()` seals its conversation."""
    place = Path(folder)
    prepare_folder(place)
    return middleware_of(GuardService(load(scenario, kind="scenario")[0], place))


def middleware_of(service: GuardService, first: Described | None = None) -> Any:
    """The middleware that asks a guard of this process; `first` are the tools as they were looked at before."""
    return _middleware()(service, first)


@cache
def _middleware() -> Any:
    """The class of the middleware; FastMCP, which takes seconds, is imported when there is one."""
    from fastmcp.server.middleware import Middleware  # noqa: PLC0415 - see above

    return type("GuardMiddleware", (ToolGuard, Middleware), {})


def _shield() -> CancelScope:
    """A block that the cancellation of a call does not break off."""
    from anyio import CancelScope  # noqa: PLC0415 - of the extra

    return CancelScope(shield=True)


def _failed(reason: str) -> ToolResult:
    """The result of a call that is denied."""
    from fastmcp.tools.base import ToolResult  # noqa: PLC0415 - of the extra

    return ToolResult(f"{_DENIED}: {reason}", is_error=True)


async def _listed(context: MiddlewareContext[Any]) -> Sequence[Tool]:
    """The tools that the server has now."""
    assert context.fastmcp_context is not None  # noqa: S101 - a server calls this
    tools: Sequence[Tool] = await context.fastmcp_context.fastmcp.list_tools(run_middleware=False)
    return tools


def _described(tools: Sequence[Tool]) -> Described:
    """What tools say of themselves, by name."""
    return described(tool.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools)


def _plain(value: Any) -> Any:
    """A JSON value without floats; UNSET where that is not possible."""
    try:
        plain = log_value(value)
        form = canonical_bytes(plain)
        check_volume(form, _MOST_VOLUME)
    except (ValueError, NotCanonical):
        return UNSET
    return plain if len(form) < MAX_MESSAGE else UNSET


def _has_common_integers(value: Any) -> bool:
    """Whether all integers have 64 bits: rules say nothing of others, so an agent could choose not to be judged."""
    if isinstance(value, dict | list):
        return all(map(_has_common_integers, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def _content(result: ToolResult) -> Any:
    """What a result holds: its structured content, or its text."""
    if result.structured_content is not None:
        return _plain(result.structured_content)
    texts = [block.text for block in result.content if block.type == "text"]
    return "\n".join(texts) if len(texts) == len(result.content) else UNSET
