"""`spec lsp`, `spec mcp` and `spec watch`: what editors, coding agents and authors start beside their work."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from specledger.core.diagnostics import code, missing_package

E_EDITOR_PACKAGE = code("E_EDITOR_PACKAGE", "a package that a server for editors needs is not installed")


def lsp() -> None:
    """Answer an editor on standard input and output: findings, completion, hover, definition, rename, layout."""
    try:
        from specledger.wings.editor.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise missing_package(E_EDITOR_PACKAGE, "pygls", "lsp") from None
    make_server().start_io()


def mcp(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The project; nothing outside it is read or written.")
    ] = Path(),
    deadline: Annotated[
        int, typer.Option("--deadline", min=1, max=3600, metavar="SECONDS", help="How long one call may take.")
    ] = 120,
) -> None:
    """Let a coding agent check, explain, run, verify and report the specs of a folder: an MCP server."""
    if find_spec("fastmcp") is None:
        raise missing_package(E_EDITOR_PACKAGE, "fastmcp", "mcp")
    from specledger.wings.editor.mcp_server import serve

    serve(folder, deadline)


def watch(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET...]", help="Files, folders or patterns; `.` if left out.")
    ] = None,
) -> None:
    """Check specs whenever they are saved, and run what a change touches, until Ctrl-C."""
    from threading import Event

    from specledger.cli.output import print_text
    from specledger.wings.editor.watch import Watch

    watching = Watch(targets or ["."], tell=print_text)
    try:
        watching.start()
        watching.forever(Event())
    except KeyboardInterrupt:  # how a watch is meant to end; a run that it cuts off says so itself
        print_text("ended")
