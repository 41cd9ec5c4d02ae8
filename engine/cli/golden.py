"""`spec golden` and `spec pin`: compare what specs give with what was accepted, and accept it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Final

import typer

from engine.cli import show
from engine.cli.codes import E_GOLDEN_DIFFERS, E_GOLDEN_NONE
from engine.cli.options import Files, Workers
from engine.core.diagnostics import Diagnostic
from engine.core.verdict import Exit, Verdict

PINNED: Final = Path("fixtures/golden")
"""Where goldens are, unless somebody says otherwise."""

Folder = Annotated[Path, typer.Option("--dir", help="Where the goldens are.")]


def golden(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Scenarios, suites, laws and discoveries; all of specs/scenario/ if none is named.",
        ),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept what they give now.")] = False,
    folder: Folder = PINNED,
    workers: Workers = None,
) -> None:
    """Compare scenarios, suites, laws and discoveries with their pinned digests and receipts, or accept a change."""
    from engine.pipeline import NOT_PINNED, load_runs, pin_matches
    from engine.pipeline import pin as pin_case
    from engine.run.workers import available

    named = files or sorted(str(path) for path in Path("specs/scenario").glob("*.yaml"))
    if not named:
        show.complain(show.diagnostics_text([Diagnostic(E_GOLDEN_NONE, "there is no specs/scenario/*.yaml here")]))
        raise typer.Exit(Exit.INCONCLUSIVE)
    findings = []
    for bundle in load_runs(named):
        made = pin_case(bundle, workers or available())
        difference = pin_matches(made, folder)
        if difference is not None and update:
            made.write(folder)
        elif difference is not None:
            accept = shlex.join(["spec", "golden", "--update", f"--dir={folder}", bundle.main.span("spec").file])
            findings.append(Diagnostic(E_GOLDEN_DIFFERS, f"{made.name}: {difference}", hint=f"to accept it: {accept}"))
        word = (
            "same"
            if difference is None
            else "accepted"
            if update
            else "not pinned"
            if difference == NOT_PINNED
            else "differs"
        )
        verdict = made.tree["result"]["verdict"]
        show.say(f"{made.name}: {word}{'' if verdict == Verdict.PASS else f', and its verdict is {verdict}'}")
    if findings:
        show.complain(show.diagnostics_text(findings))
    raise typer.Exit(Exit.FINDINGS if findings else Exit.CONFORMS)


def pin(files: Files, folder: Folder = PINNED, workers: Workers = None) -> None:
    """Pin what scenarios, suites, laws and discoveries give now for `spec golden`: short for its `--update`."""
    golden(list(files), update=True, folder=folder, workers=workers)
