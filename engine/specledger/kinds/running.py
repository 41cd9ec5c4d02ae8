"""Running one bundle: the options, the result, and how a chain of events becomes evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, printable
from specledger.core.events import Event
from specledger.core.verdict import Verdict, combine
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import ReceiptKind
from specledger.evidence.recordings import recordings_of
from specledger.evidence.resume import identity_of
from specledger.evidence.seal import UNSIGNED, Seal
from specledger.kinds.case import case_name
from specledger.load import Bundle
from specledger.run.executor import Executor, Lost
from specledger.run.loop import WORTH
from specledger.run.scenario_run import Tell
from specledger.run.workers import ALONE

if TYPE_CHECKING:
    from specledger.oracles.model import Model
    from specledger.oracles.recording import Listener, Tape
    from specledger.verify.checks import Verification

Progress = Callable[[int, int], None]
"""Called with (what is done, what there is to do)."""


class RunOptions(Struct, frozen=True):
    """How a bundle is run.

    Attributes:
        executor: Where the runs of a suite, the episodes of a run and the work of a discovery are done. The evidence
            does not depend on it.
        trusted: Whether agents from outside may be executed.
        live: Whether each entry of the audit log is on the disk before its action, not only at the end of an episode.
        record: Whether a cassette asks its model for an answer that it does not hold, and keeps the answer.
        journal: The path of the journal of a discovery; None for one in memory.
        retry: Whether answers that failed on the way to the model are deleted, with the results that rest on them.
        tape: What was answered already, in place of asking an agent from outside.
        trajectories: Logs of a recorded agent, in place of those that it names.
        asked: Who answers questions about recorded calls, in place of the model that the agent names.
        resume: Whether to continue an unfinished run to the same place, and to keep this one if it ends early.
        events: What the run gave, if it was made already, by an executor that runs share.
        shard: `(i, n)`, if only the i-th of n parts is made: every n-th run of a suite, or a range of episodes.
        tell: Called with how much a resumed run takes over.
        replay: Whether the evidence is replayed before it is sealed, and sealed only if that gives the same bytes.
    """

    executor: Executor = ALONE
    trusted: bool = False
    live: bool = False
    record: bool = False
    seal: Seal = UNSIGNED
    journal: str | None = None
    retry: bool = False
    tape: Tape | None = None
    trial: Listener | None = None
    trajectories: tuple[Path, ...] = ()
    asked: Model | None = None
    resume: bool = False
    events: Iterable[Event] | None = None
    shard: tuple[int, int] | None = None
    tell: Tell | None = None
    replay: bool = False

    def taken(self, finished: int, wanted: int, what: str) -> None:
        """Say how much was finished before, if the run is a resumed one."""
        if self.resume and self.tell is not None:
            self.tell(finished, wanted, what)


class Incident(Struct, frozen=True):
    """One failure in a run.

    Attributes:
        what: The name of an invariant or a probe, or the code of an error.
        detail: The witness, the expression that failed, the cause of a probe, or the reasons of each proposal.
        offset: The character of the expression at which it failed.
        at: `file:line:column` of that, if it is known.
        rank: 0 for an error or a fatal breach, 1 for a failed probe, 2 for a warning.
        why: Why the expression has no value, with the values that led to it; None if that is not known.
    """

    episode: int
    t: int
    what: str
    detail: Any
    offset: int | None = None
    at: str | None = None
    rank: int = 0
    why: str | None = None

    def __str__(self) -> str:
        detail = self.detail if isinstance(self.detail, str) else canonical_bytes(self.detail).decode()
        location = "" if self.at is None else f"  ({self.at})"
        why = "" if self.why is None else f": {self.why}"
        return printable(f"episode {self.episode}, step {self.t}: {self.what}  {detail}{location}{why}")


class Finished(Struct, frozen=True):
    """A run that ended and whose evidence was written.

    Attributes:
        name: The name of the case.
        place: The folder of the bundle.
        incidents: The first failures: errors and fatal breaches, then failed probes, then warnings.
        receipts: The receipts that people are shown, each with its type and body in one mapping.
        replaced: Whether an earlier bundle was at the place.
        found: Warnings: a torn audit log of an earlier run, lost signatures.
        complete: Whether its evidence was there before, and nothing was run.
        replayed: What replay found before the evidence was sealed; None if it was not asked for.
        spec: The spec that was run, as data; empty where no text needs it.
        agents: The names of the agents that acted, joined by `+`; empty where no text needs them.
        goal: Whether its world has a goal.
        recorded: Whether its agents are recordings, which have trajectories and calls in place of episodes and steps.
    """

    name: str
    kind: str
    place: Path
    manifest: Mapping[str, Any]
    incidents: tuple[Incident, ...] = ()
    receipts: tuple[Mapping[str, Any], ...] = ()
    replaced: bool = False
    found: tuple[Diagnostic, ...] = ()
    complete: bool = False
    replayed: Verification | None = None
    spec: Mapping[str, Any] = {}
    agents: str = ""
    goal: bool = False
    recorded: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict of the result."""
        return Verdict(self.manifest["result"]["verdict"])

    @property
    def ending(self) -> Verdict:
        """The verdict of the result and of replay: the worse one."""
        return combine([self.verdict, *([] if self.replayed is None else [self.replayed.verdict])])


