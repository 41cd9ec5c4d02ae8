"""All that a scan says: its counts, its coverage, and what was asked for beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specledger.core.verdict import Verdict
from specledger.wings.trajectories.coverage import Coverage
from specledger.wings.trajectories.coverage_text import (
    coverage_document,
    coverage_text,
    misfits_document,
    misfits_text,
    mutants_document,
    mutants_text,
)
from specledger.wings.trajectories.mutants.mutation import Mutants
from specledger.wings.trajectories.scan import Scan
from specledger.wings.trajectories.scan_text import scan_document, scan_text
from specledger.wings.trajectories.tools.fit import Misfit


def scan_text_of(
    scan: Scan,
    policy: str,
    coverage: Coverage,
    mutants: Mutants | None,
    misfits: Sequence[Misfit] | None,
    *,
    quiet: bool = False,
) -> str:
    """A scan for people; if `quiet` its verdict, what is wrong, and what keeps it from PASS."""
    lines = [scan_text(scan, policy, quiet=quiet), *misfits_text(misfits or ())]
    if not (quiet and scan.verdict is Verdict.FAIL):
        lines += coverage_text(coverage)
    return "\n".join(lines if mutants is None else [*lines, "", *mutants_text(mutants)])


def scan_document_of(
    scan: Scan, policy: str, coverage: Coverage, mutants: Mutants | None, misfits: Sequence[Misfit] | None
) -> dict[str, Any]:
    """A scan as JSON values."""
    document = {**scan_document(scan, policy), "coverage": coverage_document(coverage)}
    if mutants is not None:
        document["mutants"] = mutants_document(mutants)
    return document if misfits is None else {**document, "misfits": misfits_document(misfits)}
