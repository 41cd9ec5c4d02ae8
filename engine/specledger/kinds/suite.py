"""The kind `suite`: many runs of scenarios, the figures, checks and mutants that follow, and these as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from specledger.compile.roles import roles
from specledger.compile.scenario import compile_scenario
from specledger.compile.suite import DeferredPlan, compile_suite, seeds_of_suite
from specledger.core.diagnostics import Diagnostic, Rejected, counted, printable
from specledger.core.disk import make_folders
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.kind import SUITE as RECEIPTS
from specledger.evidence.receipts import suite, typed
from specledger.evidence.resume import identity_of
from specledger.evidence.suite_result import beyond_allowed
from specledger.evidence.transport import InvalidFiles, read_files, sync_files, write_files
from specledger.kinds.asking_cost import asking_cost, weak_probes
from specledger.kinds.case import case_name
from specledger.kinds.finished_runs import E_CLUSTER_RESULT, fault_of, read_finished, remove_unfinished, take_runs
from specledger.kinds.kind import Runnable
from specledger.kinds.running import (
    Finished,
    Progress,
    RunOptions,
    bundle_writer,
    claims_table,
    footer,
    resumable_writer,
    text_table,
)
from specledger.kinds.scenario_events import E_LIVE, scenario_events
from specledger.kinds.shard_merging import read_shards
from specledger.kinds.shards import write_shard
from specledger.kinds.suite_options import refuse
from specledger.load import Bundle
from specledger.report.figures import figure_rows
from specledger.report.mutant_doubts import doubts
from specledger.run.executor import Work, spread
from specledger.run.workers import here
from specledger.spec.agent import Agent
from specledger.spec.base import SpecKinds
from specledger.spec.scenario import Scenario
from specledger.suites.assessment import UNCOMPARED, assess
from specledger.suites.episodes import Episodes
from specledger.suites.measures import Samples
from specledger.suites.plan import Case, SuitePlan, Trial
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
    name, kind = case_name(bundle), bundle.main.kind
    return Finished(name, kind, folder, manifest, receipts=tuple(receipts), spec=bundle.main.data)


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


def _preview(bundle: Bundle) -> dict[str, Any]:
    plan = compile_suite(bundle)
    own, others = plan.trial, plan.trials[1:]
    return {
        "runs": [_case_preview(case) for case in own.cases],
        **_totals(own),
        **_asking([case for case in own.cases if _is_asked(roles(case.bundle)[0].decider)]),
        "replay": own.replay,
        "figures": [figure.name for figure in own.figures],
        "checks": [check.id for check in own.checks],
        "mutants": [
            {"mutant": mutant.id, "suite": mutant.mutated.suite, "runs": len(mutant.mutated.cases)}
            for mutant in plan.mutants
        ],
        "trials": sum(len(trial.cases) for trial in others),
        "most_trial_steps": sum(_totals(trial)["most_steps"] for trial in others),
    }


def _case_preview(case: Case) -> dict[str, Any]:
    model = case.bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - a suite runs nothing else
    return {
        "run": case.run,
        "arm": case.arm,
        "scenario": case.scenario,
        "seed": case.seed,
        "episodes": model.episodes,
        "horizon": model.horizon,
        "most_steps": model.episodes * (model.horizon or 0),  # of a recording, its logs say it
        "digest": case.bundle.digest,
    }


def _is_asked(agent: Agent) -> bool:
    """Whether an agent is outside, or a model is asked about what it did."""
    return agent.outside is not None or (agent.trajectories is not None and agent.trajectories.asks is not None)


def _asking(cases: list[Case]) -> dict[str, Any]:
    """What asking the agents of these cases costs together, and for each arm."""
    plans = [(case.arm, compile_scenario(case.bundle)) for case in cases]
    total = asking_cost(plan for _, plan in plans)
    arms = {arm: asking_cost(plan for of, plan in plans if of == arm) for arm, _ in plans}
    weak = {arm: sorted({name for of, plan in plans if of == arm for name in weak_probes(plan)}) for arm in arms}
    rows = [
        {"arm": arm, **cost["asked"], **cost.get("model", {})} | ({"too_few_repeats": weak[arm]} if weak[arm] else {})
        for arm, cost in arms.items()
        if cost
    ]
    return {**total, "arms": rows} if rows else {}


def _totals(trial: Trial) -> dict[str, int]:
    runs = [_case_preview(case) for case in trial.cases]
    return {name: sum(run[name] for run in runs) for name in ("episodes", "most_steps")}


_MOST_NAMES: Final = 3
"""Runs that a row names; the receipts hold all of them."""

Receipt = Mapping[str, Any]


def _text(finished: Finished) -> str:
    result = finished.manifest["result"]
    trials = f", {counted(result['trials'], 'run')} of mutants and their controls" if result["trials"] else ""
    head = f"{printable(finished.name)}  {result['verdict']}  {counted(result['runs'], 'run')}, "
    head += f"{counted(result['episodes'], 'episode')}, {counted(result['steps'], 'step')}{trials}"
    return "\n".join([head, *suite_tables(finished.receipts, finished.spec), *footer(finished)])


def suite_tables(receipts: Sequence[Receipt], spec: Mapping[str, Any]) -> list[str]:
    """The lines of the tables about the receipts of a suite; a table without rows is left out."""
    written = {check["id"]: check.get("witness", {}) for check in spec.get("checks", ())}
    figures = _of(receipts, "figure", suite.Figure)
    return [
        *text_table("runs", _runs(receipts)),
        *_beyond(receipts),
        *claims_table(_claims(receipts)),
        *text_table("figures", _figures(figures)),
        *text_table("checks", _checks(_of(receipts, "check", suite.Check), written, figures)),
        *text_table("mutants", _mutants(receipts, spec)),
        *_untried(receipts),
        *_unlabelled(receipts),
    ]


def _claims(receipts: Sequence[Receipt]) -> dict[str, Counter[str]]:
    """By arm and challenge, how many of the claims that the suite's own runs tested held."""
    starts, counters = _of(receipts, "start", suite.Start), dict[str, Counter[str]]()
    for run in _of(receipts, "run", suite.Run)[: starts[0]["runs"] if starts else 0]:
        for name, counts in run["result"].get("claims", {}).items():
            counters.setdefault(f"{run['arm']} {name}", Counter()).update(counts)
    return counters


