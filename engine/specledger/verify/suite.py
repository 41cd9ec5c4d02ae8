"""Evidence of a suite: its own receipts, the evidence of every run, and what follows from the runs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.compile.suite import DeferredPlan, seeds_of_suite
from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code, counted
from specledger.core.digest import hash_json
from specledger.core.verdict import Verdict
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.kind import SUITE as SUITE_RECEIPTS
from specledger.evidence.layout import FOLDERS, MANIFEST, RECEIPTS
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.suite import Run
from specledger.expr import EvaluationError
from specledger.load import Bundle
from specledger.run.executor import spread
from specledger.suites.assessment import UNCOMPARED, Outcome, assess
from specledger.suites.checks import PlannedCheck, is_of_nothing
from specledger.suites.checks import judge as judge_check
from specledger.suites.figures import FigureError
from specledger.suites.plan import SuitePlan
from specledger.verify import check_names
from specledger.verify.checks import E_ENDS, Broken, Lacking, Verification, misformed
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.rebuilding import invalid
from specledger.verify.receipts import Receipts
from specledger.verify.recorded import Recorded
from specledger.verify.reference import Names, Reference
from specledger.verify.replay import compare
from specledger.verify.run import judge_run
from specledger.verify.suite_runs import DIFFERS, NAMED, HeldRuns, RunChecks

E_RUNS = code("E_RUNS", "a run of the suite is malformed")
E_ASSESSMENT = code("E_ASSESSMENT", "the suite's receipts are not what its runs lead to")


class StatedRun(Struct, frozen=True):
    """What the receipt of a run says: the digest of what its manifest says, too, and how its replay went."""

    named: str
    replay: Any


def _replay_of(run: Run) -> Any:
    """What a receipt says of the replay of a run; None of what has another form."""
    replay: Any = run.get("replay")
    if not isinstance(replay, Mapping) or replay.keys() != UNCOMPARED.keys():
        return None
    return replay if all(type(replay[name]) is type(value) for name, value in UNCOMPARED.items()) else None


class SuiteOrder:
    """The receipts of a suite begin with `start`, end with `end`, and are of no type but its own."""

    _TYPES: Final = frozenset({"start", "run", "figure", "check", "mutant", "end"})

    def __init__(self) -> None:
        self.runs: dict[str, StatedRun] = {}
        self._listed: Container[str] = ()
        self._ended = False

    def know(self, recorded: Recorded) -> None:
        """Keep what is said of the runs that the manifest lists."""
        listed = (entry["path"].rpartition("/") for entry in recorded.manifest["files"])
        self._listed = {folder for folder, _, name in listed if name == MANIFEST}

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt."""
        if self._ended or type_ not in self._TYPES:
            raise Broken(E_ENDS, f"{type_!r} has no place here")
        self._ended = type_ == "end"
        run = typed(Run, body)
        if type_ == "run" and isinstance(run.get("place"), str) and run["place"] in self._listed:
            named = {name: body[name] for name in NAMED if name in body}
            self.runs[run["place"]] = StatedRun(hash_json(named), _replay_of(run))


class SuiteContent(Struct, frozen=True):
    """A suite that compiles again."""

    checked: Checked[SuiteOrder, Any]
    deferred: DeferredPlan
    resources: Resources

    @property
    def plan(self) -> SuitePlan:
        """The plan of the suite."""
        return self.deferred.plan

    def check(self, verification: Verification, obstacle: str | None) -> SuiteRuns:
        """Check every run, and what follows from all of them."""
        with verification.check(check_names.RUNS) as note:
            outcomes = self._check_runs(replay=obstacle is None)
            note.message = counted(len(outcomes), "run")
        with verification.check(check_names.ASSESSMENT) as note:
            note.message = self._check_assessment(outcomes, replay=obstacle is None)
        return SuiteRuns(self, outcomes)

    def _check_runs(self, *, replay: bool) -> dict[str, Any]:
        """The outcome of each run, by its path."""
        paths, listed = [case.place for _, case in self.plan.cases], self.checked.listing.bundles
        if sorted(paths) != listed:
            missing = sorted({*paths} ^ {*listed})
            raise Broken(E_RUNS, f"the suite leads to other runs than it holds: {missing[0]}")
        look = RunChecks(str(self.checked.folder), self.deferred, self.resources.kinds, replay)
        outcomes = {}
        for path, outcome in zip(paths, spread(look, range(len(paths)), self.resources.executor), strict=True):
            if "broken" in outcome:
                raise Broken(E_RUNS, f"{path}: {outcome['broken']}")
            stated = self.checked.order.runs.get(path)
            if stated is None or stated.named != hash_json({name: outcome[name] for name in NAMED}):
                raise Broken(E_RUNS, f"{path} is another run than the suite's receipts describe")
            outcomes[path] = outcome
        return outcomes

    def _check_assessment(self, outcomes: dict[str, Any], *, replay: bool) -> str:
        for path, known in outcomes.items():
            if not replay or DIFFERS in known:  # whether the run is exact is for the check of replay to refute
                outcomes[path] = known | {"replay": self.checked.order.runs[path].replay}
        chain = Chain(run_id(self.plan.specs))
        lines = (chain.seal(event) for event in assess(self.plan, outcomes))
        try:
            return f"{compare(lines, self.checked.receipts.lines())} receipts"
        except (NotCanonical, KeyError, TypeError) as error:
            message = f"the runs give no receipts, since a recorded one is malformed: {misformed(error)}"
            raise Broken(E_ASSESSMENT, message) from None
        except Broken as broken:
            raise Broken(E_ASSESSMENT, broken.message.replace(", replayed ", ", computed ")) from None


