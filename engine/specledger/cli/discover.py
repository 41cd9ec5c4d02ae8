"""`spec discover`: a discovery by workers that share a store, from here or from other places."""

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
    from specledger.load import Bundle
    from specledger.pipeline import Finished, Sharing

STORE_SUFFIX: Final = ".store.sqlite"
"""What the store beside the evidence is called: as the evidence is, without `.zip`, and then this."""


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
    typer.Option(min=1, max=256, help="Processes that share the work.  [default: one for each processor]"),
]
Iterations = Annotated[
    int | None,
    typer.Option(min=1, help="Replace the number of iterations: another discovery, which needs another store."),
]
Store = Annotated[
    str | None,
    typer.Option(
        metavar="PATH|URL",
        help="The database that all workers share, wherever they are.  "
        "[default: the place of the evidence, without .zip, and then .store.sqlite]",
    ),
]
Record = Annotated[bool, typer.Option("--record", help="Ask what a cassette does not hold, and keep the answers.")]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry-failures", help="Ask again what failed on the way to the model, and do again what rests on it."
    ),
]
Lease = Annotated[
    float | None,
    typer.Option(min=0.2, max=3600, help="Seconds after which a lost worker's work is taken over.  [default: 15]"),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a field of the resolved spec; may be repeated."),
]


def discover(  # noqa: PLR0913, PLR0917 - each is an option
    files: Discoveries,
    workers: Workers = None,
    iterations: Iterations = None,
    store: Store = None,
    out: Out = None,
    record: Record = False,
    retry: Retry = False,
    lease: Lease = None,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    packed: Packed = False,
    log: Log = None,
    purpose: Purpose = None,
    overrides: Overrides = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Make discoveries, or go on with them, and write their evidence."""
    from specledger.pipeline import LEASE, RunOptions, Sharing, place_cases
    from specledger.run.workers import available

    changes = [*(overrides or []), *([f"iterations={iterations}"] if iterations is not None else [])]
    see_changes(changes)
    cases = _load(files, changes, store)
    seal = seal_of(sign, origin, timestamp)
    check_shared(seal, len(cases))
    check_purpose(log, purpose)
    finished = []
    for bundle, place in zip(cases, place_cases(cases, out, packed=packed), strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        sharing = Sharing(store or _beside(place), LEASE if lease is None else lease, record, retry)
        conduct = RunOptions(seal=seal, sharing=sharing)
        try:
            finished.append(make_run(log, bundle, purpose, place, workers or available(), conduct))
        except KeyboardInterrupt:
            message = f"interrupted: what was done is kept in {_shown(sharing)}"
            hint = "the same command goes on from there"
            raise Interrupted(Diagnostic(E_INTERRUPTED, message, hint=hint)) from None
        if shown is Format.HUMAN:
            show.say("\n".join([show.finished_text(finished[-1]), *_kept(bundle, sharing, finished[-1])]))
    if shown is Format.JSON:
        show.say_json({"runs": [show.finished_json(one) for one in finished]})
    raise typer.Exit(exit_code(combine(one.verdict for one in finished)))


def _load(files: Sequence[str], changes: Sequence[str], store: str | None) -> tuple[Bundle, ...]:
    """The discoveries that are meant.

    Raises:
        typer.BadParameter: One is something else, or several would share a store.
    """
    from specledger.pipeline import load_runs

    cases = load_runs(files, changes)
    wrong = [case for case in cases if case.main.kind != "discovery"]
    if wrong:
        raise typer.BadParameter(f"{wrong[0].main.name} is a {wrong[0].main.kind}: `spec run` runs it")
    if store is not None and len(cases) > 1:
        raise typer.BadParameter("a store holds one discovery: name one --store for each, in calls of their own")
    return cases


def _beside(place: Path) -> str:
    """The store beside the evidence; whether that is packed changes nothing about it."""
    from specledger.evidence.archive import SUFFIX

    return str(place.with_name(place.name.removesuffix(SUFFIX) + STORE_SUFFIX))


def _kept(bundle: Bundle, sharing: Sharing, finished: Finished) -> list[str]:
    """The lines that say where the store is, and what can be asked again."""
    from specledger.discovery.retry import UNASKED

    lines = [f"  store    {_shown(sharing)}"]
    failures = [one["answer"]["failure"] for one in finished.told if one["type"] == "iteration"]
    unasked = sum(each in UNASKED for each in failures)
    if unasked and bundle.specs[bundle.main.refs["model",]].data.get("gemini") is not None:
        lines.append(f"  {unasked} answers failed on the way to the model: `--retry-failures` asks again")
    return lines


def _shown(sharing: Sharing) -> str:
    """Where the store is, for people; a URL may hold a password."""
    store = sharing.store or ""
    return "the database" if "://" in store else printable(store)
