"""Editor: what helps to write specs while they are typed: a language server, an MCP server, a watch over files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specledger.core.wing import Wing


def _commands() -> Mapping[str, Mapping[str, Callable[..., None]]]:
    from specledger.wings.editor.commands import lsp, mcp, watch

    return {"Write specs": {"watch": watch, "lsp": lsp, "mcp": mcp}}


WING = Wing("editor", commands=_commands)
