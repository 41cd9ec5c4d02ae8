"""Verify and seal evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specledger.core.verdict import Verdict
from specledger.evidence.seal import UNSIGNED, seal_bundle
from specledger.kinds import KINDS
from specledger.run.executor import Executor
from specledger.run.workers import ALONE
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import verify_evidence
from specledger.verify.checks import Level, Verification
from specledger.verify.extension import verify_audit_log
from specledger.verify.reference import require_reference
from specledger.verify.runlog import is_runlog, verify_runlog

if TYPE_CHECKING:
    from specledger.evidence.seal import Seal


def verify(
    path: Path, *, replay: bool = True, executor: Executor = ALONE, reader: Reader | None = None
) -> Verification:
    """Verify the bundle in a folder, or the audit log or run log that a file is.

    A reader, if one is given, decides about replay.
    """
    reader = Reader(replay=replay) if reader is None else reader
    if reader.judge:
        require_reference()
    if not path.is_file():
        return verify_evidence(path, reader, KINDS, executor)
    verification = verify_runlog(path, reader.log_head) if is_runlog(path) else verify_audit_log(path)
    verification.ask(reader.asked - {Level.REPLAYED} | reader.levels)
    return verification


def seal_evidence(
    folder: Path, seal: Seal, *, replay: bool = False, executor: Executor = ALONE
) -> tuple[Verification, bool]:
    """Sign or stamp the bundle in a folder, unless a check fails, or a requested replay was not possible.

    Returns:
        The checks made before sealing, and whether they allow it; if not, nothing was written.
    """
    verification = verify(folder, replay=replay, executor=executor)
    allowed = verification.verdict is Verdict.PASS if replay else verification.intact
    if allowed and seal != UNSIGNED:
        seal_bundle(folder, seal)
    return verification, allowed
