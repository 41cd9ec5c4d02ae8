"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.core.diagnostics import Diagnostic, Rejected

if TYPE_CHECKING:
    from specledger.evidence.seal import Seal


class Format(StrEnum):
    """Formats of commands whose results only people and scripts read."""

    HUMAN = "human"
    JSON = "json"


class OutputFormat(StrEnum):
    """Formats of commands whose results other tools read, too."""

    HUMAN = "human"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


def check_changes(changes: list[str] | None) -> list[str] | None:
    """Check that no `--set` is overwritten by a later one; Rejected as E_SET_TWICE."""
    if changes is not None and len(changes) > 1:
        from specledger.load.overrides import see_none_lost

        see_none_lost(changes)
    return changes


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        autocompletion=completion.runnable_specs,
        help="Spec files, names of specs, folders, or patterns such as 'specs/law/*.yaml'.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        callback=check_changes,
        help="Override a field of the resolved spec; may be repeated.",
    ),
]
AllowOutside = Annotated[
    bool,
    typer.Option("--allow-outside", help="Let references lead to files outside the project; evidence holds copies."),
]
CaseValues = Annotated[
    str | None,
    typer.Option(
        "--case",
        metavar="AXIS=VALUE,...",
        help="Only the cases of the matrix with these values, as their ids say them.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        show_default="out/<case>",
        help="The place of the evidence of a single case; several get a folder each in it.",
    ),
]
TrustAgent = Annotated[
    bool, typer.Option("--trust-agent", help="Execute the programs and functions that specs name as agents.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        show_default="one for each processor",
        help="Processes that share the runs of a suite, the work of a discovery, many laws, or the separate episodes "
        "of a run of at least 20,000 steps (2,000 an episode at most) and of its replay.",
    ),
]
Sign = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="Sign the evidence: the file of a private key, or env:NAME for a variable."),
]
Origin = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="specledger/{run}",
        help="The name of the log in the checkpoint; {run} in it is the run's identifier.",
    ),
]
Stamp = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Attach the response of a time-stamping authority (RFC 3161).")
]
Replayed = Annotated[
    bool, typer.Option("--replay", help="Replay the evidence and compare every byte; it is signed only if that passes.")
]
UNREPLAYED: Final = "without replay: what receipts say was not made again (`--replay` does that before)"
"""The notice before evidence is sealed that others may have written."""
Log = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="A run log: each run is announced in it, and its result entered."),
]
Purpose = Annotated[str | None, typer.Option(metavar="TEXT", help="The purpose of the run, for the run log.")]
TextOrJson = Annotated[Format, typer.Option("--format", help="The format of the results.")]
AnyFormat = Annotated[OutputFormat, typer.Option("--format", help="The format of the results.")]


ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Share the work among the workers of a Dask cluster: tcp://host:port of its scheduler, or local:N.",
    ),
]


def check_purpose(log: Path | None, purpose: str | None) -> None:
    """Check that a purpose can be entered in a log: there is one, and it is not too long."""
    if purpose is not None and (log is None or len(purpose) > 1000):
        raise typer.BadParameter("--purpose is entered in the file of --log, in at most 1000 characters")


def seal_of(sign: str | None, origin: str | None, timestamp: Path | None) -> Seal:
    """The signature and time stamp that the options ask for."""
    from specledger.evidence.checkpoint import ORIGIN, origin_of
    from specledger.evidence.keys import load_key
    from specledger.evidence.seal import Seal, read_timestamp_file

    if origin is not None and sign is None:
        raise typer.BadParameter("--origin is for a checkpoint, which is signed: name a key by --sign")
    if origin is not None:
        origin_of(origin, "0" * 32)
    stamp = None if timestamp is None else read_timestamp_file(timestamp)
    return Seal(None if sign is None else load_key(sign), origin or ORIGIN, stamp)


def check_shared(seal: Seal, bundles: int) -> None:
    """Check that one seal can cover several bundles; Rejected as E_ORIGIN or E_TIMESTAMP."""
    from specledger.evidence.checkpoint import E_ORIGIN
    from specledger.evidence.seal import E_TIMESTAMP

    if bundles < 2 or seal.shared:
        return
    if seal.timestamp is not None:
        raise Rejected([Diagnostic(E_TIMESTAMP, f"one time stamp cannot be over {bundles} manifests")])
    message = f"{bundles} runs are {bundles} logs, and {seal.origin} names one"
    raise Rejected([Diagnostic(E_ORIGIN, message, hint=f"--origin '{seal.origin}/{{run}}'")])
