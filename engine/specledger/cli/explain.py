"""`spec explain`: what a code means, what kinds there are, and what a key of a kind may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from specledger.cli import show
from specledger.core.diagnostics import explain as page_of

if TYPE_CHECKING:
    from specledger.pipeline.authoring import Described


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="CODE|PATH",
            help="A code from a message, such as E_CHAIN; a kind or a key of one, such as scenario.probes; or `kinds`.",
        ),
    ],
) -> None:
    """Say what a code means and what to do about it, or what a key of a kind may hold."""
    from specledger.core.diagnostics import codes, suggest
    from specledger.kinds import KINDS
    from specledger.pipeline.authoring import describe, load_codes

    if what == "kinds":
        show.say(show.kinds_text())
        return
    if "." not in what and what not in KINDS:
        load_codes()
    page = page_of(what.upper())
    if page is not None:
        show.say(f"{page.name}: {page.title}\n\n{page.text}")
        return
    if "." in what or what in KINDS:
        show.say(_text(describe(what)))
        return
    near = suggest(what.upper(), codes()) or suggest(what, KINDS)
    raise typer.BadParameter(f"there is no code or kind {what!r}" + (f"; did you mean {near}?" if near else ""))


def _text(found: Described) -> str:
    needed = "required" if found.required else "optional" if found.default is None else f"default {found.default}"
    lines = [f"{found.path}: {found.type} ({needed})"]
    lines += [f"  {found.doc}"] if found.doc else []
    lines += [f"  allowed: {', '.join(found.allowed)}"] if found.allowed else []
    lines += [f"  keys below: {', '.join(found.keys)}"] if found.keys else []
    return "\n".join(lines)
