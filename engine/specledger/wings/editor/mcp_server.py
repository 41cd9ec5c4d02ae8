"""The MCP server: the tools of `authoring_tools` for coding agents. Needs the extra `mcp`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final

import msgspec

from specledger import __version__
from specledger.core.diagnostics import Rejected
from specledger.wings.editor.authoring_tools import Answer, AuthoringTools

_INSTRUCTIONS: Final = (
    "Specs are YAML files `specs/<kind>/<name>.yaml` whose first key is `spec: <kind>/v1`. Write a spec, then `check` "
    "it; every finding has a hint, and `explain` says more about a code or a key. `run` leaves evidence, `verify` "
    "checks it, `report` says what happened. `explain` with `kinds` lists what can be written."
)


def serve(folder: Path, deadline_s: int) -> None:
    """Answer a client on standard input and output until it leaves.

    Raises:
        Rejected: E_MCP_FOLDER.
    """
    server = make_server(AuthoringTools(folder, deadline_s))
    asyncio.run(server.run_async("stdio", show_banner=False, log_level="CRITICAL"))


def make_server(tools: AuthoringTools) -> Any:
    """A server with the five tools."""
    from fastmcp import FastMCP  # noqa: PLC0415 - of the extra, and takes seconds

    server = FastMCP("specledger", instructions=_INSTRUCTIONS, version=__version__)

    async def check(targets: list[str] | None = None) -> dict[str, Any]:
        return await _answered(tools.check(targets or (".",)))

    async def explain(what: str) -> dict[str, Any]:
        return await _answered(tools.explain(what))

    async def run(target: str, seed: int | None = None, episodes: int | None = None) -> dict[str, Any]:
        return await _answered(tools.run(target, seed, episodes))

    async def verify(bundle: str, replay: bool = True) -> dict[str, Any]:
        return await _answered(tools.verify(bundle, replay=replay))

    async def report(bundle: str) -> dict[str, Any]:
        return await _answered(tools.report(bundle))

    for tool in (check, explain, run, verify, report):
        server.tool(tool, description=getattr(AuthoringTools, tool.__name__).__doc__)
    return server


async def _answered(answer: Awaitable[Answer]) -> dict[str, Any]:
    try:
        document: dict[str, Any] = msgspec.to_builtins(await answer)
    except Rejected as refused:
        from fastmcp.exceptions import ToolError  # noqa: PLC0415 - as above

        hints = "; ".join(finding.hint for finding in refused.diagnostics if finding.hint)
        raise ToolError(f"{refused}: {hints}") from None
    return document
