"""What commands print of a verification."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from specledger.cli.output import with_short_digests
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict
from specledger.evidence.decided import decided_words
from specledger.verify.assurance_levels import (
    NEVER_SHOWN,
    QUALIFIED,
    headline,
    level_statuses,
    result_of,
    unexpected,
    unreached,
)
from specledger.verify.checks import Verification
from specledger.verify.established import compared_words, signer_words

_MARKS: Final = {"passed": "ok      ", "failed": "FAILED  ", "not made": "not run ", "nothing to check": "nothing "}


def verification_text(path: Path, verification: Verification) -> str:
    """Every check, every level, and the verdict."""
    lines, compared = [], "recorded" in verification.facts  # what readers compare stands whole below the checks
    for check in verification.checks:
        detail = "" if check.message is None else f": {printable(check.message)}"
        prefix = f" [{check.code}]" if check.code else ""
        line = f"{check.number:2}. {_MARKS[check.status]} {check.name}{prefix}{detail}"
        lines.append(with_short_digests(line) if compared and check.status == "passed" else line)
    for rung in level_statuses(verification):
        why = f": {printable(rung.why)}" if rung.status != "reached" or rung.level in QUALIFIED else ""
        lines.append(f"{rung.level} {rung.status:11} {rung.name}{why}")
    lines += [f"not checked: {item}" for item in verification.unchecked]
    lines += _meaning(verification)
    if verification.verdict is not Verdict.FAIL:
        lines += [f"never shown    {what}: {how}" for what, how in NEVER_SHOWN]
    return "\n".join([*lines, f"{printable(str(path))}: {headline(verification)}."])


def _meaning(verification: Verification) -> list[str]:
    """What the run itself found, which is another thing than what is verified; who signed; what the exit code says."""
    facts, result = verification.facts, result_of(verification)
    challenges = printable(decided_words(facts.get("recorded", {}).get("challenges", {})))
    found = "what the run found; verified is the evidence of it"
    lines = [] if result is None else [f"recorded       {result}{challenges}: {found}"]
    if "recorded" in facts:
        lines.append(f"to compare     {compared_words(facts['recorded'])}")
    if "signers" in facts:
        lines.append(f"signed         {printable(signer_words(facts['signers']))}")
    claims = facts.get("claimed", {})
    if "verdict" in claims:
        lines.append(f"claimed        verdict {claims['verdict']}, {compared_words(claims)}: its manifest says so")
    if "signed" in claims:
        lines.append(f"signed         {printable(claims['signed'])}")
    return [*lines, _exit_words(verification)]


def _exit_words(verification: Verification) -> str:
    """The exit code of the command in words."""
    if unexpected(verification):
        return (
            "exit code 1    no check found it changed, but it is not the evidence that your trust file names: "
            "ask for the right bundle, or correct the trust file"
        )
    if verification.verdict is Verdict.FAIL:
        return "exit code 1    a check failed: rely on nothing that is in it, not even where other checks passed"
    if verification.verdict is Verdict.PASS:
        levels = f": {', '.join(sorted(verification.asked))}" if verification.asked else ""
        return f"exit code 0    all that was asked for is shown{levels}"
    open_ = "; ".join(f"{status.level} ({printable(status.why)})" for status in unreached(verification))
    return f"exit code 3    no check failed, but something that was asked for is not shown: {open_}"
