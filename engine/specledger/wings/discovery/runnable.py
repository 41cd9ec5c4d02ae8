"""The kind `discovery`: workers look for laws, and the evidence is written when the discovery has ended.

An interrupted discovery resumes from its journal; the evidence is the same as without the interruption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, printable
from specledger.evidence.layout import TAPE
from specledger.evidence.receipts import typed
from specledger.kinds.case import case_name
from specledger.kinds.kind import Runnable
from specledger.kinds.running import Finished, Progress, RunOptions, bundle_writer, footer
from specledger.kinds.scenario import listed
from specledger.load import Bundle
from specledger.oracles.failures import FAILURES, LASTING
from specledger.oracles.recording import write_answers
from specledger.wings.discovery.check import check_discovery
from specledger.wings.discovery.coordinator import Coordinator, forget_failures
from specledger.wings.discovery.journal import Journal
from specledger.wings.discovery.receipts import Iteration, Ledger, TriedLaw
from specledger.wings.discovery.report import claim_text, trials_of
from specledger.wings.discovery.result import DISCOVERY as RECEIPTS
from specledger.wings.discovery.spec.discovery import Discovery
from specledger.wings.discovery.worker import Worker, asked_here, open_all
from specledger.wings.laws.receipts import ACCEPTED, LawStatus


def _execute(bundle: Bundle, folder: Path, options: RunOptions, progress: Progress | None) -> Finished:
    """Run or resume a discovery; the evidence is the same for every executor.

    If the model cannot be asked any more, the evidence of what was done before is written, and then that is refused.
    """
    workbench, planned = open_all(bundle)
    worker = Worker(bundle, options.record, workbench.plan)
    receipts: list[Mapping[str, Any]] = []
    with (
        bundle_writer(bundle, folder, RECEIPTS) as writer,
        closing(Journal(options.journal, bundle.document())) as journal,
        options.executor.open(worker) as crew,
    ):
        if options.retry:
            forget_failures(workbench.plan, journal)
        asked = asked_here(worker, options.executor)
        coordinator = Coordinator(workbench, planned.identity, crew, journal, width=options.executor.width, ask=asked)
        for event in coordinator.events(progress):
            writer.add(event)
            receipts.append({"type": event.type, **event.body})
        if planned.outside:
            writer.put(TAPE, b"".join(write_answers(coordinator.answers)))
        manifest = writer.finish(attach=options.seal.attach)
    _refuse_lasting(manifest, folder)
    diagnostics = Diagnostics()
    check_discovery(bundle, diagnostics)
    return Finished(
        case_name(bundle), bundle.main.kind, folder, manifest, receipts=tuple(receipts), found=diagnostics.sorted()
    )


def _refuse_lasting(manifest: Mapping[str, Any], folder: Path) -> None:
    """Refuse a discovery that stopped because its model cannot answer any request, with the code of the failure."""
    result = manifest["result"]
    if result["stopped"] in LASTING:
        message = f"{folder}: stopped after {result['iterations']} iterations, since every answer would be this one"
        hint = "the evidence of what was done is there; fix the cause, and resume with `spec discover --retry-failures`"
        raise Rejected([Diagnostic(FAILURES[result["stopped"]], message, hint=hint)])


def _preview(bundle: Bundle) -> dict[str, Any]:
    open_all(bundle)
    model, refs = bundle.main.model, bundle.main.refs
    assert isinstance(model, Discovery)  # noqa: S101 - the table of kinds calls this for discoveries only
    return {
        **{role: bundle.specs[refs[role,]].name for role in ("universe", "model", "prompt", "ranking")},
        "seed": model.seed,
        "iterations": model.iterations,
        "most_laws": model.iterations * model.request.count,
        "templates": [bundle.specs[key].name for key in listed(bundle, bundle.root, "templates")],
        "trial": model.trial.model_dump(),
        "escalation": model.escalation.model_dump(),
        "expect": [bundle.specs[key].name for key in listed(bundle, bundle.root, "expect")],
    }


MOST: Final = 40
"""Lines of a list; the report has all of them."""


def _text(finished: Finished) -> str:
    result = finished.manifest["result"]
    trials = ", ".join(f"{count} {what}" for what, count in trials_of(result).items()) or "no law"
    lines = [
        f"{printable(finished.name)}  {result['verdict']}  {result['iterations']} iterations, "
        f"{result['evaluations']} evaluations: {trials}; stopped by {result['stopped']}",
        f"  {result['rejected']} proposals rejected, {result['redundant']} redundant, "
        f"{result['failures']} answers failed{_reasons(finished.receipts)}, {result['tokens']} tokens",
    ]
    accepted, refuted, undecided = _found(finished.receipts)
    lines += _listed("accepted", accepted)
    lines += _listed("refuted, by which ring and when", refuted)
    lines += _listed("undecided, and why", undecided)
    for law, match in result["expected"].items():
        lines.append(f"  expected {printable(law)}: {'found' if match else 'NOT FOUND'}")
    return "\n".join([*lines, *footer(finished)])


def _reasons(receipts: Sequence[Mapping[str, Any]]) -> str:
    """Why answers failed and how often, in brackets; nothing if none did."""
    failures = Counter(
        typed(Iteration, receipt)["answer"]["failure"] for receipt in receipts if receipt["type"] == "iteration"
    )
    del failures[None]
    shown = ", ".join(f"{count} {reason}" for reason, count in sorted(failures.items()))
    return f" ({shown})" if shown else ""


def _found(receipts: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """A line for each accepted law, for each refuted one, and for each of which nothing can be said."""
    latest: dict[str, tuple[str, str, str]] = {}
    refuted: list[str] = []
    for receipt in receipts:
        tried = typed(TriedLaw, receipt)
        verdict = tried["verdict"] if receipt["type"] in ("law", "escalation") and tried.get("late") is None else None
        if verdict is not None:
            why = ": ".join(part for part in (verdict["reason"], verdict["detail"]) if part)
            law = f"{verdict['law']}: {claim_text(tried['document'], verdict['claim'])}"
            latest[tried["law"]] = verdict["status"], law, why
        elif receipt["type"] == "ledger":
            lines = typed(Ledger, receipt)["refuted"]
            refuted += [f"{line['start']} at {line['t']}  {latest[line['law']][1]}" for line in lines]
    accepted = [f"{status:6} {law}" for status, law, _ in latest.values() if status in ACCEPTED]
    return accepted, refuted, [f"{why}  {law}" for status, law, why in latest.values() if status == LawStatus.UNKNOWN]


def _listed(title: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    more = [f"    and {len(rows) - MOST} more"] if len(rows) > MOST else []
    return [f"  {title}:", *(f"    {printable(row)}" for row in rows[:MOST]), *more]


RUNNABLE: Final = Runnable(
    lambda bundle, _: open_all(bundle),
    RECEIPTS,
    _execute,
    _preview,
    lambda runs: "\n".join(map(_text, runs)),
    resumes=True,
)
