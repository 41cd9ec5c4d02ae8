"""`spec new`: a first spec of a kind, in a file of its own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from specledger.cli import show
from specledger.core.diagnostics import printable


def new(
    kind: Annotated[str, typer.Argument(help="A kind, such as scenario; `spec explain kinds` lists them.")],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Its name; if none is given, as the file or the example.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The file to write.  [default: NAME.yaml]")] = None,
) -> None:
    """Write a small commented spec of a kind to begin with; no file is ever written over."""
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import write_new

    file = write_new(kind, name, out)
    follows = shlex.join(["spec", "check" if KINDS[kind].runnable is None else "run", str(file)])
    show.say(f"wrote {printable(str(file))}; next: {printable(follows)}")
