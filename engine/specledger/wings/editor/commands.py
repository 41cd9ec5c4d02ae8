"""`spec lsp`: what editors start."""

from __future__ import annotations

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
