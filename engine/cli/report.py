"""`spec report`: a picture of an episode, or a summary, from evidence alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from engine.cli import show
from engine.core.diagnostics import Diagnostic, Rejected
from engine.core.verdict import exit_code
from engine.report.codes import E_REPORT_PLACE


class ReportFormat(StrEnum):
    """What a report is."""

    SVG = "svg"
    MARKDOWN = "markdown"
    FOLDER = "folder"


def report(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A folder that `spec run` wrote.")],
    shown: Annotated[ReportFormat, typer.Option("--format", help="A picture, a summary, or files of each agent.")],
    episode: Annotated[int, typer.Option(min=0, help="Which episode is drawn.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The file to write, or the folder.  [default: standard output]")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Processes that check a suite's runs.  [default: one for each processor]"),
    ] = None,
) -> None:
    """Draw or summarise evidence, after checking its chain; nothing is run again."""
    from engine.report.evidence import Refuted, read_evidence
    from engine.report.folder import make_files
    from engine.report.markdown import summarise
    from engine.report.svg import draw_episode
    from engine.run.workers import available

    if out is not None and out.resolve().is_relative_to(bundle.resolve()):
        raise Rejected([Diagnostic(E_REPORT_PLACE, f"{out} lies in the bundle {bundle}")])
    if shown is ReportFormat.FOLDER and (out is None or (out.exists() and (not out.is_dir() or any(out.iterdir())))):
        raise Rejected([Diagnostic(E_REPORT_PLACE, "a folder of files needs --out, a new or an empty folder")])
    try:
        evidence = read_evidence(bundle, workers or available())
    except Refuted as refuted:
        show.complain(show.verification_text(bundle, refuted.verification))
        raise typer.Exit(exit_code(refuted.verification.verdict)) from None
    if shown is ReportFormat.FOLDER:
        assert out is not None  # noqa: S101 - it was asked for above
        for path, data in make_files(evidence, bundle).items():
            file = out / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return
    text = draw_episode(evidence, episode) if shown is ReportFormat.SVG else summarise(evidence)
    if out is None:
        show.say(text.removesuffix("\n"))
    else:
        out.write_text(text, encoding="utf-8", newline="\n")
