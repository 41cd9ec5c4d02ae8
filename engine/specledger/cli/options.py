"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How results are shown."""

    HUMAN = "human"
    JSON = "json"


class OutputFormat(StrEnum):
    """How findings and results are shown, also to other programs."""

    HUMAN = "human"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


def see_changes(changes: list[str] | None) -> list[str] | None:
    """See that no `--set` comes to nothing by a later one.

    Raises:
        Rejected: E_SET_TWICE.
    """
    if changes is not None and len(changes) > 1:
        from specledger.load.overrides import see_none_lost

        see_none_lost(changes)
    return changes


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Spec files, or names of shipped specs.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        callback=see_changes,
        help="Override a field of the resolved spec; may be repeated.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Where the evidence of a single case goes; several get a folder each in it.  [default: out/<case>]"
    ),
]
TrustAgent = Annotated[
    bool, typer.Option("--trust-agent", help="Execute the programs and functions that specs name as agents.")
]
Live = Annotated[bool, typer.Option("--live", help="Have each entry of the audit log on the disk before its action.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        help="Processes that share the runs of a suite, the work of a discovery, or the separate episodes of a run "
        "of at least 20,000 steps (2,000 an episode at most) and of its replay.  [default: one for each processor]",
    ),
]
Shown = Annotated[Format, typer.Option("--format", help="How results are shown.")]
ToldAs = Annotated[OutputFormat, typer.Option("--format", help="How results are shown.")]
