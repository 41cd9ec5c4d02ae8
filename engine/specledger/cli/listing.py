"""`spec ls`: the specs of the project and those that are shipped."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer

from specledger.cli import completion
from specledger.cli.options import Format, TextOrJson
from specledger.cli.output import print_json, print_text
from specledger.core.diagnostics import printable, suggest


def ls(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", autocompletion=completion.kinds, help="One kind only, such as scenario."),
    ] = None,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """List the specs of the project and the shipped ones, with a line about each."""
    from specledger.kinds import KINDS
    from specledger.pipeline.listing import list_specs

    if kind is not None and kind not in KINDS:
        near = suggest(kind, KINDS)
        hint = f"; did you mean {near}?" if near else f"; kinds are {', '.join(KINDS)}"
        raise typer.BadParameter(f"there is no kind {printable(kind)}{hint}")
    found = list(list_specs(kind))
    if format_ is Format.JSON:
        rows = [
            {"kind": one.kind, "name": one.name, "file": str(one.file), "shipped": one.shipped, "summary": one.summary}
            for one in found
        ]
        print_json({"specs": rows})
        return
    for group, members in groupby(found, key=lambda one: one.kind):
        specs = list(members)
        width = max(len(one.name) for one in specs)
        print_text(f"{group} ({len(specs)})")
        for one in specs:
            own = "" if one.shipped else "  (project)"
            print_text(f"  {printable(one.name):<{width}}  {printable(one.summary)}{own}".rstrip())
