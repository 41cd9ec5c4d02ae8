"""Preview and run cases, and record runs in a run log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic, Rejected, Severity, code
from specledger.core.events import Event
from specledger.evidence.chain import run_id
from specledger.evidence.layout import ENGINE, EVALUATOR, MANIFEST, RECEIPTS, SCENARIO, SPECS, TRAJECTORIES
from specledger.evidence.seal import UNSIGNED
from specledger.evidence.workplace import E_OUT_FOREIGN, covers_of, holds_bundle, replaceable
from specledger.kinds import KINDS, case_name
from specledger.kinds.running import Finished, Progress, RunOptions
from specledger.load import Bundle
from specledger.run.executor import Executor, spread
from specledger.run.workers import ALONE

OUT: Final = Path("out")
"""The folder of evidence unless the user names another one."""

MANY: Final = 32
"""Short runs for which processes are started; a start takes as long as about ten of them."""

W_COVER_LOST = code("W_COVER_LOST", "a signed bundle was replaced by an unsigned one")


def preview(bundle: Bundle) -> dict[str, Any]:
    """What running one case would do, as JSON values: `kind`, `name`, `case`, `digest`, and the figures of its kind."""
    main = bundle.main
    head = {"kind": main.kind, "name": main.name, "case": bundle.case, "digest": bundle.digest}
    return {**head, **KINDS[main.kind].run.preview(bundle)}


def place_cases(cases: Sequence[Bundle], out: Path | None) -> tuple[Path, ...]:
    """The evidence folder of each case: `out` itself for a single case, else a folder for each in `out`.

    Args:
        cases: The cases, whose names differ.
        out: The folder that the user named; by default `out/<case>`.
    """
    paths = (
        (out,) if out is not None and len(cases) == 1 else tuple((out or OUT) / case_name(bundle) for bundle in cases)
    )
    for folder in dict.fromkeys(path.parent for path in paths):
        if all((folder / name).is_file() for name in (MANIFEST, RECEIPTS, SPECS)):
            message = f"{folder} is a bundle, so nothing else can be written into it"
            raise Rejected([Diagnostic(E_OUT_FOREIGN, message, hint="name another folder by --out")])
    return paths


def execute(
    bundle: Bundle,
    folder: Path,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    *,
    announced: bool = False,
) -> Finished:
    """Run one case and write its evidence; an existing bundle in the folder is replaced at the end.

    A resumed run whose complete evidence is in the folder is read instead of run, unless a run log announced it.
    """
    late = options.seal == UNSIGNED or options.replay  # whether any seal is made after the run
    plain = late and options.shard is None and not options.live and not options.record
    if options.resume and plain and not announced:
        done = read_complete(bundle, folder, options.executor)
        if done is not None:
            return replay_and_seal(done, options)
    before, replaced = covers_of(folder), False
    with suppress(OSError):  # the writer reports a folder that cannot be used
        replaced = holds_bundle(folder)
    now = replace(options, seal=UNSIGNED) if options.replay else options
    finished = replace(KINDS[bundle.main.kind].run.execute(bundle, folder, now, progress), replaced=replaced)
    finished = replay_and_seal(finished, options)
    lost = sorted(before - covers_of(folder))
    if not lost:
        return finished
    message = f"the bundle that was at {folder} held {', '.join(lost)}; the one that is there now does not"
    hint = "name another --out to keep both; `spec seal` covers the new one"
    warning = Diagnostic(W_COVER_LOST, message, hint=hint, severity=Severity.WARNING)
    return replace(finished, found=(*finished.found, warning))


def replay_and_seal(finished: Finished, options: RunOptions) -> Finished:
    """Replay a finished run if the options ask for it, and seal it if replay gives the same bytes."""
    if not options.replay:
        return finished
    from specledger.pipeline.verifying import seal_evidence

    verification, _ = seal_evidence(finished.place, options.seal, replay=True, executor=options.executor)
    return replace(finished, replayed=verification)


def read_complete(bundle: Bundle, folder: Path, executor: Executor = ALONE) -> Finished | None:
    """Read the complete evidence in a folder; None unless it is of these specs, by this version, and intact.

    It passes the checks of `spec verify --no-replay`, so its result follows from its receipts. A symbolic link is not
    followed, since no run writes to one.
    """
    from specledger.verify.checks import Broken
    from specledger.verify.receipts import MALFORMED

    try:
        return _read_complete(bundle, folder, executor) if replaceable(folder) else None
    except (Broken, Rejected, OSError, *MALFORMED):
        return None


def _read_complete(bundle: Bundle, folder: Path, executor: Executor) -> Finished | None:
    from specledger.verify.checks import E_MANIFEST
    from specledger.verify.manifest import MAX_MANIFEST, read_document

    recorded = read_document(folder / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    made_by = {"specs": bundle.digest, "engine": ENGINE, "evaluator": EVALUATOR}
    if not isinstance(recorded, dict) or any(recorded.get(name) != value for name, value in made_by.items()):
        return None
    if (folder / TRAJECTORIES).exists():
        return None  # the logs may be others now
    from specledger.kinds.incidents import WorstIncidents, explained
    from specledger.verify.assurance_levels import Reader
    from specledger.verify.bundle import Refuted, open_evidence

    try:
        evidence, _ = open_evidence(folder, Reader(replay=False), KINDS, executor)
    except Refuted:
        return None
    finished = Finished(case_name(bundle), evidence.kind.receipts.name, folder, evidence.manifest, complete=True)
    if evidence.kind.receipts.name != SCENARIO:
        return replace(
            finished, receipts=tuple({"type": type_, **body} for type_, body in evidence.receipts.contents())
        )
    incidents = WorstIncidents()
    for receipt in evidence.receipts.contents():
        incidents.add(Event(*receipt))
    return replace(finished, incidents=explained(bundle, incidents.kept))


def share_runs(bundles: Sequence[Bundle], options: RunOptions) -> Iterator[RunOptions]:
    """The options of each run, in order; the executor makes short runs together, and their options hold the events."""
    works = {}
    for bundle in bundles:
        make, kind = KINDS[bundle.main.kind].run.work, bundle.main.kind
        if make is not None and kind not in works:
            own = [other for other in bundles if other.main.kind == kind]
            many = options.executor.remote or len(own) >= MANY
            works[kind] = spread(make(), own, options.executor if many else ALONE)
        yield options if make is None else replace(options, events=(Event(*fields) for fields in next(works[kind])))


def announce_run(log: Path, bundle: Bundle, purpose: str | None) -> tuple[int, tuple[Diagnostic, ...]]:
    """Announce a run in a run log; the run may begin only after this returns.

    Returns:
        The number of the attempt, and findings about the log.
    """
    from specledger.evidence.runlog import announce, attempt_of

    kind, digest = bundle.main.kind, bundle.digest
    seeds = KINDS[kind].run.seeds(bundle)
    return announce(log, attempt_of(kind, case_name(bundle), digest, run_id(digest), seeds, purpose))


def enter_result(log: Path, attempt: int, manifest: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Enter the result of an attempt in a run log; returns findings about the log."""
    from specledger.evidence.runlog import enter, result_of

    return enter(log, result_of(attempt, manifest))[1]