def _untried(receipts: Sequence[Receipt]) -> list[str]:
    """The checks that no mutant makes fail: nothing here shows that they can fail at all."""
    mutants = _of(receipts, "mutant", suite.Mutant)
    caught = {check for mutant in mutants for check in mutant["caught"]}
    names = [receipt["check"] for receipt in _of(receipts, "check", suite.Check)]
    left = [printable(name) for name in names if name not in caught]
    return [f"  checks that no mutant makes fail: {', '.join(left)}"] if mutants and left else []


def _unlabelled(receipts: Sequence[Receipt]) -> list[str]:
    """The ids of `truth` that no log has, by label: they are in no figure."""
    absent = [end.get("absent", {}) for end in _of(receipts, "end", suite.End)]
    return [f"  {printable(label)}: no log has {_shortened(ids)}" for labels in absent for label, ids in labels.items()]


def _shortened(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMES
    return ", ".join(map(printable, names[:_MOST_NAMES])) + (f", and {left} more" if left > 0 else "")


def _runs(receipts: Sequence[Receipt]) -> list[list[str]]:
    """The verdicts of the suite's own runs, by arm, and how runs with an expectation ended."""
    starts = _of(receipts, "start", suite.Start)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for run in _of(receipts, "run", suite.Run)[: starts[0]["runs"] if starts else 0]:
        result = run["result"]
        wanted = "" if "met" not in result else "as expected" if result["met"] else "NOT as expected"
        shown = f"{result['status']} {wanted}" if wanted else ""
        groups.setdefault((result["verdict"], run["arm"], shown), []).append(run["run"])
    rows = []
    for (verdict, arm, shown), names in groups.items():
        listed = names if verdict != Verdict.PASS else []
        more = f", and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
        failed = f"{', '.join(listed[:_MOST_NAMES])}{more}"
        reason = ": ".join(part for part in (shown, failed) if part)
        rows.append([verdict, printable(arm), counted(len(names), "run"), printable(reason)])
    return rows


def _beyond(receipts: Sequence[Receipt]) -> list[str]:
    """Where more of the suite's own runs fail or are inconclusive than it allows, how many of how many allowed."""
    starts = _of(receipts, "start", suite.Start)
    own, allowed = (_of(receipts, "run", suite.Run)[: starts[0]["runs"]], starts[0]["allowed"]) if starts else ([], {})
    ended = Counter((run["result"]["verdict"], run["arm"]) for run in own)
    lines = [
        f"  {_ENDED[verdict]} runs{f' of {printable(arm)}' if arm else ''}: {count}, and the suite allows {most}"
        for verdict, arm, count, most in beyond_allowed(ended, allowed)
    ]
    unclear = sum(run["result"]["verdict"] == Verdict.INCONCLUSIVE for run in own)
    return lines or (["  every run is inconclusive"] if 0 < unclear == len(own) else [])


_ENDED: Final = {"FAIL": "failing", "INCONCLUSIVE": "inconclusive"}


Body = TypeVar("Body", bound=Mapping[str, Any])


def _of(receipts: Iterable[Receipt], type_: str, class_: type[Body]) -> list[Body]:
    """The receipts of a type."""
    return [typed(class_, receipt) for receipt in receipts if receipt["type"] == type_]


def _figures(receipts: Sequence[suite.Figure]) -> list[list[str]]:
    rows = []
    for receipt in receipts:
        if receipt["error"] is not None:
            cause = printable(_cause(receipt["error"]))
            rows.append([printable(receipt["figure"]), receipt["statistic"], "ERROR", cause])
            continue
        for name, statistic, value, cases, *intervals in figure_rows(receipt):
            of = cases if " of " in cases else f"of {cases}"
            shown = ", ".join(part for part in (of, *intervals) if part)
            rows.append([printable(name), statistic, value, printable(shown)])
    return rows


def _checks(
    receipts: Sequence[suite.Check], written: Mapping[str, Mapping[str, Any]], figures: Sequence[suite.Figure]
) -> list[list[str]]:
    from specledger.report.witness_words import witness_words

    rows = []
    for receipt in receipts:
        words = witness_words(receipt["witness"], written.get(receipt["check"], {}), figures)
        witness = ", ".join(f"{name} {value}" for name, value in words.items())
        shown = _cause(receipt["error"]) if receipt["error"] is not None else witness
        opportunities = f"{receipt['opportunities']} opportunities"
        opportunities += f", at least {receipt['least']}" if receipt["least"] > 1 else ""
        rows.append([receipt["verdict"], printable(receipt["check"]), opportunities, printable(shown)])
    return rows


def _mutants(receipts: Sequence[Receipt], spec: Mapping[str, Any]) -> list[list[str]]:
    words = {Verdict.PASS: "caught", Verdict.FAIL: "SURVIVED", Verdict.ERROR: "ERROR"}
    rows, runs = [], _of(receipts, "run", suite.Run)
    for receipt in _of(receipts, "mutant", suite.Mutant):
        noticed = f" by {', '.join(receipt['caught'])}" if receipt["caught"] else ": no check noticed it"
        said = "; ".join([f"in {receipt['suite']}{noticed}", *doubts(receipt, spec, runs)])
        rows.append([words[Verdict(receipt["verdict"])], *map(printable, (receipt["mutant"], said))])
    return rows


def _cause(error: suite.FigureFailure) -> str:
    where = f" in {error['run']}, episode {error['episode']}" if error.get("run") else ""
    return f"{error['code']}: {error['expression']}{where}"


RUNNABLE: Final = Runnable(
    lambda bundle, _: compile_suite(bundle),
    RECEIPTS,
    _execute,
    _preview,
    lambda runs: "\n".join(map(_text, runs)),
    merge=merge,
    refuse=refuse,
    seeds=seeds_of_suite,
)
