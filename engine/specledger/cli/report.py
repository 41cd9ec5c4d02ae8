"""`spec report`: pictures, summaries and documents for other programs, from evidence alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date as calendar
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import show
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.core.verdict import exit_code
from specledger.report.codes import E_REPORT_PLACE

if TYPE_CHECKING:
    from specledger.report.evidence import Evidence
    from specledger.report.results import Report


class ReportFormat(StrEnum):
    """What a report is."""

    SVG = "svg"
    MARKDOWN = "markdown"
    FOLDER = "folder"
    HTML = "html"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    OSCAL = "oscal"
    GITHUB = "github"


OF_SEVERAL: Final = frozenset(
    [
        *(ReportFormat.HTML, ReportFormat.JSON, ReportFormat.JUNIT),
        *(ReportFormat.SARIF, ReportFormat.OSCAL, ReportFormat.GITHUB),
    ]
)
"""What is told of several bundles at once, and of a profile."""


def report(  # noqa: PLR0913, PLR0917 - each is an option
    bundles: Annotated[
        list[Path], typer.Argument(metavar="BUNDLE...", help="What `spec run` wrote: folders or zip files.")
    ],
    shown: Annotated[ReportFormat, typer.Option("--format", help="What the report is.")],
    episode: Annotated[int, typer.Option(min=0, help="Which episode is drawn.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The file to write, or the folder.  [default: standard output]")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="PROFILE", help="Judge the controls of a profile by this evidence.")
    ] = None,
    tests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JUnit XML of the tests that the profile names.")
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Which day it is, for OSCAL and for waivers.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="The folder whose <kind>/<name>.yaml are the specs, for places in files.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Processes that check a suite's runs.  [default: one for each processor]"),
    ] = None,
) -> None:
    """Tell what evidence shows, after checking its chain; nothing is run again."""
    _see_place(bundles, out, shown)
    if shown in (ReportFormat.SVG, ReportFormat.FOLDER) and (len(bundles) > 1 or profile is not None):
        raise typer.BadParameter(f"--format {shown} tells of one bundle, and of no profile")
    with ExitStack() as held:
        evidence = open_all(bundles, workers, held)
        mixed = len(bundles) > 1 and any(one.kind != "discovery" for one in evidence)
        summed = shown is ReportFormat.MARKDOWN and (mixed or profile is not None)
        if summed or shown in OF_SEVERAL:
            _tell(evidence, shown, out, _Asked(profile, tests, _day(date), sources))
        elif shown is ReportFormat.FOLDER and out is not None:
            _write_folder(evidence[0], out)
        else:
            say_text(_one(evidence, shown, episode), out)


def open_all(bundles: Sequence[Path], workers: int | None, held: ExitStack) -> list[Evidence]:
    """The evidence of several bundles, each a folder or a zip file; one that is refuted ends the command.

    Args:
        bundles: Where they lie.
        workers: How many processes check the runs of a suite.
        held: What keeps that which was unpacked.
    """
    from specledger.kinds import MODELS
    from specledger.report.evidence import opened
    from specledger.run.workers import available
    from specledger.verify.bundle import Refuted

    evidence = []
    for bundle in bundles:
        try:
            evidence.append(held.enter_context(opened(bundle, MODELS, workers or available())))
        except Refuted as refuted:
            show.complain(show.verification_text(bundle, refuted.verification))
            raise typer.Exit(exit_code(refuted.verification.verdict)) from None
    return evidence


@dataclass(frozen=True, slots=True)
class _Asked:
    """What else a report is asked for."""

    profile: str | None
    tests: Path | None
    date: str | None
    sources: Path | None


def _see_place(bundles: Sequence[Path], out: Path | None, shown: ReportFormat) -> None:
    for bundle in bundles:
        if out is not None and out.resolve().is_relative_to(bundle.resolve()):
            raise Rejected([Diagnostic(E_REPORT_PLACE, f"{out} lies in the bundle {bundle}")])
    if shown is ReportFormat.FOLDER and (out is None or (out.exists() and (not out.is_dir() or any(out.iterdir())))):
        raise Rejected([Diagnostic(E_REPORT_PLACE, "a folder of files needs --out, a new or an empty folder")])


def _day(text: str | None) -> str | None:
    try:
        if text is not None and calendar.fromisoformat(text).isoformat() != text:
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"{printable(text or '')} is no date like 2026-01-31") from None
    return text


def _one(bundles: Sequence[Evidence], shown: ReportFormat, episode: int) -> str:
    """The text of a report of one bundle, or of a discovery beside others."""
    from specledger.report.discovery import summarise_discovery
    from specledger.report.markdown import summarise
    from specledger.report.svg import draw_episode

    evidence = bundles[0]
    if evidence.kind == "discovery" and shown is ReportFormat.MARKDOWN:
        return summarise_discovery(evidence, bundles[1:])
    return draw_episode(evidence, episode) if shown is ReportFormat.SVG else summarise(evidence)


def _write_folder(evidence: Evidence, out: Path) -> None:
    from specledger.report.folder import make_files

    for path, data in make_files(evidence, evidence.place).items():
        file = out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _tell(evidence: Sequence[Evidence], shown: ReportFormat, out: Path | None, asked: _Asked) -> None:
    """A report of several bundles, and of a profile, whose verdict is then that of the command."""
    from specledger.report.document import write_json
    from specledger.report.github import annotate, step_summary
    from specledger.report.html import make_page
    from specledger.report.junit import write_junit
    from specledger.report.oscal import write_oscal
    from specledger.report.readings import read_subject
    from specledger.report.results import Report
    from specledger.report.sarif import write_sarif

    if shown is ReportFormat.HTML and len(evidence) == 1 and asked.profile is None:
        say_text(make_page(evidence[0]), out)
        return
    made = _judged(evidence, asked) if asked.profile is not None else Report(tuple(map(read_subject, evidence)))
    if shown is ReportFormat.GITHUB:
        write_summary(step_summary(made), out)
        say_text(annotate(made, asked.sources), None)
    else:
        writers: Mapping[ReportFormat, Callable[[], str]] = {
            ReportFormat.HTML: lambda: make_page(evidence[0], made),
            ReportFormat.MARKDOWN: lambda: step_summary(made),
            ReportFormat.JSON: lambda: write_json(made),
            ReportFormat.JUNIT: lambda: write_junit(made),
            ReportFormat.SARIF: lambda: write_sarif(made, asked.sources),
            ReportFormat.OSCAL: lambda: write_oscal(made, asked.date),
        }
        say_text(writers[shown](), out)
    if made.judgement is not None:
        raise typer.Exit(exit_code(made.judgement.verdict))


def _judged(evidence: Sequence[Evidence], asked: _Asked) -> Report:
    """What the evidence, and the tests that were run, show of the profile that was asked for, by name or file.

    Raises:
        Rejected: There is no such profile, it is invalid, or the tests cannot be read.
    """
    from specledger.kinds import load
    from specledger.report.junit_reader import read_tests
    from specledger.report.profile import judge
    from specledger.report.profile_rules import questions_of
    from specledger.report.readings import read_subject
    from specledger.report.results import Report

    tests = None if asked.tests is None else read_tests(asked.tests)
    profile = load(asked.profile or "", kind="profile")[0]
    questions = questions_of(profile)
    subjects = tuple(read_subject(one, questions) for one in evidence)
    return Report(subjects, judge(profile, subjects, asked.date, tests))


def say_text(text: str, out: Path | None = None) -> None:
    """Write a text of another program's form to a file, or to standard output."""
    if out is not None:
        out.write_text(text, encoding="utf-8", newline="\n")
    elif text:
        show.say(text.removesuffix("\n"))


def write_summary(text: str, out: Path | None = None) -> None:
    """Write the summary of a step where the user says, else where GitHub says, else nowhere."""
    given = os.environ.get("GITHUB_STEP_SUMMARY")
    if out is not None:
        out.write_text(text, encoding="utf-8", newline="\n")
    elif given:
        with Path(given).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
