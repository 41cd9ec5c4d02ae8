"""The executor of a command: local processes or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from specledger.cli.output import diagnostics_text, print_error
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.wing import E_WING, missing_wings, wings

if TYPE_CHECKING:
    from specledger.run.executor import Executor


@contextmanager
def executor_of(workers: int | None, cluster: str | None) -> Iterator[Executor]:
    """The executor that options name: processes, or a cluster, whose warnings about workers are printed at the end."""
    from specledger.run.workers import Processes

    if cluster is None:
        yield Processes(process_count(workers))
        return
    if workers is not None:
        raise typer.BadParameter("--workers are processes of this machine; a cluster has its own")
    connect = next((wing.cluster for wing in wings() if wing.cluster is not None), None)
    if connect is None:
        raise Rejected([Diagnostic(E_WING, "no wing connects to a cluster", hint=missing_wings() or None)])
    with connect()(cluster) as connected:
        try:
            yield connected
        finally:
            if connected.found:
                print_error(diagnostics_text(connected.found))


def process_count(workers: int | None) -> int:
    """The number of processes that `--workers` asks for; by default one for each processor."""
    from specledger.run import workers as processes

    return workers or processes.available()
