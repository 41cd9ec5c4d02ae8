"""How the audit log of a run is written."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from specledger.core.entries import Mode, halt_event
from specledger.run.extension import AuditLogs
from specledger.run.watchdog import Ending
from specledger.wings.kernel.audit.log import AuditLog, record
from specledger.wings.kernel.documents.schemas import axion


def open_log(path: Path, mode: Mode) -> AuditLog:
    """Open or make a log whose entries are checked by their schema."""
    return AuditLog(path, mode, axion().check("audit_entry"))


def record_ending(path: Path, mode: Mode, ms_per_tick: int, ending: Ending) -> None:
    """Write the watchdog's entry, which is the one that replay makes from the recording."""
    record(
        path,
        mode,
        axion().check("audit_entry"),
        halt_event(ending.kind == "hang"),
        at_ms=ending.tick * ms_per_tick,
        proposal_hash=ending.proposal_hash,
        trace_hash=ending.trace_hash,
        codes=(ending.reason,),
    )


AUDIT_LOGS: Final = AuditLogs(open_log, record_ending)
