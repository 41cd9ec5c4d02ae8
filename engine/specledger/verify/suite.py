"""Evidence of a suite: its own receipts, the evidence of every run, and what follows from the runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from specledger.compile.suite import DeferredPlan
from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code, counted
from specledger.core.verdict import Verdict
from specledger.evidence.archive import packed, unpacked
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.kind import SUITE as SUITE_RECEIPTS
from specledger.evidence.layout import FOLDERS, RECEIPTS
from specledger.expr import EvaluationError, conforms
from specledger.load import Bundle
from specledger.run.executor import Work, spread
from specledger.run.workers import here
from specledger.spec.base import Models
from specledger.suites.assessment import UNCOMPARED, Outcome, assess
from specledger.suites.checks import E_NOTHING, PlannedCheck
from specledger.suites.checks import judge as judge_check
from specledger.suites.episodes import Episodes
from specledger.suites.figures import FigureError
from specledger.suites.measures import Samples
from specledger.suites.plan import Case, SuitePlan, Trial
from specledger.verify import check_names
from specledger.verify.bundle import compile_bundle, obstacle_to_replay
from specledger.verify.checks import E_ENDS, E_REPLAY, E_SPECS, Broken, Lacking, Status, Stopped, Verification
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.kind import Checked, Compiled, EvidenceKind, Resources
from specledger.verify.manifest import other_maker
from specledger.verify.receipts import Receipts
from specledger.verify.reference import Names, Reference
from specledger.verify.replay import compare, invalid
from specledger.verify.run import RUN, RunContent, judge_run, try_lines
from specledger.verify.run_order import RunOrder

_NAMED: Final = ("specs", "receipts", "result")
"""What a suite's receipt of a run repeats from the run's manifest."""

_DIFFERS: Final = "differs"
"""The key of an outcome that describes how replay of the run differs, if it does."""


VALUELESS: Final = "checks of figures that have no value"
"""What is counted as no expression's verdict."""

E_RUNS = code(
    "E_RUNS",
    "a run of the suite is malformed",
    "A suite holds the evidence of every run in `runs`, `controls` and `mutants`, each a bundle of its own that is "
    "verified by itself. The message names the first one that is missing, was made from other specs, or is refuted.",
)
E_ASSESSMENT = code(
    "E_ASSESSMENT",
    "the suite's receipts are not what its runs lead to",
    "Figures, checks and what caught each mutant are computed again from the receipts of the runs, and the suite's own "
    "receipts are compared with them byte for byte.",
)


