"""The kind `discovery`: workers look for laws, and the evidence is written when the discovery has ended.

An interrupted discovery resumes from its journal; the evidence is the same as without the interruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected
from specledger.discovery.coordinator import Coordinator, forget_failures
from specledger.discovery.journal import Journal
from specledger.discovery.worker import Worker, asked_here, open_all
from specledger.evidence.kind import DISCOVERY as RECEIPTS
from specledger.evidence.layout import TAPE
from specledger.kinds.checks import check_discovery
from specledger.kinds.discovery_text import show_discoveries
from specledger.kinds.kind import Runnable, case_name
from specledger.kinds.running import Finished, Progress, RunOptions, bundle_writer
from specledger.kinds.scenario import listed
from specledger.load import Bundle
from specledger.oracles.failures import FAILURES, LASTING
from specledger.oracles.recording import write_answers
from specledger.spec.discovery import Discovery


def _execute(bundle: Bundle, place: Path, options: RunOptions, progress: Progress | None) -> Finished:
    """Run or resume a discovery; the evidence is the same for every executor.

    Raises:
        Rejected: Something does not compile, the journal or the place cannot be used, or the model cannot be asked. In
            the last case the evidence of what was done before is written.
    """
    workbench, planned = open_all(bundle)
    wanted, worker = options.discovery, Worker(bundle, options.record, workbench.plan)
    receipts: list[Mapping[str, Any]] = []
    with (
        bundle_writer(bundle, place, RECEIPTS) as writer,
        closing(Journal(wanted.journal, bundle.document())) as journal,
        options.executor.open(worker) as crew,
    ):
        if wanted.retry:
            forget_failures(workbench.plan, journal)
        asked = asked_here(worker, options.executor)
        coordinator = Coordinator(workbench, planned.identity, crew, journal, width=options.executor.width, ask=asked)
        for event in coordinator.events(progress):
            writer.add(event)
            receipts.append({"type": event.type, **event.body})
        if planned.outside:
            writer.put(TAPE, b"".join(write_answers(coordinator.answers)))
        manifest = writer.finish(attach=options.seal.attach)
    _refuse_lasting(manifest, place)
    found = Diagnostics()
    check_discovery(bundle, found)
    return Finished(
        case_name(bundle), bundle.main.kind, place, manifest, receipts=tuple(receipts), found=found.sorted()
    )


def _refuse_lasting(manifest: Mapping[str, Any], place: Path) -> None:
    """Refuse a discovery that stopped because its model cannot answer any request.

    Raises:
        Rejected: With the code of the failure.
    """
    result = manifest["result"]
    if result["stopped"] in LASTING:
        message = f"{place}: stopped after {result['iterations']} iterations, since every answer would be this one"
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


RUNNABLE: Final = Runnable(
    lambda bundle, _: open_all(bundle), RECEIPTS, _execute, _preview, show_discoveries, resumes=True
)
