"""The kind `suite`: many runs of scenarios, and the figures, checks and mutants that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from specledger.compile.suite import DeferredPlan, compile_suite, seeds_of_suite
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.disk import make_folders
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import SUITE as RECEIPTS
from specledger.evidence.resume import identity_of
from specledger.evidence.transport import InvalidFiles, read_files, sync_files, write_files
from specledger.kinds.case import case_name
from specledger.kinds.finished_runs import E_CLUSTER_RESULT, fault_of, read_finished, remove_unfinished, take_runs
from specledger.kinds.kind import Runnable
from specledger.kinds.running import (
    Finished,
    Progress,
    RunOptions,
    bundle_writer,
    resumable_writer,
)
from specledger.kinds.scenario_events import E_LIVE, scenario_events
from specledger.kinds.shard_merging import read_shards
from specledger.kinds.shards import write_shard
from specledger.kinds.suite_options import refuse
from specledger.kinds.suite_preview import suite_preview
from specledger.kinds.suite_text import own_results, suite_claims, suite_remarks, suite_text
from specledger.load import Bundle
from specledger.report.specs import all_recorded
from specledger.run.executor import Work, spread
from specledger.run.workers import here
from specledger.spec.base import SpecKinds
from specledger.suites.assessment import UNCOMPARED, assess
from specledger.suites.episodes import Episodes
from specledger.suites.measures import Samples
from specledger.suites.plan import SuitePlan
from specledger.verify.run import try_replay
from specledger.verify.suite_runs import outcome_of


def _execute(bundle: Bundle, folder: Path, options: RunOptions, progress: Progress | None) -> Finished:
    """Run a suite; the evidence is the same for every executor."""
    if options.live:
        raise Rejected([Diagnostic(E_LIVE, f"{bundle.main.name} is a suite", bundle.main.span("spec"))])
    deferred = DeferredPlan(bundle)
    cases = [case for _, case in deferred.plan.cases]
    first, step = options.shard or (1, 1)
    own = range(first - 1, len(cases), step)
    with resumable_writer(bundle, folder, RECEIPTS, options) as writer:
        read = read_finished(writer.inside, deferred, own, here(options.executor)) if options.resume else ()
        outcomes = {case.place: known for case, known, fault in read if fault is None}
        remove_unfinished(writer.inside, cases, outcomes)
        options.taken(len(outcomes), len(own), "run")
        runs = SuiteRuns(str(writer.inside), deferred, options.trusted, options.record, options.resume)
        todo = [number for number in own if cases[number].place not in outcomes]
        for number, outcome in zip(todo, spread(runs, todo, options.executor), strict=True):
            outcomes[cases[number].place] = outcome
            if progress is not None:
                progress(len(outcomes), len(own))
        remove_unfinished(writer.inside, cases, outcomes, working=False)
        if options.shard is not None:
            return write_shard(writer, bundle, options.shard, len(own), len(cases), "run")
        return _assessed(bundle, folder, options, writer, deferred.plan, outcomes)


def merge(folders: Sequence[Path], kinds: SpecKinds, folder: Path, options: RunOptions) -> Finished:
    """Merge the shards of a suite into its evidence; nothing is run."""
    shards, bundle = read_shards(folders, kinds)
    deferred = DeferredPlan(bundle)
    with bundle_writer(bundle, folder, RECEIPTS) as writer:
        outcomes = take_runs(shards, deferred, writer.inside)
        return _assessed(bundle, folder, options, writer, deferred.plan, outcomes)


def _assessed(
    bundle: Bundle,
    folder: Path,
    options: RunOptions,
    writer: BundleWriter,
    plan: SuitePlan,
    outcomes: Mapping[str, Any],
) -> Finished:
    """Write what follows from the runs, and finish."""
    receipts = []
    for event in assess(plan, outcomes):
        writer.add(event)
        receipts.append({"type": event.type, **event.body})
    manifest = writer.finish(sorted(case.place for _, case in plan.cases), options.seal.attach)
    known = case_name(bundle), bundle.main.kind, folder, manifest
    recorded = all(all_recorded(case.bundle) for _, case in plan.cases)
    return Finished(*known, receipts=tuple(receipts), spec=bundle.main.data, recorded=recorded)


@dataclass(frozen=True)
class SuiteRuns(Work):
    """The runs of a suite, each written as a bundle; a cluster returns each bundle as one file.

    No key is needed: the suite is signed as a whole.

    Attributes:
        folder: Where the runs are written.
        trusted, record, resume: As in `RunOptions`.
    """

    entry = "suite"

    folder: str
    deferred: DeferredPlan
    trusted: bool
    record: bool
    resume: bool = False

    def __call__(self, item: int) -> dict[str, Any]:
        """Run the case of a number."""
        trial, case = self.deferred.plan.cases[item]
        folder = self.place(item)
        make_folders(folder.parent)
        episodes, samples = Episodes(case.heading, case.truth), Samples()
        wanted, left = trial.wanted(case), self.deferred.plan.values_of_run
        options = RunOptions(trusted=self.trusted, record=self.record)
        digest = case.bundle.digest
        document, identity = case.bundle.document(), identity_of(digest)
        with BundleWriter(folder, run_id(digest), document, digest, identity=identity, resume=self.resume) as writer:
            for event in scenario_events(case.bundle, writer, options, None, compile_plan=self.deferred.plans):
                writer.add(event)
                episode = episodes.add(event.type, event.body)
                if episode is not None:
                    left = case.sampler.sample(episode, samples, wanted, left)
            manifest = writer.finish()
        replay = try_replay(folder, case.bundle.kinds, self.deferred.plans) if trial.replay else UNCOMPARED
        return outcome_of(manifest, replay, samples, episodes.trajectories)

    def document(self) -> dict[str, Any]:
        """The specs and the options."""
        return {"specs": self.deferred.bundle.document(), "trusted": self.trusted, "record": self.record}

    def run_remotely(self, item: int) -> dict[str, Any]:
        """Run the case of a number, and return the files of its bundle with its outcome."""
        outcome = self(item)
        return {"outcome": outcome, "files": read_files(self.place(item))}

    def made(self, item: int, result: Mapping[str, Any]) -> Any:
        """Write the bundle that a cluster returned."""
        case, folder = self.deferred.plan.cases[item][1], self.place(item)
        make_folders(folder.parent)
        try:
            write_files(result["files"], folder)
            sync_files(folder)
            fault = fault_of(folder, case.bundle.digest, result["outcome"])
        except InvalidFiles as error:
            fault = str(error)
        if fault is not None:
            raise Rejected([Diagnostic(E_CLUSTER_RESULT, f"{folder.name}: {fault}")])
        return result["outcome"]

    def place(self, number: int) -> Path:
        """Where the run of a number is written."""
        return Path(self.folder, *self.deferred.plan.cases[number][1].place.split("/"))


RUNNABLE: Final = Runnable(
    lambda bundle, _: compile_suite(bundle),
    RECEIPTS,
    _execute,
    suite_preview,
    lambda runs: "\n".join(map(suite_text, runs)),
    merge=merge,
    remarks=suite_remarks,
    claims=lambda finished: suite_claims(finished.receipts),
    results=lambda finished: own_results(finished.receipts),
    refuse=refuse,
    seeds=seeds_of_suite,
)
