"""How a run is entered in a run log: announced before it is made, its result after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specledger.compile.suite import seeds_of
from specledger.core.diagnostics import Diagnostic
from specledger.evidence.chain import run_id
from specledger.evidence.runlog import announce, attempt_of, enter, result_of
from specledger.load import Bundle
from specledger.pipeline.stages import case_name


def announce_run(log: Path, bundle: Bundle, purpose: str | None) -> tuple[int, tuple[Diagnostic, ...]]:
    """Enter in a log that a case will be run; only when this returns may it be.

    Args:
        log: The log's file.
        bundle: The case, which compiles.
        purpose: What it is for, in the user's words.

    Returns:
        The number of the attempt, and what was found in the log.

    Raises:
        Rejected: E_RUNLOG, E_RUNLOG_UNWRITABLE.
    """
    kind, digest = bundle.main.kind, bundle.digest
    attempt = attempt_of(kind, case_name(bundle), digest, run_id(digest), seeds_of(bundle), purpose)
    return announce(log, attempt)


def enter_result(log: Path, attempt: int, manifest: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Enter what came of an attempt; what was found in the log is returned.

    Raises:
        Rejected: E_RUNLOG, E_RUNLOG_UNWRITABLE.
    """
    return enter(log, result_of(attempt, manifest))[1]
