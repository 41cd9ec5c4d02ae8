"""What commands print of a verification."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from specledger.cli.output import with_short_digests
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict
from specledger.verify.assurance_levels import (
    NEVER_SHOWN,
    QUALIFIED,
    headline,
    level_statuses,
    result_of,
    unreached,
)
from specledger.verify.checks import Verification

_MARKS: Final = {"passed": "ok      ", "failed": "FAILED  ", "not made": "not run "}


def verification_text(path: Path, verification: Verification) -> str:
    """Every check, every level, and the verdict."""
    lines, noted = [], "runlog" in verification.facts  # whoever verifies a run log notes its head
    for check in verification.checks:
        detail = "" if check.message is None else f": {printable(check.message)}"
        prefix = f" [{check.code}]" if check.code else ""
        line = f"{check.number:2}. {_MARKS[check.status]} {check.name}{prefix}{detail}"
        lines.append(with_short_digests(line) if check.status == "passed" and not noted else line)
    for rung in level_statuses(verification):
        why = f": {printable(rung.why)}" if rung.status != "reached" or rung.level in QUALIFIED else ""
        lines.append(f"{rung.level} {rung.status:11} {rung.name}{why}")
    lines += [f"not checked: {item}" for item in verification.unchecked]
    lines += _meaning(verification)
    if verification.verdict is not Verdict.FAIL:
        lines += [f"never shown    {what}: {how}" for what, how in NEVER_SHOWN]
    return "\n".join([*lines, f"{printable(str(path))}: {headline(verification)}."])


def _meaning(verification: Verification) -> list[str]:
    """What the run itself found, which is another thing than what is verified; what was asked for and not reached."""
    result, claims = result_of(verification), verification.facts.get("claimed", {})
    lines = [] if result is None else [f"recorded       {result}: what the run found; verified is the evidence of it"]
    if "verdict" in claims:
        named = f"verdict {claims['verdict']}, run {claims['run']}, specs {claims['specs']}"
        lines.append(f"claimed        {named}: by its manifest; nothing of it is established")
    if "signed" in claims:
        lines.append(f"signed         {printable(claims['signed'])}")
    if verification.verdict is Verdict.INCONCLUSIVE:
        open_ = "; ".join(f"{status.level} ({printable(status.why)})" for status in unreached(verification))
        lines.append(f"not decided    asked for, and not reached: {open_}")
    return lines
