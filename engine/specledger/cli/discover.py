"""`spec discover`: makes discoveries, each with a journal from which it resumes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import show
from specledger.cli.announcing import Log, Purpose, check_purpose, make_run
from specledger.cli.codes import E_INTERRUPTED
from specledger.cli.options import Format, Out, Shown, see_changes
from specledger.cli.sealing import Origin, Packed, Sign, Stamp, check_shared, seal_of
from specledger.core.diagnostics import Diagnostic, printable
from specledger.core.verdict import combine, exit_code

if TYPE_CHECKING:
    from specledger.kinds.running import Finished
    from specledger.load import Bundle

JOURNAL_SUFFIX: Final = ".journal.sqlite"
"""What the name of the evidence, without `.zip`, is extended by for the journal beside it."""


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """A discovery was interrupted, and what was done of it is kept; what to say of that."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


Discoveries = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Discoveries: files, or names of shipped ones.")
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=256, help="Processes that try laws.  [default: one for each processor]"),
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
        help="The SQLite file from which the discovery resumes.  "
        "[default: the place of the evidence, without .zip, and then .journal.sqlite]",
    ),
]
Record = Annotated[bool, typer.Option("--record", help="Ask what a cassette does not hold, and keep the answers.")]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry-failures", help="Ask again what failed on the way to the model, and do again what rests on it."
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a field of the resolved spec; may be repeated."),
]


def discover(  # noqa: PLR0913, PLR0917 - each is an option
    files: Discoveries,
    workers: Workers = None,
    iterations: Iterations = None,
    journal: JournalPath = None,
    out: Out = None,
    record: Record = False,
    retry: Retry = False,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    packed: Packed = False,
    log: Log = None,
    purpose: Purpose = None,
    overrides: Overrides = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Make discoveries, or resume them, and write their evidence."""
    from specledger.kinds import KINDS
    from specledger.kinds.running import DiscoveryOptions, RunOptions
    from specledger.pipeline.executing import place_cases
    from specledger.run.workers import available

    changes = [*(overrides or []), *([f"iterations={iterations}"] if iterations is not None else [])]
    see_changes(changes)
    cases = _load(files, changes, journal)
    seal = seal_of(sign, origin, timestamp)
    check_shared(seal, len(cases))
    check_purpose(log, purpose)
    finished = []
    for bundle, place in zip(cases, place_cases(cases, out, packed=packed), strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        kept = journal or _beside(place)
        discovery = DiscoveryOptions(str(kept), record, retry)
        options = RunOptions(workers or available(), seal=seal, discovery=discovery)
        try:
            finished.append(make_run(log, bundle, purpose, place, options))
        except KeyboardInterrupt:
            message = f"interrupted: finished steps are kept in {kept}"
            hint = "the same command resumes"
            raise Interrupted(Diagnostic(E_INTERRUPTED, message, hint=hint)) from None
        if shown is Format.HUMAN:
            text = KINDS[bundle.main.kind].run.show(finished[-1:])
            show.say("\n".join([text, *_journal_lines(bundle, kept, finished[-1])]))
    if shown is Format.JSON:
        show.say_json({"runs": [show.finished_json(one) for one in finished]})
    raise typer.Exit(exit_code(combine(one.verdict for one in finished)))


def _load(files: Sequence[str], changes: Sequence[str], journal: Path | None) -> tuple[Bundle, ...]:
    """The discoveries that are meant.

    Raises:
        typer.BadParameter: One is something else, or several would share a journal.
    """
    from specledger.kinds import KINDS
    from specledger.pipeline.checking import load_runs

    cases = load_runs(files, changes)
    wrong = [case for case in cases if not KINDS[case.main.kind].run.resumes]
    if wrong:
        raise typer.BadParameter(f"{wrong[0].main.name} is a {wrong[0].main.kind}: `spec run` runs it")
    if journal is not None and len(cases) > 1:
        raise typer.BadParameter("a journal holds one discovery: run each discovery with its own --journal")
    return cases


def _beside(place: Path) -> Path:
    """The journal beside the evidence; it is the same whether the evidence is packed or not."""
    from specledger.evidence.archive import SUFFIX

    return place.with_name(place.name.removesuffix(SUFFIX) + JOURNAL_SUFFIX)


def _journal_lines(bundle: Bundle, journal: Path, finished: Finished) -> list[str]:
    """The lines that say where the journal is, and what can be asked again."""
    from specledger.discovery.coordinator import UNASKED

    lines = [f"  journal  {printable(str(journal))}"]
    failures = [one["answer"]["failure"] for one in finished.told if one["type"] == "iteration"]
    unasked = sum(each in UNASKED for each in failures)
    if unasked and bundle.specs[bundle.main.refs["model",]].data.get("gemini") is not None:
        lines.append(f"  {unasked} answers failed on the way to the model: `--retry-failures` asks again")
    return lines
