"""`spec guard SCENARIO --mcp -- COMMAND`: an MCP server on standard input and output that guards another one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.load import Bundle
from specledger.wings.guard.codes import E_GUARD_MCP
from specledger.wings.guard.mcp import middleware_of
from specledger.wings.guard.server import prepare_folder
from specledger.wings.guard.service import GuardService
from specledger.wings.guard.tools import E_GUARD_TOOLS, misfits

_START_SECONDS = 60


def serve_proxy(bundle: Bundle, words: Sequence[str], folder: Path) -> dict[str, Any] | None:
    """Guard a server until its client leaves; how the conversation ended, None if there was none.

    Args:
        bundle: The scenario.
        words: The command of the server, or its one URL.
        folder: Where logs and evidence go.

    Raises:
        Rejected: E_GUARD_MCP: the server does not answer. E_GUARD_TOOLS: its tools do not fit the world.
    """
    prepare_folder(folder)
    return asyncio.run(_serve(GuardService(bundle, folder), words))


def list_tools(words: Sequence[str]) -> list[dict[str, Any]]:
    """The tools of a server, as MCP lists them.

    Raises:
        Rejected: E_GUARD_MCP.
    """
    return asyncio.run(_tools(words))


def _target(words: Sequence[str]) -> Any:
    from fastmcp.client.transports import StdioTransport  # noqa: PLC0415 - of the extra, and takes seconds

    if len(words) == 1 and words[0].startswith(("http://", "https://")):
        return words[0]
    return StdioTransport(words[0], list(words[1:]), env=dict(os.environ))


async def _tools(words: Sequence[str]) -> list[dict[str, Any]]:
    """The tools of a server that is asked once: what serves a client speaks the protocol of that client."""
    from fastmcp import Client  # noqa: PLC0415 - of the extra, and takes seconds

    try:
        async with asyncio.timeout(_START_SECONDS), Client(_target(words)) as client:
            tools = await client.list_tools()
    except Exception as error:  # whatever a client of another package finds
        message = f"no server of tools answers to {' '.join(words)}: {error}"
        hint = "the words after `--` are its command, or its one URL"
        raise Rejected([Diagnostic(E_GUARD_MCP, message, hint=hint)]) from None
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


async def _serve(service: GuardService, words: Sequence[str]) -> dict[str, Any] | None:
    from fastmcp.server import create_proxy  # noqa: PLC0415 - of the extra, and takes seconds

    schemas = {tool["name"]: tool["inputSchema"] for tool in await _tools(words)}
    found = [Diagnostic(E_GUARD_TOOLS, message) for message in misfits(service.bundle, schemas)]
    if found:
        raise Rejected(found)
    guard = middleware_of(service)
    proxy = create_proxy(_target(words), name=service.plan.name, middleware=[guard])
    try:
        await proxy.run_async("stdio", show_banner=False, log_level="CRITICAL")
    finally:
        ended: dict[str, Any] | None = await guard.end()
        service.close()
    return ended
