"""`spec discover`: make discoveries, or resume them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.cli.codes import Interrupted
from specledger.cli.executors import executor_of
from specledger.cli.options import (
    UNREPLAYED,
    AllowOutside,
    ClusterAddress,
    Format,
    Log,
    Origin,
    Out,
    Overrides,
    Purpose,
    Replayed,
    Sign,
    Stamp,
    TextOrJson,
    check_changes,
    check_purpose,
    check_shared,
    seal_of,
)
from specledger.cli.output import print_error, print_json
from specledger.cli.run import Record, run_as_json, run_case, say
from specledger.core.diagnostics import printable
from specledger.core.verdict import combine, exit_code

if TYPE_CHECKING:
    from specledger.kinds.running import Finished
    from specledger.load import Bundle

JOURNAL_SUFFIX: Final = ".journal.sqlite"
"""The suffix of a journal beside the evidence, which has its name."""


Discoveries = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", autocompletion=completion.discoveries, help="Discoveries: files, or names of shipped ones."
    ),
]
TrialProcesses = Annotated[
    int | None, typer.Option(min=1, max=256, show_default="one for each processor", help="Processes that try laws.")
]
Iterations = Annotated[
    int | None,
    typer.Option(min=1, help="Replace the number of iterations; a finished discovery goes on to a greater one."),
]
JournalPath = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="PATH",
        show_default="the place of the evidence, and then .journal.sqlite",
        help="The SQLite file from which the discovery resumes.",
    ),
]
Retry = Annotated[
    bool, typer.Option("--retry-failures", help="Repeat requests that failed, and what depends on their answers.")
]


def discover(  # noqa: PLR0913, PLR0917 - each is an option
    files: Discoveries,
    workers: TrialProcesses = None,
    cluster: ClusterAddress = None,
    iterations: Iterations = None,
    journal: JournalPath = None,
    out: Out = None,
    record: Record = False,
    retry: Retry = False,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    replay: Replayed = False,
    log: Log = None,
    purpose: Purpose = None,
    overrides: Overrides = None,
    allow_outside: AllowOutside = False,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Make discoveries, or resume them, and write their evidence."""
    from specledger.evidence.seal import UNSIGNED
    from specledger.kinds.running import RunOptions
    from specledger.pipeline.executing import place_cases

    changes = [*(overrides or []), *([f"iterations={iterations}"] if iterations is not None else [])]
    check_changes(changes)
    cases = _load_discoveries(files, changes, journal, allow_outside)
    seal = seal_of(sign, origin, timestamp)
    check_shared(seal, len(cases))
    check_purpose(log, purpose)
    finished = []
    for bundle, folder in zip(cases, place_cases(cases, out), strict=True):
        folder.parent.mkdir(parents=True, exist_ok=True)
        path = journal or _beside(folder)
        if seal != UNSIGNED and not replay and path.exists():
            print_error(f"{printable(str(path))}: the steps that it holds are sealed {UNREPLAYED}")
        try:
            with executor_of(workers, cluster) as executor:
                options = RunOptions(executor, record=record, seal=seal, journal=str(path), retry=retry, replay=replay)
                finished.append(run_case(log, bundle, purpose, folder, options))
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: finished steps are kept in {path}") from None
        if format_ is Format.HUMAN:
            say(finished[-1:], *_journal_lines(bundle, path, finished[-1]))
    if format_ is Format.JSON:
        print_json({"runs": [run_as_json(run) for run in finished]})
    raise typer.Exit(exit_code(combine(run.ending for run in finished)))


def _load_discoveries(
    files: Sequence[str], changes: Sequence[str], journal: Path | None, allow_outside: bool
) -> tuple[Bundle, ...]:
    """Load discoveries; typer.BadParameter if one is something else, or several would share a journal."""
    from specledger.kinds import KINDS
    from specledger.pipeline.checking import load_runs

    cases = load_runs(files, changes, allow_outside=allow_outside)
    wrong = [case for case in cases if not KINDS[case.main.kind].run.resumes]
    if wrong:
        raise typer.BadParameter(f"{wrong[0].main.name} is a {wrong[0].main.kind}: `spec run` runs it")
    if journal is not None and len(cases) > 1:
        raise typer.BadParameter("a journal holds one discovery: run each discovery with its own --journal")
    return cases


def _beside(folder: Path) -> Path:
    """The journal beside the evidence."""
    return folder.with_name(folder.name + JOURNAL_SUFFIX)


def _journal_lines(bundle: Bundle, journal: Path, finished: Finished) -> Iterator[str]:
    """The path of the journal, and the number of requests that can be repeated."""
    from specledger.oracles.failures import UNASKED

    yield f"  journal  {printable(str(journal))}"
    failures = [receipt["answer"]["failure"] for receipt in finished.receipts if receipt["type"] == "iteration"]
    unasked = sum(failure in UNASKED for failure in failures)
    if unasked and bundle.specs[bundle.main.refs["model",]].data.get("gemini") is not None:
        yield f"  {unasked} answers failed on the way to the model: `--retry-failures` asks again"
