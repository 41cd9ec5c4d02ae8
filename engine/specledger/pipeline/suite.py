"""How a suite is run: every run in some process, its evidence in its place, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from specledger.compile.scenario import compile_scenario
from specledger.compile.suite import DeferredPlan, compile_suite
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import SUITE
from specledger.evidence.seal import UNSIGNED
from specledger.load import Bundle
from specledger.pipeline.live import E_LIVE, SIMULATED, RunOptions, make_events
from specledger.run.workers import spread
from specledger.spec.base import Models
from specledger.suites.assessment import UNCOMPARED, assess
from specledger.suites.episodes import Episodes
from specledger.suites.measures import Samples
from specledger.verify.replay_selftest import try_replay
from specledger.verify.suite import outcome_of

Progress = Callable[[int, int], None]


def check_suite(bundle: Bundle) -> tuple[Diagnostic, ...]:
    """Compile a suite and every scenario that it runs, each of them once.

    Returns:
        The warnings.

    Raises:
        Rejected: With every finding.
    """
    plan = compile_suite(bundle)
    diagnostics = Diagnostics()
    seen = set()
    for _, case in plan.cases:
        model = case.bundle.main.model.model_copy(update={"seed": 0, "episodes": 1})
        alike = repr((model, case.bundle.main.refs))
        if alike not in seen:
            seen.add(alike)
            try:
                compile_scenario(case.bundle)
            except Rejected as rejected:
                diagnostics.extend(rejected.diagnostics)
    diagnostics.raise_if_errors()
    return plan.warnings


def execute_suite(
    bundle: Bundle,
    models: Models,
    place: Path,
    workers: int,
    progress: Progress | None = None,
    conduct: RunOptions = SIMULATED,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a suite and write its evidence; the same bytes for every number of workers.

    Args:
        bundle: The suite.
        models: The model of each kind.
        place: Where its bundle goes.
        workers: How many processes share the runs.
        progress: Called with (runs done, runs).
        conduct: Whether agents from outside are trusted, and what the evidence is covered with; a suite is never live.

    Returns:
        The manifest, and the bodies of the receipts with their types, for people.

    Raises:
        Rejected: If something does not compile, or the place cannot be written.
    """
    if conduct.live:
        raise Rejected([Diagnostic(E_LIVE, f"{bundle.main.name} is a suite", bundle.main.span("spec"))])
    deferred = DeferredPlan(bundle)
    plan = deferred.plan
    told = []
    specs, run = bundle.document(), run_id(bundle.digest)
    with BundleWriter(place, run, specs, bundle.digest, SUITE, sources=bundle.sources) as writer:
        outcomes = {}
        inner = replace(conduct, seal=UNSIGNED)  # its manifest covers them, and no key leaves this process
        make = partial(_make, str(writer.inside), deferred, models, inner)
        cases = plan.cases
        for number, outcome in enumerate(spread(make, range(len(cases)), workers)):
            if "rejected" in outcome:
                raise Rejected(outcome["rejected"])
            outcomes[cases[number][1].place] = outcome
            if progress is not None:
                progress(number + 1, len(cases))
        for event in assess(plan, outcomes):
            writer.add(event)
            told.append({"type": event.type, **event.body})
        manifest = writer.finish(sorted(case.place for _, case in cases), conduct.seal.attach)
    return manifest, told


def _make(folder: str, deferred: DeferredPlan, models: Models, conduct: RunOptions, number: int) -> dict[str, Any]:
    """Make one run of a suite, in whatever process this is; findings come back as values."""
    trial, case = deferred.plan.cases[number]
    place = Path(folder, *case.place.split("/"))
    place.parent.mkdir(parents=True, exist_ok=True)
    episodes, samples = Episodes(case.heading), Samples()
    wanted = trial.wanted(case)
    try:
        digest = case.bundle.digest
        with BundleWriter(place, run_id(digest), case.bundle.document(), digest) as writer:
            for event in make_events(case.bundle, writer, conduct, None):
                writer.add(event)
                episode = episodes.add(event.type, event.body)
                if episode is not None:
                    case.sampler.sample(episode, samples, wanted)
            manifest = writer.finish()
        replay = try_replay(place, models) if trial.replay else UNCOMPARED
    except Rejected as rejected:
        return {"rejected": list(rejected.diagnostics)}
    return outcome_of(manifest, replay, samples)