class SuiteRuns(Struct, frozen=True):
    """A suite whose runs were checked."""

    suite: SuiteContent
    outcomes: Mapping[str, Any]

    def replay(self) -> str:
        """Refute the first run that replay does not reproduce; each was replayed when it was checked."""
        for path, known in self.outcomes.items():
            if DIFFERS in known:
                raise Broken(E_RUNS, f"{path}: {known[DIFFERS]}")
        return counted(len(self.outcomes), "run")

    def judge(self, obstacle: str | None) -> Count:
        """Judge the checks of the suite and every run, which is made once more for that."""
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        suite = self.suite
        judge = RunJudgements(str(suite.checked.folder), suite.deferred)
        count = judge_checks(suite.plan, self.outcomes)
        paths = [case.place for _, case in suite.plan.cases]
        for path, judged in zip(paths, spread(judge, range(len(paths)), suite.resources.executor), strict=True):
            count.take(Count.of(judged), path)
        return count


VALUELESS: Final = "checks of figures that have no value"
"""What is counted as no expression's verdict."""


def judge_checks(plan: SuitePlan, outcomes: Mapping[str, Outcome]) -> Count:
    """Judge each check of a suite, of its mutants and of their controls; our verdict is the recorded one.

    `require` and `opportunities` read the figures that our code recomputed. The verdict of a mutant follows from its
    checks and is not judged by itself. A check of a figure without a value is not judged.
    """
    count, reference = Count(), Reference()

    def compared(check: PlannedCheck, values: Mapping[str, Any]) -> dict[str, Any]:
        judged = judge_check(check, values)
        why = _valueless(check, values)
        if why is None:
            _compare(check, values, judged, reference, count)
        else:
            (count.without if why == VALUELESS else count.open)[why] += 1
        return judged

    for _ in assess(plan, outcomes, compared):
        pass
    return count


def _valueless(check: PlannedCheck, values: Mapping[str, Any]) -> str | None:
    """Why our evaluator finds no value of a check; None if it finds one."""
    if any(isinstance(values[name], FigureError) for name in (*check.require.names, *check.opportunities.names)):
        return VALUELESS
    try:
        for reading in (check.require, check.opportunities):
            reading.read(values)
    except EvaluationError as error:
        return VALUELESS if is_of_nothing(error, (check.require, check.opportunities), values) else UNVALUED
    return None


def _compare(
    check: PlannedCheck, values: Mapping[str, Any], judged: Mapping[str, Any], reference: Reference, count: Count
) -> None:
    require, opportunities = check.require.checked, check.opportunities.checked
    names = Names(reference, {name: value for name, value in values.items() if not isinstance(value, FigureError)})

    def verdict() -> str:
        holds, number = names.truth(require), reference.value(opportunities, names.value)
        outcome = Verdict.FAIL if not holds else Verdict.PASS if number >= check.least else Verdict.INCONCLUSIVE
        return f"{outcome} of {number}"

    recorded = f"{judged['verdict']} of {judged['opportunities']}"
    count.compare(f"check {check.id}", recorded, verdict, names, (require, opportunities))


class RunJudgements(HeldRuns):
    """Judges runs of a suite."""

    entry = "judgements"

    def __call__(self, item: int) -> dict[str, Any]:
        """The count of what was judged in the run of a number."""
        case, folder = self.deferred.plan.cases[item][1], self.folder(item)
        return judge_run(case.bundle, folder, Receipts(folder / RECEIPTS, run_id(case.bundle.digest))).drain()


def compile_suite_again(checked: Checked[SuiteOrder, Any], specs: Bundle, resources: Resources) -> SuiteContent:
    """Compile the recorded specs."""
    try:
        deferred = DeferredPlan(specs)
        deferred.plan  # noqa: B018 - compiles
    except Rejected as rejected:
        raise invalid(rejected) from None
    return SuiteContent(checked, deferred, resources)


SUITE: Final = EvidenceKind(
    SUITE_RECEIPTS,
    SuiteOrder,
    compile_suite_again,
    checks=(check_names.RUNS, check_names.ASSESSMENT),
    folders=FOLDERS,
    replay=check_names.REPLAY_OF_RUNS,
    seeds=seeds_of_suite,
    know=SuiteOrder.know,
)
