"""The kind `law`: one law of a universe, proved, refuted or tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import counted, printable
from specledger.core.events import Event
from specledger.evidence.receipts import typed
from specledger.kinds import KINDS
from specledger.kinds.kind import Runnable
from specledger.kinds.running import Finished, Progress, RunOptions, text_table, write_events
from specledger.load import Bundle
from specledger.load.from_document import bundle_from_document
from specledger.run.executor import Work
from specledger.wings.laws.compile import Checked, compile_law
from specledger.wings.laws.receipts import Judged, LawStatus, Verdict
from specledger.wings.laws.result import LAW as RECEIPTS
from specledger.wings.laws.trial import meets, run_law
from specledger.wings.laws.verdict import REASONS, status_text


def _events(bundle: Bundle) -> Iterator[Event]:
    return run_law(compile_law(bundle))


class LawRuns(Work):
    """The runs of laws: of each bundle the type and the body of its events."""

    entry = "laws"

    def __init__(self) -> None:
        self._checked: Checked = {}

    def __call__(self, item: Bundle) -> list[tuple[str, Any]]:
        """Run a law."""
        return [event[:2] for event in run_law(compile_law(item, self._checked))]

    def sent(self, item: Bundle) -> dict[str, Any]:
        """The specs of a law."""
        return item.document()

    def document(self) -> dict[str, Any]:
        """Nothing: each item has its own specs."""
        return {}


def _execute(bundle: Bundle, folder: Path, options: RunOptions, progress: Progress | None) -> Finished:
    return write_events(bundle, folder, RECEIPTS, options, options.events or _events(bundle))


def _preview(bundle: Bundle) -> dict[str, Any]:
    plan = compile_law(bundle)
    law = plan.law
    return {
        "universe": bundle.specs[bundle.main.refs["universe",]].name,
        "template": law.template.name,
        "seed": law.seed,
        "cases": law.cases,
        "mutations": law.mutations,
        "T": bundle.main.model.model_dump()["quantifiers"]["T"],
        "unknown": None if law.unknown is None else f"{law.unknown.reason} ({law.unknown.detail})",
        "expected": None if plan.expected is None else dict(plan.expected),
    }


def _show(runs: Sequence[Finished]) -> str:
    rows = [["law", "status", "expected", "rests on", "claim"]]
    reasons = []
    for receipt in (receipt for law in runs for receipt in law.receipts if receipt["type"] == "verdict"):
        judged = typed(Judged, receipt)
        verdict, expected = judged["verdict"], judged["expected"]
        status = status_text(verdict)
        wanted = "" if expected is None else "met" if meets(verdict, expected) else f"MISSED: {status_text(expected)}"
        rows.append(
            [printable(verdict["law"]), status, wanted, printable(_ground(verdict)), printable(verdict["claim"])]
        )
        if verdict["status"] not in (LawStatus.PROVED, LawStatus.FAIL):
            reasons.append(printable(f"  not proved: {verdict['law']}, {_why(verdict)}"))
    places = sorted({str(law.place.parent) for law in runs})
    where = str(runs[0].place) if len(runs) == 1 else ", ".join(places)
    return "\n".join([*text_table("laws", rows), *reasons, f"  evidence {printable(where)}"])


def _total(runs: Sequence[Finished]) -> str:
    """How many laws ended with each status, and how many of them otherwise than expected."""
    results = [law.manifest["result"] for law in runs]
    counts = ", ".join(
        f"{number} {status}"
        for status, number in Counter(case_result["status"] for case_result in results).most_common()
    )
    met = Counter(case_result["met"] for case_result in results)
    open_ = f", {met[None]} without an expected status" if met[None] else ""
    rest = f"{met[False]} not as expected{open_}" if met[False] or open_ else "all as expected"
    return f"{counted(len(runs), 'law')}: {counts}; {rest}"


def _ground(verdict: Verdict) -> str:
    """The ground of a verdict, in a few words."""
    counterexample = verdict["counterexample"]
    if counterexample is not None:
        return f"{counterexample['start']} at {counterexample['t']}"
    if verdict["method"] == "proof":
        return "a certificate"
    return "nothing" if verdict["power"] is None else f"{verdict['power']['hits']} hits"


def _why(verdict: Verdict) -> str:
    """Why a law is neither proved nor refuted: how it was tried, on what, and why that was all."""
    power, reason, up_to, detail = verdict["power"], verdict["reason"], verdict["up_to"], verdict["detail"]
    if verdict["status"] == LawStatus.ERROR:
        return str(detail)
    said = ["not tried" if verdict["method"] == "none" else "tried on cases"]
    if power is not None:
        said[0] += f" ({power['usable']} of {power['cases']} usable, {power['hits']} hits)"
    if up_to is not None:
        said.append(f"proved for rings of up to {up_to} cells")
    because = [text for text in (reason and REASONS[reason], detail) if text]
    return "; ".join([*said, *because] if power is not None else [*said, ": ".join(because)])


RUNNABLE: Final = Runnable(
    compile_law, RECEIPTS, _execute, _preview, _show, events=_events, work=LawRuns, table=True, total=_total
)


def laws_work(_document: Mapping[str, Any]) -> Callable[[Any], Any]:
    """What a worker of a cluster does with a law's specs."""
    runs = LawRuns()
    return lambda item: runs(bundle_from_document(item, KINDS))
