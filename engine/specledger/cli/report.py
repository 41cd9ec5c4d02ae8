"""`spec report`: renders a report from evidence in one of the formats of `report.formats`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from datetime import date as calendar
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from specledger.cli import completion
from specledger.cli.codes import E_REPORT_PLACE
from specledger.cli.executors import process_count
from specledger.cli.output import diagnostics_text, print_error, print_status, write_output
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.core.verdict import Exit, exit_code
from specledger.evidence.keys import SigningKey, load_key
from specledger.evidence.layout import MANIFEST
from specledger.report.formats import FORMATS, Format, Options

PAGE: Final = "html"
MARKDOWN: Final = "markdown"
STATEMENTS: Final = "in-toto"
STANDARD_OUTPUT: Final = Path("-")
_PARTS: Final = re.compile(r"\d+|\D+")

if TYPE_CHECKING:
    from specledger.report.evidence import Evidence
    from specledger.report.model import Report
    from specledger.verify.checks import Verification
    from specledger.verify.trust import Trust

    ReportFormat = str
else:
    ReportFormat = StrEnum("ReportFormat", {name.upper(): name for name in FORMATS})

Policy = Annotated[
    str | None,
    typer.Option(
        metavar="PROFILE", autocompletion=completion.profiles, help="Judge the controls of a profile by this evidence."
    ),
]
Replay = Annotated[bool, typer.Option("--replay", help="Replay the runs and compare every byte.")]

TrustFile = Annotated[
    Path | None,
    typer.Option(
        "--trust", metavar="FILE", help="A trust.json: the keys that must have signed; never from the bundle."
    ),
]
NamedFormat = Annotated[
    ReportFormat | None,
    typer.Option("--format", show_default="by the name of --out, else markdown", help="The format of the report."),
]

TestResults = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JUnit XML of the tests that the profile names.")
]
SignStatements = Annotated[
    str | None,
    typer.Option(
        "--sign", metavar="KEY", help="Sign in-toto statements: the file of a private key, or env:NAME for a variable."
    ),
]


def report(  # noqa: PLR0913, PLR0917 - each is an option
    bundles: Annotated[
        list[Path],
        typer.Argument(metavar="BUNDLE...", autocompletion=completion.bundles, help="What `spec run` wrote."),
    ],
    named_format: NamedFormat = None,
    episode: Annotated[int, typer.Option(min=0, help="Which episode is drawn.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            show_default="standard output; BUNDLE.html of a page",
            help="The file to write, or the folder; - is standard output.",
        ),
    ] = None,
    profile: Policy = None,
    tests: TestResults = None,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Which day it is, for OSCAL and for waivers.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="The folder whose <kind>/<name>.yaml are the specs, for places in files.")
    ] = None,
    sign: SignStatements = None,
    replay: Replay = False,
    trust: TrustFile = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, show_default="one for each processor", help="Processes that check a suite's runs."
        ),
    ] = None,
) -> None:
    """Render a report of evidence whose chain and results are checked; runs are made again only with --replay."""
    from specledger.pipeline.reporting import ask, make_report
    from specledger.verify.trust import read_trust

    format_name = named_format or _format_of(out)
    format_, options = FORMATS[format_name], Options(_day(date), sources, episode, key=_key(sign, format_name))
    bundles = _bundles_to_report(bundles, out, format_)
    if not format_.several and (len(bundles) > 1 or profile is not None):
        raise typer.BadParameter(f"--format {format_name} takes one bundle and no profile")
    asked = ask(profile, tests)
    trusted = None if trust is None else read_trust(trust)
    evidence = open_all(bundles, workers, replay=replay, trust=trusted)
    result = make_report(evidence, asked, options.date)
    _write(result, format_, options, page_beside(bundles[0]) if format_name == PAGE and out is None else None, out)
    _end(result, replay=replay)


def _write(report: Report, format_: Format, options: Options, page: Path | None, out: Path | None) -> None:
    """Write a report to a page beside its bundle, which is named, or to `out`."""
    if page is not None:
        write_output(format_.write(report, options), page)
        print_status(f"wrote {printable(_shown(page))}")
    else:
        write_output(format_.write(report, options), None if out == STANDARD_OUTPUT else out)


def _format_of(out: Path | None) -> str:
    """The format that the name of a file stands for; Markdown where it stands for none."""
    ending = "" if out is None else out.suffix.lower()
    return next((name for name, format_ in FORMATS.items() if ending and format_.ending == ending), MARKDOWN)


def _end(report: Report, *, replay: bool) -> None:
    """End with the status of a profile, or of INCONCLUSIVE if a replay or signatures that were asked for lack."""
    from specledger.report.model import Replay as Replayed
    from specledger.verify.assurance_levels import Reached, signed_status
    from specledger.verify.check_names import REPLAY

    if report.judgement is not None:
        raise typer.Exit(exit_code(report.judgement.verdict))
    missing = [subject for subject in report.subjects if replay and subject.replay is not Replayed.DONE]
    for subject in missing:
        reasons = [check["message"] or "" for check in subject.verification if check["number"] == REPLAY.number]
        print_error(f"{printable(subject.title)}: the replay that was asked for was not made: {'; '.join(reasons)}")
    asked = [subject for subject in report.subjects if subject.evidence.trusting]
    open_ = [(subject, signed_status(subject.evidence.verification)) for subject in asked]
    unsigned = [(subject, status.why) for subject, status in open_ if status.status is not Reached.REACHED]
    for subject, why in unsigned:
        print_error(
            f"{printable(subject.title)}: signed by trusted keys was asked for, and is not shown: {printable(why)}"
        )
    if missing or unsigned:
        raise typer.Exit(Exit.INCONCLUSIVE)


def open_all(
    bundles: Sequence[Path],
    workers: int | None,
    *,
    replay: bool = False,
    own: Collection[Path] = (),
    trust: Trust | None = None,
) -> list[Evidence]:
    """Read bundles; a refuted one ends the command, with what is wrong and what to do next.

    `own` are the bundles that this command has just written.
    """
    from specledger.kinds import KINDS
    from specledger.report.evidence import read_evidence
    from specledger.verify.bundle import Refuted

    evidence, processes = [], process_count(workers)
    for bundle in bundles:
        try:
            opened = read_evidence(bundle, KINDS, processes, replay=replay, trust=trust)
            evidence.append(replace(opened, own=bundle in own))
        except Refuted as refuted:
            print_error(diagnostics_text([_altered(bundle, refuted.verification)]))
            raise typer.Exit(exit_code(refuted.verification.verdict)) from None
    return evidence


def _altered(bundle: Path, verification: Verification) -> Diagnostic:
    """Why nothing is said of a refuted bundle: its first check that failed."""
    failed = next(check for check in verification.checks if check.status == "failed")
    message = (
        f"{bundle} is refuted (altered, or never whole), so nothing of it is read: {failed.name}: {failed.message}"
    )
    hint = (
        f"`spec verify {shlex.quote(str(bundle))}` lists every check, and what the bundle claims; get the bundle again "
    )
    return Diagnostic(str(failed.code), message, hint=f"{hint}from who made it, or make it anew with `spec run`")


def bundles_in(path: Path) -> list[Path]:
    """The bundles in a folder that is not a bundle, in natural order of names; else the path itself."""
    if not path.is_dir() or (path / MANIFEST).exists():
        return [path]
    bundles = [folder for folder in path.iterdir() if (folder / MANIFEST).is_file()]

    def order(folder: Path) -> list[tuple[int, str]]:
        return [(int(part) if part.isdigit() else -1, part) for part in _PARTS.findall(folder.name)]

    return sorted(bundles, key=order) or [path]


def _bundles_to_report(paths: Sequence[Path], out: Path | None, format_: Format) -> list[Path]:
    """The bundles at the paths; Rejected if the output cannot be written to `out`."""
    several = format_.several and format_.folder
    out = None if out == STANDARD_OUTPUT else out
    bundles = [bundle for path in paths for bundle in (bundles_in(path) if several else [path])]
    for bundle in bundles:
        if out is not None and out.resolve().is_relative_to(bundle.resolve()):
            raise Rejected([Diagnostic(E_REPORT_PLACE, f"{out} is inside the bundle {bundle}")])
    message = None
    if format_.folder and out is None:
        message = "a folder of files needs --out, a new or an empty folder"
    elif format_.folder and out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        message = (
            f"{printable(str(out))} is {'not empty' if out.is_dir() else 'a file'}; --out is a new or an empty folder"
        )
    elif out is not None and out.is_dir() and not format_.folder:
        message = f"{printable(str(out))} is a folder; --out is a file, such as {printable(str(out / 'report'))}"
    if message is not None:
        raise Rejected([Diagnostic(E_REPORT_PLACE, message)])
    return bundles


def page_beside(bundle: Path) -> Path:
    """Where the page of a bundle is written: beside it, or beside the suite of a run; never inside a bundle."""
    own = bundle.resolve()
    outer = [folder for folder in own.parents if (folder / MANIFEST).exists()]
    return (outer[-1] if outer else own).with_name(own.name + ".html")


def _shown(path: Path) -> str:
    """A path, relative to the working directory where it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _key(source: str | None, format_name: str) -> SigningKey | None:
    """The key that signs the statements of a report; None where none is named."""
    if source is None:
        return None
    if format_name != STATEMENTS:
        raise typer.BadParameter(f"--sign is for --format {STATEMENTS}: it signs statements")
    return load_key(source)


def _day(text: str | None) -> str | None:
    try:
        if text is not None and calendar.fromisoformat(text).isoformat() != text:
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"{printable(text or '')} is no date like 2026-01-31") from None
    return text
