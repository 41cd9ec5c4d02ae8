"""How a discovery is run: workers that share a store, and the evidence of what is in it at the end.

Decides where the store is, and that evidence is written only of a discovery that has ended. What is interrupted goes on
with the same store; the evidence is the same as if it had not been.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Rejected, Severity
from specledger.core.events import Event
from specledger.discovery.codes import E_STORE_BROKEN, W_DISCOVERY_SCRAMBLED
from specledger.discovery.loop import retell
from specledger.discovery.pool import Job, open_all, work_all
from specledger.discovery.retry import forget_failures
from specledger.discovery.stored import UNFIT
from specledger.discovery.tape import write_answers
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import DISCOVERY
from specledger.evidence.layout import TAPE
from specledger.load import Bundle
from specledger.oracles.failures import FAILURES, LASTING
from specledger.spec.model import LanguageModel
from specledger.spec.prompt import Prompt

Progress = Callable[[int, int], None]
Attach = Callable[[Path], None]

LEASE: Final = 15.0
"""Seconds for which work is claimed unless somebody says otherwise; whoever works renews its lease."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the workers of a discovery share it.

    Attributes:
        store: A path or the URL of a database; None for one that goes when the run ends.
        lease: Seconds for which work is claimed.
        record: Whether a cassette asks its model what it does not hold, and keeps the answer.
        retry: Whether answers that failed on the way to the model are taken back, and what rests on them.
    """

    store: str | None = None
    lease: float = LEASE
    record: bool = False
    retry: bool = False


ALONE: Final = Sharing()


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
    sharing: Sharing = ALONE,
    attach: Attach | None = None,
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Make a discovery, or go on with it, and write its evidence; the same bytes for every number of workers.

    Args:
        bundle: The discovery.
        place: Where its bundle goes.
        workers: How many processes share the work.
        progress: Called with (steps done, steps at most).
        sharing: With whom else.
        attach: Covers the evidence before it is moved to its place.

    Returns:
        The manifest, and the bodies of the receipts with their types, for people.

    Raises:
        Rejected: If something does not compile, the store or the place cannot be used, or the model cannot be asked. If
            that was found out by asking, the evidence of what was done before is written.
    """
    from specledger.discovery.store import Store  # noqa: PLC0415 - a database opens no door

    workbench, planned = open_all(bundle)
    run = run_id(bundle.digest)
    told: list[Mapping[str, Any]] = []
    with (
        BundleWriter(place, run, bundle.document(), bundle.digest, DISCOVERY, sources=bundle.sources) as writer,
        _placed(sharing.store) as where,
        closing(Store(where, bundle.digest, sharing.lease)) as store,
    ):
        if sharing.retry:
            forget_failures(workbench.plan, store)
        work_all(Job(bundle, where, sharing.lease, sharing.record), store, workers, progress)
        for event in retell(workbench, planned.identity, store):
            _add(writer, event, store.shown)
            told.append({"type": event.type, **event.body})
        if planned.outside:
            asked = sum(one["type"] == "iteration" for one in told)
            kept = [pair for pair in store.answers() if pair[0] < asked]
            writer.put(TAPE, b"".join(write_answers(kept)))
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
        hint = (
            "the evidence of what was done is there; mend what is wrong, and `spec discover --retry-failures` goes on"
        )
        raise Rejected([Diagnostic(FAILURES[result["stopped"]], message, hint=hint)])


def _add(writer: BundleWriter, event: Event, shown: str) -> None:
    """Write what a store told, if it has the form of a receipt.

    Raises:
        Rejected: E_STORE_BROKEN, if it has not; or what the writer says.
    """
    try:
        writer.add(event)
    except UNFIT as error:
        message = f"{shown}: a result of it gives no receipt: {type(error).__name__}: {error}"
        raise Rejected([Diagnostic(E_STORE_BROKEN, message)]) from None


@contextmanager
def _placed(store: str | None) -> Iterator[str]:
    """Where the store is; a temporary one goes when the context is left."""
    if store is not None:
        yield store
        return
    with tempfile.TemporaryDirectory(prefix="specledger-") as folder:
        yield str(Path(folder) / "store.sqlite")
