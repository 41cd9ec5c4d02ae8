"""`spec guard SCENARIO --mcp -- COMMAND`: an MCP server on standard input and output that guards another one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specledger.core.diagnostics import Diagnostic, Rejected, counted, printable
from specledger.core.verdict import Exit
from specledger.load import Bundle
from specledger.wings.guard.codes import E_GUARD_MCP
from specledger.wings.guard.mcp import middleware_of
from specledger.wings.guard.protocol import Refusal
from specledger.wings.guard.server import prepare_folder
from specledger.wings.guard.service import GuardService
from specledger.wings.guard.tools import E_GUARD_TOOLS, described, misfits

_START_SECONDS = 60


def serve_proxy(bundle: Bundle, words: Sequence[str], folder: Path, tell: Callable[[str], None]) -> None:
    """Guard a server until its client leaves; at SIGINT and SIGTERM the process ends here, too, once all is sealed.

    Args:
        bundle: The scenario.
        words: The command of the server, or its one URL.
        folder: Where logs and evidence go.
        tell: Called with what the user should know: conversations that were left before, and how this one ended.

    Raises:
        Rejected: E_GUARD_MCP: the server does not answer. E_GUARD_TOOLS: its tools do not fit the world.
    """
    prepare_folder(folder)
    service = GuardService(bundle, folder)
    if left := service.left():
        said = f"{counted(len(left), 'conversation')} in {folder} did not end"
        tell(printable(f"{said}: `--seal` seals those that no guard has open"))
    asyncio.run(_serve(service, words, tell))


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


async def _serve(service: GuardService, words: Sequence[str], tell: Callable[[str], None]) -> None:
    from fastmcp.server import create_proxy  # noqa: PLC0415 - of the extra, and takes seconds

    tools = described(await _tools(words))
    schemas = {name: tool["arguments"] for name, tool in tools.items()}
    found = [Diagnostic(E_GUARD_TOOLS, message) for message in misfits(service.bundle, schemas)]
    if found:
        raise Rejected(found)
    guard = middleware_of(service, tools)
    proxy = create_proxy(_target(words), name=service.plan.name, middleware=[guard])
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    serving = asyncio.create_task(proxy.run_async("stdio", show_banner=False, log_level="CRITICAL"))
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    try:
        tell(_ending(await guard.end()))
    except Refusal as refusal:
        tell(printable(f"the conversation is not sealed: {refusal.diagnostic.code}: {refusal}"))
    service.close()
    if not serving.done():  # a thread reads what the client writes, and ends only with the process
        sys.stderr.flush()
        os._exit(Exit.CONFORMS)
    stopping.cancel()
    await serving


def _ending(ended: Mapping[str, Any] | None) -> str:
    """How a conversation ended, for people."""
    return "no call was asked" if ended is None else printable(f"{ended['verdict']}, evidence {ended['evidence']}")
