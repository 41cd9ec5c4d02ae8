"""Runs a discovery with its journal, and writes the evidence when it has ended.

An interrupted discovery resumes from its journal; the evidence is the same as without the interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Rejected, Severity
from specledger.discovery.codes import W_DISCOVERY_SCRAMBLED
from specledger.discovery.coordinator import Coordinator, forget_failures
from specledger.discovery.journal import Journal
from specledger.discovery.worker import Worker, open_all
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import DISCOVERY
from specledger.evidence.layout import TAPE
from specledger.load import Bundle
from specledger.oracles.failures import FAILURES, LASTING
from specledger.oracles.recording import write_answers
from specledger.run.workers import Pool
from specledger.spec.model import LanguageModel
from specledger.spec.prompt import Prompt

Progress = Callable[[int, int], None]
Attach = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """How a discovery is run.

    Attributes:
        journal: The path of its journal; None for one in memory.
        record: Whether a cassette asks its model for an answer that it does not hold, and keeps the answer.
        retry: Whether answers that failed on the way to the model are deleted, with the results that rest on them.
    """

    journal: str | None = None
    record: bool = False
    retry: bool = False


NO_OPTIONS: Final = DiscoveryOptions()


def check_discovery(bundle: Bundle) -> tuple[Diagnostic, ...]:
    """Compile a discovery with its model, prompt and ranking.

    Returns:
        What was found and does not stop it.

    Raises:
        Rejected: With the findings of the first of them that has any.
    """
    open_all(bundle)
    return tuple(_scrambled(bundle))


def _scrambled(bundle: Bundle) -> Iterator[Diagnostic]:
    """That a prompt exchanges what laws speak of, and that the answers, which are fixed, speak of it as it is."""
    key, prompt = bundle.main.refs["model",], bundle.specs[bundle.main.refs["prompt",]].model
    while ("cassette", "records") in bundle.specs[key].refs:
        key = bundle.specs[key].refs["cassette", "records"]
    model = bundle.specs[key].model
    assert isinstance(prompt, Prompt)  # noqa: S101 - a reference's kind was checked when it was resolved
    assert isinstance(model, LanguageModel)  # noqa: S101 - likewise
    if prompt.scramble and model.gemini is None:
        message = f"the prompt exchanges {' and '.join(prompt.scramble)}, and {bundle.specs[key].name} does not read it"
        hint = "name another prompt, unless the answers are written in what it exchanges them for"
        span = bundle.main.span("prompt")
        yield Diagnostic(W_DISCOVERY_SCRAMBLED, message, span, hint=hint, severity=Severity.WARNING)


def execute_discovery(
    bundle: Bundle,
    place: Path,
    workers: int,
    progress: Progress | None = None,
    options: DiscoveryOptions = NO_OPTIONS,
    attach: Attach | None = None,
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Make a discovery, or resume it, and write its evidence; the same bytes for every number of workers.

    Args:
        bundle: The discovery.
        place: Where its bundle goes.
        workers: How many processes try laws.
        progress: Called with (steps done, steps at most).
        options: How it is run.
        attach: Covers the evidence before it is moved to its place.

    Returns:
        The manifest, and the bodies of the receipts with their types, for people.

    Raises:
        Rejected: If something does not compile, the journal or the place cannot be used, or the model cannot be asked.
            If that was found out by asking, the evidence of what was done before is written.
    """
    workbench, planned = open_all(bundle)
    run = run_id(bundle.digest)
    told: list[Mapping[str, Any]] = []
    with (
        BundleWriter(place, run, bundle.document(), bundle.digest, DISCOVERY, sources=bundle.sources) as writer,
        closing(Journal(options.journal, bundle.document())) as journal,
        Pool(Worker(bundle, options.record, workbench.plan), workers) as pool,
    ):
        if options.retry:
            forget_failures(workbench.plan, journal)
        coordinator = Coordinator(workbench, planned.identity, pool, journal, width=workers)
        for event in coordinator.events(progress):
            writer.add(event)
            told.append({"type": event.type, **event.body})
        if planned.outside:
            writer.put(TAPE, b"".join(write_answers(coordinator.answers)))
        manifest = writer.finish(attach=attach)
    _refuse_lasting(manifest, place)
    return manifest, told


def _refuse_lasting(manifest: Mapping[str, Any], place: Path) -> None:
    """A discovery that stopped because no question can be answered is a matter for its user.

    Raises:
        Rejected: With the code of the failure.
    """
    result = manifest["result"]
    if result["stopped"] in LASTING:
        message = f"{place}: stopped after {result['iterations']} iterations, since every answer would be this one"
        hint = "the evidence of what was done is there; fix the cause, and resume with `spec discover --retry-failures`"
        raise Rejected([Diagnostic(FAILURES[result["stopped"]], message, hint=hint)])
