"""What the text of a run says of the rules of policies beside their counts."""

from __future__ import annotations

from collections.abc import Mapping

from specledger.core.diagnostics import printable
from specledger.evidence.receipts.recording import RuleCounts, is_open, why_unable


def idle_rules(rules: Mapping[str, RuleCounts]) -> list[str]:
    """The rules of which a verdict says nothing, since they had no opportunity, or can notice nothing."""
    never = [(name, counts["unable"]) for name, counts in rules.items() if "unable" in counts and is_open(counts)]
    idle = [name for name, counts in rules.items() if not any(counts.values())]
    lines = [f"  rules without an opportunity: {', '.join(map(printable, idle))}"] if idle else []
    return [*lines, *(f"  {printable(f'{name} {why_unable(unable)}')}" for name, unable in never)]