class SuiteOrder:
    """The receipts of a suite begin with `start`, end with `end`, and are of no type but its own."""

    _TYPES: Final = frozenset({"start", "run", "figure", "check", "mutant", "end"})

    def __init__(self) -> None:
        self.runs: dict[str, Mapping[str, Any]] = {}
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It follows the end, or is of an unknown type.
        """
        if self._ended or type_ not in self._TYPES:
            raise Broken(E_ENDS, f"{type_!r} has no place here")
        self._ended = type_ == "end"
        if type_ == "run" and isinstance(body.get("place"), str):
            self.runs[body["place"]] = body


@dataclass(frozen=True, slots=True)
class SuiteContent:
    """A suite that compiles again.

    Attributes:
        checked: The evidence.
        deferred: The compiled suite.
        resources: The models of specs, and where runs are made again.
    """

    checked: Checked[SuiteOrder, Any]
    deferred: DeferredPlan
    resources: Resources

    @property
    def plan(self) -> SuitePlan:
        """The plan of the suite."""
        return self.deferred.plan

    def check(self, verification: Verification, obstacle: str | None) -> SuiteRuns:
        """Check every run, and what follows from all of them."""
        # 10
        with verification.check(check_names.RUNS) as note:
            outcomes = self._check_runs(replay=obstacle is None)
            note.message = counted(len(outcomes), "run")
        # 11
        with verification.check(check_names.ASSESSMENT) as note:
            note.message = self._check_assessment(outcomes, replay=obstacle is None)
        return SuiteRuns(self, outcomes)

    def _check_runs(self, *, replay: bool) -> dict[str, Any]:
        """What is known of each run, by its place."""
        places, held = [case.place for _, case in self.plan.cases], self.checked.chained.read.listing.held
        if sorted(places) != held:
            missing = sorted({*places} ^ {*held})
            raise Broken(E_RUNS, f"the suite leads to other runs than it holds: {missing[0]}")
        look = RunChecks(str(self.checked.place), self.deferred, self.resources.models, replay)
        outcomes = {}
        for place, outcome in zip(places, spread(look, range(len(places)), self.resources.executor), strict=True):
            if "broken" in outcome:
                raise Broken(E_RUNS, f"{place}: {outcome['broken']}")
            recorded = self.checked.order.runs.get(place, {})
            if any(recorded.get(name) != outcome[name] for name in _NAMED):
                raise Broken(E_RUNS, f"{place} is another run than the suite's receipts describe")
            outcomes[place] = outcome
        return outcomes

    def _check_assessment(self, outcomes: dict[str, Any], *, replay: bool) -> str:
        for place, known in outcomes.items():
            if not replay or _DIFFERS in known:  # whether the run is exact is for the check of replay to refute
                outcomes[place] = known | {"replay": self.checked.order.runs[place].get("replay")}
        chain = Chain(run_id(self.plan.specs))
        made = (chain.seal(event) for event in assess(self.plan, outcomes))
        try:
            return f"{compare(made, self.checked.receipts.lines())} receipts"
        except (NotCanonical, KeyError, TypeError) as error:
            message = f"the runs give no receipts, since a recorded one is malformed ({type(error).__name__})"
            raise Broken(E_ASSESSMENT, message) from None
        except Broken as broken:
            raise Broken(E_ASSESSMENT, broken.message.replace(", replayed ", ", computed ")) from None


@dataclass(frozen=True, slots=True)
class SuiteRuns:
    """A suite whose runs were checked."""

    suite: SuiteContent
    outcomes: Mapping[str, Any]

    def replay(self) -> str:
        """Refute the first run that replay does not reproduce; each was replayed when it was checked.

        Raises:
            Broken: E_RUNS.
        """
        for place, known in self.outcomes.items():
            if _DIFFERS in known:
                raise Broken(E_RUNS, f"{place}: {known[_DIFFERS]}")
        return counted(len(self.outcomes), "run")

    def judge(self, obstacle: str | None) -> Count:
        """Judge the checks of the suite and every run, which is made once more for that."""
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        suite = self.suite
        judge = partial(_judge, str(suite.checked.place), suite.deferred)
        count = judge_checks(suite.plan, self.outcomes)
        places = [case.place for _, case in suite.plan.cases]
        for place, found in zip(places, spread(judge, range(len(places)), here(suite.resources.executor)), strict=True):
            count.take(found, place)
        return count


def judge_checks(plan: SuitePlan, outcomes: Mapping[str, Outcome]) -> Count:
    """Judge each check of a suite, of its mutants and of their controls; our verdict is the recorded one.

    `require` and `opportunities` read the figures that our code recomputed. The verdict of a mutant follows from its
    checks and is not judged by itself. A check of a figure without a value is not judged.

    Raises:
        Rejected: E_JUDGE_PACKAGE.
    """
    count, reference = Count(), Reference()

    def compared(check: PlannedCheck, values: Mapping[str, Any]) -> dict[str, Any]:
        said = judge_check(check, values)
        why = _valueless(check, values)
        if why is None:
            _compare(check, values, said, reference, count)
        else:
            (count.without if why == VALUELESS else count.open)[why] += 1
        return said

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
        return VALUELESS if error.code == E_NOTHING else UNVALUED
    return None


def _compare(
    check: PlannedCheck, values: Mapping[str, Any], said: Mapping[str, Any], reference: Reference, count: Count
) -> None:
    require, opportunities = check.require.checked, check.opportunities.checked
    names = Names(reference, {name: value for name, value in values.items() if not isinstance(value, FigureError)})

    def verdict() -> str:
        holds, number = names.truth(require), reference.value(opportunities, names.value)
        found = Verdict.FAIL if not holds else Verdict.PASS if number > 0 else Verdict.INCONCLUSIVE
        return f"{found} of {number}"

    recorded = f"{said['verdict']} of {said['opportunities']}"
    count.compare(f"check {check.id}", recorded, verdict, reference, (require, opportunities))


def compile_suite_again(checked: Checked[SuiteOrder, Any], specs: Bundle, resources: Resources) -> SuiteContent:
    """Compile the recorded specs.

    Raises:
        Broken: E_SPECS, if they do not compile.
    """
    try:
        deferred = DeferredPlan(specs)
        deferred.plan  # noqa: B018 - compiles
    except Rejected as rejected:
        raise invalid(rejected) from None
    return SuiteContent(checked, deferred, resources)


@dataclass(frozen=True)
class RunChecks(Work):
    """Verifies the runs of a suite and reads their figures; a cluster receives each run as one file.

    Attributes:
        place: The folder of the suite.
        deferred: The suite.
        models: The models of specs.
        replay: Whether the runs are replayed.
    """

    entry = "checks"

    place: str
    deferred: DeferredPlan
    models: Models
    replay: bool

    def __call__(self, item: int) -> dict[str, Any]:
        """What is known of the run of a number, or why it is `broken`."""
        trial, case = self.deferred.plan.cases[item]
        try:
            resources = Resources(self.models, plan=self.deferred.plans)
            return look_at(trial, case, self._folder(item), resources, self.replay)
        except Broken as broken:
            return {"broken": f"{broken.message} [{broken.code}]"}
        except (KeyError, TypeError, IndexError, ValueError) as error:
            return {"broken": f"its receipts are malformed: {error!r}"}

    def document(self) -> dict[str, Any]:
        """The specs, and whether to replay."""
        return {"specs": self.deferred.bundle.document(), "replay": self.replay}

    def sent(self, item: int) -> tuple[int, bytes]:
        """The number and the files of a run."""
        return item, packed(self._folder(item))

    def unpacked(self, item: tuple[int, bytes]) -> dict[str, Any]:
        """What is known of a run that was sent; it is written to where the run of its number belongs."""
        folder = self._folder(item[0])
        folder.parent.mkdir(parents=True)
        unpacked(item[1], folder)
        return self(item[0])

    def _folder(self, number: int) -> Path:
        return Path(self.place, *self.deferred.plan.cases[number][1].place.split("/"))


def _judge(place: str, deferred: DeferredPlan, number: int) -> Count:
    """Judge one run of a suite, in whatever process this is."""
    _, case = deferred.plan.cases[number]
    folder = Path(place, *case.place.split("/"))
    return judge_run(case.bundle, folder, Receipts(folder / RECEIPTS, run_id(case.bundle.digest)))


def look_at(trial: Trial, case: Case, folder: Path, resources: Resources, replay: bool) -> dict[str, Any]:
    """What is known of a run from its evidence alone, and how replay differs from it, if that was asked for.

    Raises:
        Broken: A check of it fails that is not the one of replay, or it is not the run of this case.
    """
    episodes, samples = Episodes(case.heading, bound=True), Samples()  # it receives receipts that were checked
    wanted = trial.wanted(case)

    def listen(type_: str, body: Mapping[str, Any]) -> None:
        episode = episodes.add(type_, body)
        if episode is not None:
            if not all(conforms(episode[name], type_) for name, type_ in case.sampler.types.items()):
                raise TypeError(f"episode {body['episode']} holds other values than its specs lead to")
            case.sampler.sample(episode, samples, wanted)

    compares = trial.replay and replay
    kind = dataclasses.replace(RUN, order=lambda: RunOrder(listen))
    compiled = _opened(folder, kind, resources, replay=replay and not compares)
    manifest, differs = compiled.checked.manifest, None
    if replay and not compares and other_maker(manifest) is not None:
        raise Broken(E_REPLAY, "it cannot be made again: another version made it than the suite")
    if manifest["specs"] != case.bundle.digest:
        raise Broken(E_SPECS, "it was made from other specs than the suite leads to")
    compared = UNCOMPARED
    try:
        if compares:
            compared = _compared(compiled.content)
        elif replay:
            compiled.content.replay()
    except Broken as broken:
        differs = f"{broken.message} [{broken.code}]"
    known = outcome_of(manifest, compared, samples)
    return known if differs is None else {**known, _DIFFERS: differs}


def _opened(
    folder: Path, kind: EvidenceKind[RunOrder, RunContent], resources: Resources, *, replay: bool
) -> Compiled[RunContent]:
    """A run of a suite, of which no check but that of replay is left."""
    verification = Verification()
    try:
        compiled = compile_bundle(folder, kind, resources, verification, inner=True)
        compiled.content.check(verification, obstacle_to_replay(compiled, replay=replay))
    except Stopped:
        failed = next(check for check in verification.checks if check.status is Status.FAILED)
        raise Broken(failed.code or "", failed.message or "") from None
    return compiled


def _compared(content: RunContent) -> dict[str, Any]:
    """The entry of a run in the receipts of a suite with `replay: bytes`."""
    receipts = content.checked.receipts
    found = try_lines(content.lines(), list(receipts.lines()), receipts.run)
    if not found["exact"]:
        raise Broken(E_REPLAY, "replay gives other receipts")
    return {"intact": True, **found}


def outcome_of(manifest: Mapping[str, Any], replay: Mapping[str, Any], samples: Samples) -> dict[str, Any]:
    """What is known of a run, from its manifest and from what was read off its receipts."""
    known = {name: manifest[name] for name in _NAMED}
    return {**known, "replay": dict(replay), "samples": samples}


SUITE: Final = EvidenceKind(
    SUITE_RECEIPTS,
    SuiteOrder,
    compile_suite_again,
    checks=(check_names.RUNS, check_names.ASSESSMENT),
    folders=FOLDERS,
    replay=check_names.REPLAY_OF_RUNS,
)
