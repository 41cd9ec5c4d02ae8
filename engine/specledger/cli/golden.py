"""`spec golden`: compares results with accepted ones, and accepts them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli import completion
from specledger.cli.codes import E_GOLDEN_NONE
from specledger.cli.executors import process_count
from specledger.cli.options import AllowOutside, AnyFormat, OutputFormat, Workers
from specledger.cli.output import (
    diagnostics_json,
    diagnostics_text,
    print_error,
    print_json,
    print_status,
    print_text,
    write_findings,
)
from specledger.core.diagnostics import Diagnostic
from specledger.core.verdict import Exit, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specledger.load import Bundle

PINNED: Final = Path("fixtures/golden")
"""The folder of goldens in a project."""
_SAME: Final = "same"
_ACCEPTED: Final = "accepted"

Folder = Annotated[
    Path | None, typer.Option("--dir", show_default="fixtures/golden of the project", help="The folder of the goldens.")
]


def golden(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            autocompletion=completion.runnable_specs,
            help="Scenarios, suites, laws and discoveries; all of specs/scenario/ of the project and all "
            "that is pinned if none is named.",
        ),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept the current results.")] = False,
    folder: Folder = None,
    workers: Workers = None,
    allow_outside: AllowOutside = False,
    format_: AnyFormat = OutputFormat.HUMAN,
) -> None:
    """Compare results with their pinned digests and receipts, or accept a change."""
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.golden import pinned_names

    named = files or _scenarios()
    goldens = _goldens_folder(named, folder)
    pinned = [] if files else pinned_names(goldens)
    missing = _missing([*named, *pinned], named, folder, update)
    if missing is not None:
        _end([], [missing], format_)
        raise typer.Exit(Exit.INCONCLUSIVE)
    bundles = load_runs(named, allow_outside=allow_outside)
    more, findings = _pinned(bundles, pinned, goldens, allow_outside)
    compared = []
    for case, finding in _compare((*bundles, *more), update, goldens, process_count(workers)):
        compared.append(case)
        findings += [] if finding is None else [finding]
        if format_ is OutputFormat.HUMAN:
            verdict = "" if case["verdict"] == Verdict.PASS else f", and its verdict is {case['verdict']}"
            (print_text if finding else print_status)(f"{case['name']}: {case['pinned']}{verdict}")
    _end(compared, findings, format_)
    raise typer.Exit(Exit.FINDINGS if findings else Exit.CONFORMS)


def _scenarios() -> list[str]:
    """The scenarios of the working folder's project."""
    from specledger.load.library import project_of, show

    return sorted(show(path) for path in ((project_of(Path()) or Path()) / "specs/scenario").glob("*.yaml"))


def _goldens_folder(named: Sequence[str], folder: Path | None) -> Path:
    """The named folder, else the one of the project of the first file, or of the working folder."""
    from specledger.load.library import is_file, project_of, show

    if folder is not None:
        return folder
    first = Path(named[0]) if named and is_file(Path(named[0])) else Path("none")
    return Path(show((project_of(first.parent) or Path()) / PINNED))


def _pinned(
    bundles: Sequence[Bundle], pinned: Sequence[str], folder: Path, allow_outside: bool
) -> tuple[tuple[Bundle, ...], list[Diagnostic]]:
    """The other pinned cases, and a finding for each pin that has no spec or no case."""
    from specledger.kinds import case_name
    from specledger.load.library import show
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.golden import E_GOLDEN_DIFFERS, pinned_spec

    names = {case_name(bundle) for bundle in bundles}
    specs = [pinned_spec(name, folder) for name in pinned if name not in names]
    files = sorted({show(file) for file in specs if file is not None})
    more = tuple(bundle for bundle in load_runs(files, allow_outside=allow_outside) if case_name(bundle) not in names)
    names |= {case_name(bundle) for bundle in more}
    findings = []
    for name in (name for name in pinned if name not in names):
        hint = f"name its file, or remove {folder / name}.json and {folder / name}.jsonl"
        findings.append(Diagnostic(E_GOLDEN_DIFFERS, f"{name}: pinned, but there is no such spec", hint=hint))
    return more, findings


def _missing(all_: Sequence[str], named: Sequence[str], folder: Path | None, update: bool) -> Diagnostic | None:
    """A finding if nothing can be compared."""
    if not all_:
        return Diagnostic(E_GOLDEN_NONE, "there is no specs/scenario/*.yaml in the project", hint="name a file")
    if folder is None or update or folder.is_dir():
        return None
    return Diagnostic(E_GOLDEN_NONE, f"there is no folder {folder}", hint=f"to make it: {_accept(folder, named)}")


def _accept(folder: Path, named: Sequence[str]) -> str:
    return shlex.join(["spec", "golden", "--update", f"--dir={folder}", *named])


def _compare(
    bundles: Sequence[Bundle], update: bool, folder: Path, workers: int
) -> Iterator[tuple[dict[str, Any], Diagnostic | None]]:
    """Each case as JSON, with a finding if it differs from its pin and that is not accepted."""
    from specledger.pipeline.golden import E_GOLDEN_DIFFERS, NOT_PINNED, pin_matches
    from specledger.pipeline.golden import pin as pin_case

    for bundle in bundles:
        current = pin_case(bundle, workers)
        difference = pin_matches(current, folder)
        finding, word = None, _SAME
        if difference is not None and update:
            current.write(folder)
            word = _ACCEPTED
        elif difference is not None:
            span = bundle.main.span("spec")
            hint = f"to accept it: {_accept(folder, [span.file])}"
            finding = Diagnostic(E_GOLDEN_DIFFERS, f"{current.name}: {difference}", span, hint=hint)
            word = "not pinned" if difference == NOT_PINNED else "differs"
        verdict = current.tree["result"]["verdict"]
        yield {"name": current.name, "pinned": word, "difference": difference, "verdict": verdict}, finding


def _end(compared: Sequence[dict[str, Any]], findings: Sequence[Diagnostic], format_: OutputFormat) -> None:
    """Print the comparison for programs, and differences on standard error."""
    if format_ is OutputFormat.JSON:
        print_json({"compared": compared, "diagnostics": diagnostics_json(findings)})
    elif format_ is not OutputFormat.HUMAN:
        same = [f"{case['name']}: {case['pinned']}" for case in compared if case["pinned"] in (_SAME, _ACCEPTED)]
        write_findings(format_, findings, same, about="specledger/golden")
    if findings:
        print_error(diagnostics_text(findings))
