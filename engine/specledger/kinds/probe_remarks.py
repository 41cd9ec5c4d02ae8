"""What is said of the probes of runs: their verdicts, and why they decided nothing and what to do.

A result has verdicts alone, so causes are counted here, from the receipts: the same for a run, a resumed one, the
shards of one, and the runs of a suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.causes import partly_words
from specledger.core.diagnostics import printable
from specledger.core.events import owned
from specledger.core.verdict import Verdict
from specledger.evidence.layout import RECEIPTS
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Asked, Probe
from specledger.kinds.running import Finished

_NOT_ASKED: Final[Asked] = {"asked": 0, "changed": 0}
_OFTEN: Final = 10  # challenges: one of so many may be chance, of an agent that draws
_PROBE_COUNTS: Final = {"PASS": "passed", "FAIL": "failed", "INCONCLUSIVE": "inconclusive", "ERROR": "not evaluated"}


class ProbeTally(Struct):
    """What is counted of the probes of runs.

    Attributes:
        causes: Of each probe that decided nothing in a run, how often it was inconclusive for each cause.
        claims: The claims that were `tested`, and those that did not hold and that the declared procedure explains.
    """

    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)

    def add(self, result: Mapping[str, Any], probes: Iterable[Mapping[str, Any]]) -> None:
        """Take a run: its result, and the bodies of the receipts of its probes."""
        for claims in result.get("claims", {}).values():
            self.claims.update(claims)
        for body in probes:
            probe = typed(Probe, body)
            name = owned(probe, probe["probe"])
            if probe["verdict"] == Verdict.INCONCLUSIVE and _decided_nothing(result["probes"][name]):
                self.causes[name, probe["cause"] or ""] += 1


def _decided_nothing(counts: Mapping[str, int]) -> bool:
    return not any(map(counts.get, (Verdict.PASS, Verdict.FAIL)))


def run_remarks(finished: Finished) -> list[str]:
    """What the probes of a finished run leave to do."""
    folder, result = finished.place, finished.manifest["result"]
    from specledger.report.held_claims import doubts_told

    doubts = doubts_told(result.get("claims", {}))
    return [*remarks_of([(folder, result)]), *doubts, *(_asked_again(folder) if "probes" in result else ())]


def _asked_again(folder: Path) -> list[str]:
    """That an agent often never gave its decision again, or gave another answer though it says it draws nothing.

    What is asked is then another thing than what the agent did. Nothing is known where the evidence was dropped.
    """
    from specledger.report.evidence import bodies_in

    decisions = never = broken = 0
    for _, body in bodies_in(folder, "probe") if (folder / RECEIPTS).exists() else ():
        evidence = typed(Probe, body)["evidence"]
        null = evidence.get("null", _NOT_ASKED)
        decisions += null["asked"] > 0
        never += 0 < null["asked"] == null["changed"]
        broken += bool(evidence.get("deterministic")) and null["changed"] > 0
    lines = []
    if never * _OFTEN > decisions:
        times = f"in {never} of {decisions} challenges the agent, asked the same again, never gave its decision"
        lines.append(f"{times}: what it said then, and what passed, is not about what it did")
    if broken:
        times = f"{broken} of {decisions} challenges gave another answer to the same question"
        says = f"the agent says that it draws nothing (`deterministic`), and in {times}"
        lines.append(f"{says}: leave that out, and claim what it does most often")
    return lines


def remarks_of(runs: Iterable[tuple[Path, Mapping[str, Any]]]) -> list[str]:
    """What the probes of runs leave to do, read from their evidence: folders and results. Empty if they leave nothing.

    Of a run whose evidence was dropped nothing is known but its result.
    """
    from specledger.report.evidence import bodies_in

    tally = ProbeTally()
    for folder, result in runs:
        left_open = any(map(_decided_nothing, result.get("probes", {}).values()))
        there = left_open and (folder / RECEIPTS).exists()
        tally.add(result, (body for _, body in bodies_in(folder, "probe")) if there else ())
    return remarks(tally)


def remarks(tally: ProbeTally) -> list[str]:
    """Misses that a declared procedure explains; why probes decided nothing, and what to do."""
    from specledger.load.doc_pages import remedies
    from specledger.report.extension import meanings
    from specledger.report.held_claims import explained_text

    lines = [*filter(None, [explained_text(tally.claims)])]
    causes = Counter[str]()
    for (_, cause), times in tally.causes.items():
        causes[cause] += times
    if causes:
        cause, times = causes.most_common(1)[0]
        names = ", ".join(sorted(name for name, other in tally.causes if other == cause))
        lines.append(f"why {names} decided nothing: {meanings().cause_text(cause, times)}")
        remedy = remedies().get(cause)
        lines += [] if remedy is None else [f"what to do: {remedy}"]
    return lines


def probe_counts(finished: Finished) -> list[str]:
    """How often each probe of a run came to each verdict, in one line; with causes where one decided only sometimes."""
    probes: Mapping[str, Mapping[str, int]] = finished.manifest["result"]["probes"]
    causes = _causes_of_some(finished.place, probes)
    shown = [
        f"{printable(name)} " + (printable(partly_words(counts, causes[name])) or _counts(counts))
        for name, counts in sorted(probes.items())
    ]
    return ["  probes: " + "; ".join(shown)] if shown else []


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in _PROBE_COUNTS.items() if counts.get(verdict))


def _causes_of_some(folder: Path, probes: Mapping[str, Mapping[str, int]]) -> Mapping[str, Counter[str]]:
    """Why the probes were inconclusive that also decided, from the receipts; empty where these were dropped."""
    from specledger.report.evidence import bodies_in

    causes: dict[str, Counter[str]] = {name: Counter() for name in probes}
    some = {
        name for name, counts in probes.items() if counts.get(Verdict.INCONCLUSIVE) and not _decided_nothing(counts)
    }
    if some and (folder / RECEIPTS).exists():
        for _, body in bodies_in(folder, "probe"):
            probe = typed(Probe, body)
            name = owned(probe, probe["probe"])
            if name in some and probe["verdict"] == Verdict.INCONCLUSIVE:
                causes[name][probe["cause"]] += 1
    return causes
