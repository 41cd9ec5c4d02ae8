"""`spec golden` and `spec pin`: compare results with accepted ones, and accept them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli.codes import E_GOLDEN_DIFFERS, E_GOLDEN_NONE
from specledger.cli.options import Files, Format, TextOrJson, Workers, process_count
from specledger.cli.output import diagnostics_json, diagnostics_text, print_error, print_json, print_text
from specledger.core.diagnostics import Diagnostic
from specledger.core.verdict import Exit, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specledger.load import Bundle

PINNED: Final = Path("fixtures/golden")
"""The default folder of goldens."""

Folder = Annotated[Path, typer.Option("--dir", help="The folder of the goldens.")]


def golden(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Scenarios, suites, laws and discoveries; all of specs/scenario/ if none is named.",
        ),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept the current results.")] = False,
    folder: Folder = PINNED,
    workers: Workers = None,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Compare results with their pinned digests and receipts, or accept a change."""
    from specledger.pipeline.checking import load_runs

    named = files or sorted(str(path) for path in Path("specs/scenario").glob("*.yaml"))
    if not named:
        _end([], [Diagnostic(E_GOLDEN_NONE, "there is no specs/scenario/*.yaml here")], format_)
        raise typer.Exit(Exit.INCONCLUSIVE)
    compared, findings = [], []
    for case, finding in _compare(load_runs(named), update, folder, process_count(workers)):
        compared.append(case)
        findings += [] if finding is None else [finding]
        if format_ is Format.HUMAN:
            verdict = "" if case["verdict"] == Verdict.PASS else f", and its verdict is {case['verdict']}"
            print_text(f"{case['name']}: {case['pinned']}{verdict}")
    _end(compared, findings, format_)
    raise typer.Exit(Exit.FINDINGS if findings else Exit.CONFORMS)


def pin(files: Files, folder: Folder = PINNED, workers: Workers = None, format_: TextOrJson = Format.HUMAN) -> None:
    """Pin the current results for `spec golden`; short for its `--update`."""
    golden(list(files), update=True, folder=folder, workers=workers, format_=format_)


def _compare(
    bundles: Sequence[Bundle], update: bool, folder: Path, workers: int
) -> Iterator[tuple[dict[str, Any], Diagnostic | None]]:
    """Each case as JSON, with a finding if it differs from its pin and that is not accepted."""
    from specledger.pipeline.golden import NOT_PINNED, pin_matches
    from specledger.pipeline.golden import pin as pin_case

    for bundle in bundles:
        made = pin_case(bundle, workers)
        difference = pin_matches(made, folder)
        finding, word = None, "same"
        if difference is not None and update:
            made.write(folder)
            word = "accepted"
        elif difference is not None:
            accept = shlex.join(["spec", "golden", "--update", f"--dir={folder}", bundle.main.span("spec").file])
            finding = Diagnostic(E_GOLDEN_DIFFERS, f"{made.name}: {difference}", hint=f"to accept it: {accept}")
            word = "not pinned" if difference == NOT_PINNED else "differs"
        verdict = made.tree["result"]["verdict"]
        yield {"name": made.name, "pinned": word, "difference": difference, "verdict": verdict}, finding


def _end(compared: Sequence[dict[str, Any]], findings: Sequence[Diagnostic], format_: Format) -> None:
    """Print the comparison as JSON, and differences on standard error."""
    if format_ is Format.JSON:
        print_json({"compared": compared, "diagnostics": diagnostics_json(findings)})
    if findings:
        print_error(diagnostics_text(findings))
