"""The options for a run log, and how a run is announced in it, made, and entered after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specledger.cli import show

if TYPE_CHECKING:
    from specledger.kinds.running import Finished, RunOptions
    from specledger.load import Bundle

Log = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="A run log: each run is announced in it, and its result entered."),
]
EnteredIn = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="The run log that it must be entered in.")
]
LogHead = Annotated[str | None, typer.Option(metavar="DIGEST", help="A head of the run log that you saw before.")]
Purpose = Annotated[str | None, typer.Option(metavar="TEXT", help="What the run is for; stands in the run log.")]


def check_purpose(log: Path | None, purpose: str | None) -> None:
    """See that a purpose has a log to stand in.

    Raises:
        typer.BadParameter: It has none, or is too long.
    """
    if purpose is not None and (log is None or len(purpose) > 1000):
        raise typer.BadParameter("--purpose stands in the file of --log, in at most 1000 characters")


def make_run(log: Path | None, bundle: Bundle, purpose: str | None, place: Path, options: RunOptions) -> Finished:
    """Announce a run if there is a log, make it, enter its result, and tell what was found on the way.

    Raises:
        Rejected: It cannot be announced, made or entered.
    """
    from specledger.cli.progress import progress_bar
    from specledger.pipeline.executing import execute

    attempt = _begin(log, bundle, purpose)
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, place, options, progress)
    _end(log, attempt, finished)
    if finished.found:
        show.complain(show.diagnostics_text(finished.found))
    return finished


def _begin(log: Path | None, bundle: Bundle, purpose: str | None) -> int | None:
    """Announce a run, if there is a log.

    Raises:
        Rejected: It cannot be announced, so it must not be run.
    """
    if log is None:
        return None
    from specledger.pipeline.executing import announce_run

    attempt, found = announce_run(log, bundle, purpose)
    if found:
        show.complain(show.diagnostics_text(found))
    return attempt


def _end(log: Path | None, attempt: int | None, finished: Finished) -> None:
    """Enter the result of an announced run.

    Raises:
        Rejected: It cannot be entered; the evidence is there, and the attempt stays without a result.
    """
    if log is None or attempt is None:
        return
    from specledger.pipeline.executing import enter_result

    found = enter_result(log, attempt, finished.manifest)
    if found:
        show.complain(show.diagnostics_text(found))
