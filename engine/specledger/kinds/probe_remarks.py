"""What is said of the probes of a run: their verdicts, and why they decided nothing and what to do.

A result has verdicts alone, so causes are counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from specledger.core.calibration import held_claims
from specledger.core.causes import Cause
from specledger.core.diagnostics import printable
from specledger.core.events import Event, owned
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe

_PROBE_COUNTS: Final = {"PASS": "passed", "FAIL": "failed", "INCONCLUSIVE": "inconclusive", "ERROR": "not evaluated"}


class ProbeTally(Struct):
    """What is counted of the probes of a run.

    Attributes:
        causes: How often each probe, under its name, was inconclusive for each cause.
        explained: The tested claims that did not hold, of which the declared procedure explains why.
        tested: All claims that were tested.
    """

    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    explained: int = 0
    tested: int = 0


def count_probe(tally: ProbeTally, event: Event) -> None:
    """Count the receipt of a probe."""
    probe = typed(Probe, event.body)
    satisfied, tested = held_claims(probe["evidence"])
    tally.tested += tested
    if probe["verdict"] != Verdict.INCONCLUSIVE:
        return
    tally.causes[owned(probe, probe["probe"]), probe["cause"] or ""] += 1
    if probe["cause"] == Cause.MISPREDICTED:
        tally.explained += tested - satisfied


def remarks(tally: ProbeTally, result: Mapping[str, Mapping[str, Mapping[str, int]]]) -> tuple[str, ...]:
    """Misses that a declared procedure explains; why probes decided nothing, and what to do."""
    from specledger.load.doc_pages import remedies
    from specledger.report.extension import meanings

    lines = []
    if tally.explained:
        lines.append(
            f"{tally.explained} of {tally.tested} tested claims did not hold; explained by the declared procedure"
        )
    probes = result.get("probes", {}).items()
    open_probes = {name for name, counts in probes if not any(map(counts.get, (Verdict.PASS, Verdict.FAIL)))}
    causes = Counter[str]()
    for (name, cause), times in tally.causes.items():
        causes.update({cause: times} if name in open_probes else {})
    if causes:
        cause, times = causes.most_common(1)[0]
        names = ", ".join(sorted(name for name, other in tally.causes if other == cause and name in open_probes))
        lines.append(f"why {names} decided nothing: {meanings().cause_text(cause, times)}")
        remedy = remedies().get(cause)
        lines += [] if remedy is None else [f"what to do: {remedy}"]
    return tuple(lines)


def probe_counts(probes: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How often each probe came to each verdict, in one line."""
    shown = [
        f"{printable(name)} "
        + ", ".join(f"{counts[verdict]} {word}" for verdict, word in _PROBE_COUNTS.items() if counts.get(verdict))
        for name, counts in sorted(probes.items())
    ]
    return ["  probes: " + "; ".join(shown)] if shown else []
