"""What speaks against the catch of a mutant: only unrelated checks noticed it, or its runs were shorter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specledger.core.diagnostics import counted
from specledger.evidence.receipts.suite import Mutant, Run

_REDUCED = ("suite", "arms", "scenarios", "under")
"""What of a mutant its control has, too."""


def doubts(mutant: Mutant, suite: Mapping[str, Any], runs: Sequence[Run]) -> list[str]:
    """The reasons why a catch may show less than it seems to; none for a mutant that survived.

    Args:
        mutant: Its receipt.
        suite: The resolved form of the suite.
        runs: The receipts of all runs, those of mutants and their controls included.
    """
    stated = {entry["id"]: entry for entry in suite.get("mutants", ())}
    entry = stated.get(mutant["mutant"])
    if entry is None or not mutant["caught"]:
        return []
    reasons = []
    meant = entry.get("by", [])
    if meant and not set(meant) & set(mutant["caught"]):
        reasons.append(f"only by checks that are not meant to notice it, which {', '.join(meant)} should")
    mutated = _steps(runs, f"mutants/{entry['id']}/")
    control = _steps(runs, _control_of(entry, suite))
    if mutated < control:
        steps = f"{counted(mutated, 'step')}, without the mutant {control}"
        reasons.append(f"its episodes are shorter ({steps}), which may be all that is noticed")
    return reasons


def _control_of(entry: Mapping[str, Any], suite: Mapping[str, Any]) -> str:
    """Where the runs of its control lie: mutants that are reduced alike have one."""
    reduced = [entry.get(key) for key in _REDUCED]
    if not any(reduced):
        return "runs/"
    same = (other for other in suite.get("mutants", ()) if [other.get(key) for key in _REDUCED] == reduced)
    return f"controls/{next(same)['id']}/"


def _steps(runs: Sequence[Run], folder: str) -> int:
    return sum(run["result"]["steps"] for run in runs if run["place"].startswith(folder))
