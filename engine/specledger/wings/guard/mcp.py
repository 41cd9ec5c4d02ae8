"""MCP: a middleware that asks a guard before a tool of a FastMCP server acts, and a proxy of any server with it.

The conversation is that of the middleware, from its first message until it is closed. Needs the extra `mcp`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from specledger.core.canonical import NotCanonical
from specledger.core.log_json import log_value
from specledger.kinds import load
from specledger.wings.guard.client import PROTOCOL
from specledger.wings.guard.protocol import MAX_WAIT_MS, Ask, Begin, End, Note, Refusal, Report
from specledger.wings.guard.server import prepare_folder
from specledger.wings.guard.service import GuardService
from specledger.wings.guard.tools import E_GUARD_TOOLS, changes, misfits

if TYPE_CHECKING:
    from anyio import CancelScope
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool, ToolResult

_DENIED: Final = "denied by the guard"
_UNREADABLE: Final = "its arguments cannot be read: they are too large, too deep, or no values of JSON"
_MOST_NOTE: Final = 2000


class ToolGuard:
    """Asks a guard before each call of a tool, and reports what came back: the hooks of a middleware."""

    def __init__(self, service: GuardService) -> None:
        """Ask a guard of this process."""
        self._service = service
        self._beginning = asyncio.Lock()
        self._conversation: str | None = None
        self._tools: dict[str, Tool] = {}

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]) -> ToolResult:
        """Let a call through if it is allowed; a denied one has the reason as its result."""
        tool, arguments = context.message.name, _plain(context.message.arguments or {})
        if arguments is UNSET:  # whatever the scenario says: of a call that cannot be read nothing is known
            return _failed(_UNREADABLE)
        try:
            with _shield():  # a decision that is logged is answered
                name = await self._begun(context)
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
            await self._compare(name, tools)
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
                assert context.fastmcp_context is not None  # noqa: S101 - a server calls this
                tools = await context.fastmcp_context.fastmcp.list_tools(run_middleware=False)
                self._tools = {tool.name: tool for tool in tools}
                schemas = {tool.name: tool.parameters for tool in tools}
                for message in misfits(self._service.bundle, schemas):
                    await self._note(name, message)
                self._conversation = name
            return self._conversation

    async def _compare(self, name: str, tools: Sequence[Tool]) -> None:
        now = {tool.name: tool for tool in tools}
        before, self._tools = self._tools, now
        for message in changes(_described(before), _described(now)):
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


def middleware_of(service: GuardService) -> Any:
    """The middleware that asks a guard of this process."""
    return _middleware()(service)


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


def _described(tools: dict[str, Tool]) -> dict[str, dict[str, Any]]:
    """What a tool says of itself, by name."""
    return {
        name: {"description": tool.description, "arguments": tool.parameters, "result": tool.output_schema}
        for name, tool in tools.items()
    }


def _plain(value: Any) -> Any:
    """A JSON value without floats; UNSET where that is not possible."""
    try:
        return log_value(value)
    except (ValueError, NotCanonical):
        return UNSET


def _content(result: ToolResult) -> Any:
    """What a result holds: its structured content, or its text."""
    if result.structured_content is not None:
        return _plain(result.structured_content)
    texts = [block.text for block in result.content if block.type == "text"]
    return "\n".join(texts) if len(texts) == len(result.content) else UNSET
