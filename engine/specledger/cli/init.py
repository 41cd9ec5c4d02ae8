"""`spec init`: a project folder with a scenario that runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from specledger.cli.output import print_status
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict, combine, exit_code


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder; it may exist.")] = Path(),
) -> None:
    """Write a project: specs, a scenario that runs, its golden, CI, and schemas for editors."""
    from specledger.pipeline.project import SCHEMAS, write_project

    made = write_project(folder)
    lines = [f"wrote {printable(str(folder / one))}" for one in made.written]
    lines += [f"kept  {printable(str(folder / one))}" for one in made.kept]
    lines.append(f"wrote {printable(str(folder / SCHEMAS))} (JSON Schemas for editors)")
    lines += [f"ran   {printable(name)}: {verdict}" for name, verdict in made.scenarios]
    go = [] if folder == Path() else [f"  cd {printable(shlex.quote(str(folder)))}"]
    runs = [f"  spec run {printable(name)}" for name, _ in made.scenarios[:1]]
    print_status("\n".join([*lines, "", "Next:", *go, "  spec check .", *runs]))
    verdicts = [Verdict.PASS, *(Verdict(verdict) for _, verdict in made.scenarios)]
    raise typer.Exit(exit_code(combine(verdicts)))
