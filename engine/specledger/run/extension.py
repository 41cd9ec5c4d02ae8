"""What a wing adds to runs: the audit log of what its controllers decide."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic
from specledger.core.entries import Mode
from specledger.core.wing import part_of

if TYPE_CHECKING:
    from specledger.run.live_run import Log
    from specledger.run.watchdog import Ending

    class AuditLog(Log, Protocol):
        """An audit log that is open for one writer; `findings` warns of a torn line that was cut off."""

        findings: tuple[Diagnostic, ...]


class AuditLogs(Struct, frozen=True):
    """How audit logs are written.

    Attributes:
        open: `(path, mode)`: opens or makes a log whose folder exists; raises Rejected.
        record: `(path, mode, milliseconds per tick, ending)`: enters that the watchdog ended a run, in a closed log.
    """

    open: Callable[[Path, Mode], AbstractContextManager[AuditLog]]
    record: Callable[[Path, Mode, int, Ending], None]


def audit_logs() -> AuditLogs:
    """The part of the wing whose controllers make audit entries."""
    part: AuditLogs | None = part_of("audit_logs")
    assert part is not None  # noqa: S101 - the wing compiled the controller
    return part