def bundle_writer(bundle: Bundle, folder: Path, kind: ReceiptKind) -> BundleWriter:
    """The writer of the evidence of a bundle."""
    digest = bundle.digest
    return BundleWriter(folder, run_id(digest), bundle.document(), digest, kind, sources=bundle.sources)


@contextmanager
def resumable_writer(
    bundle: Bundle, folder: Path, kind: ReceiptKind, options: RunOptions, steps: int | None = None
) -> Iterator[BundleWriter]:
    """The writer of evidence that is kept if the run ends early and that was asked for, or a worker was lost.

    A run of few steps (None: many) is begun again instead, unless one asks.
    """
    digest, wanted = bundle.digest, options.resume or steps is None or steps >= WORTH
    identity = identity_of(digest) if wanted else ""
    written = BundleWriter(
        folder,
        run_id(digest),
        bundle.document(),
        digest,
        kind,
        sources=bundle.sources,
        identity=identity,
        resume=options.resume,
    )
    with written as writer:
        try:
            yield writer
        except Lost:
            writer.keep = True
            raise


def write_events(
    bundle: Bundle, folder: Path, kind: ReceiptKind, options: RunOptions, events: Iterable[Event]
) -> Finished:
    """Write the evidence of a run that is one chain of events, all of which are shown."""
    receipts = []
    with bundle_writer(bundle, folder, kind) as writer:
        for event in events:
            writer.add(event)
            receipts.append({"type": event.type, **event.body})
        manifest = writer.finish(attach=options.seal.attach)
    return Finished(case_name(bundle), bundle.main.kind, folder, manifest, receipts=tuple(receipts))


def failed_calls(finished: Finished, runs: Iterable[str] = (".",)) -> str:
    """How many calls of a model failed in runs of a bundle, and why; empty if none did."""
    from specledger.report.unanswered import unanswered

    return unanswered(Path(finished.place, *run.split("/")) for run in runs)


def footer(finished: Finished) -> list[str]:
    """The last lines of the text about a run: the digests and the place of its evidence."""
    manifest, folder = finished.manifest, finished.place
    replaced = " (replaces an earlier bundle)" if finished.replaced else ""
    logs = recordings_of(folder, [entry["path"] for entry in manifest["files"]]).values()
    lines = [
        ("specs", manifest["specs"]),
        *(("recording", digest) for digest in logs),
        ("receipts", f"{manifest['receipts']['count']}, root {manifest['receipts']['root']}"),
        ("evidence", f"{printable(str(folder))}{replaced}"),
    ]
    width = max(len(name) for name, _ in lines)
    return [f"  {name:{width}} {text}" for name, text in lines]


def text_table(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table with a title and aligned columns; none if it has no rows."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]]) for row in rows
    ]
    return [f"  {title}", *(f"    {line}".rstrip() for line in lines)]


def claims_table(claims: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How many claims held by challenge, and what that does not show; nothing where no claim was tested."""
    if not claims:
        return []
    from specledger.report.held_claims import NO_PROOF, claims_words

    rows = [[printable(name), *claims_words(claim["held"], claim["tested"])] for name, claim in sorted(claims.items())]
    return [*text_table("claims that held", rows), f"  {NO_PROOF}"]
