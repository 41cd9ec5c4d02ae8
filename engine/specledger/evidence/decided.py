"""How many challenges of runs were decided, which stands beside a verdict: a pass says nothing of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict

_MOST_NAMED: Final = 3


def challenges_of(results: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """By probe how many challenges the runs with these results made, and how many of them were decided."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for name, verdicts in result.get("probes", {}).items():
            sums = counts.setdefault(name, Counter(total=0, decided=0))
            sums["total"] += sum(verdicts.values())
            sums["decided"] += verdicts.get(Verdict.PASS, 0) + verdicts.get(Verdict.FAIL, 0)
    return {name: dict(sums) for name, sums in sorted(counts.items())}


def decided_words(challenges: Mapping[str, Mapping[str, int]]) -> str:
    """How many challenges were decided, of the probes that did not decide all of theirs; empty if there are none."""
    left_open = {name: counts for name, counts in challenges.items() if counts["decided"] < counts["total"]}
    if not left_open:
        return ""
    decided, total = (sum(counts[part] for counts in left_open.values()) for part in ("decided", "total"))
    more = f" and {len(left_open) - _MOST_NAMED} more" if len(left_open) > _MOST_NAMED else ""
    named = f"{', '.join([*left_open][:_MOST_NAMED])}{more}"
    return f": {decided} of {total} challenges decided ({named})"
