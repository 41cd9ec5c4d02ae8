"""Evidence of a suite: its own receipts, the evidence of every run, and what follows from the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.compile.suite import DeferredPlan, seeds_of_suite
from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code, counted
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.kind import SUITE as SUITE_RECEIPTS
from specledger.evidence.layout import FOLDERS
from specledger.load import Bundle
from specledger.run.executor import spread
from specledger.suites.assessment import assess
from specledger.suites.plan import SuitePlan
from specledger.verify import check_names
from specledger.verify.checks import E_ENDS, Broken, Lacking, Verification
from specledger.verify.judge_suite import RunJudgements, judge_checks
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.replay import compare, invalid
from specledger.verify.suite_runs import DIFFERS, NAMED, RunChecks

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


class SuiteContent(Struct, frozen=True):
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
            if any(recorded.get(name) != outcome[name] for name in NAMED):
                raise Broken(E_RUNS, f"{place} is another run than the suite's receipts describe")
            outcomes[place] = outcome
        return outcomes

    def _check_assessment(self, outcomes: dict[str, Any], *, replay: bool) -> str:
        for place, known in outcomes.items():
            if not replay or DIFFERS in known:  # whether the run is exact is for the check of replay to refute
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


class SuiteRuns(Struct, frozen=True):
    """A suite whose runs were checked."""

    suite: SuiteContent
    outcomes: Mapping[str, Any]

    def replay(self) -> str:
        """Refute the first run that replay does not reproduce; each was replayed when it was checked.

        Raises:
            Broken: E_RUNS.
        """
        for place, known in self.outcomes.items():
            if DIFFERS in known:
                raise Broken(E_RUNS, f"{place}: {known[DIFFERS]}")
        return counted(len(self.outcomes), "run")

    def judge(self, obstacle: str | None) -> Count:
        """Judge the checks of the suite and every run, which is made once more for that."""
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        suite = self.suite
        judge = RunJudgements(str(suite.checked.place), suite.deferred)
        count = judge_checks(suite.plan, self.outcomes)
        places = [case.place for _, case in suite.plan.cases]
        for place, found in zip(places, spread(judge, range(len(places)), suite.resources.executor), strict=True):
            count.take(Count.of(found), place)
        return count


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


SUITE: Final = EvidenceKind(
    SUITE_RECEIPTS,
    SuiteOrder,
    compile_suite_again,
    checks=(check_names.RUNS, check_names.ASSESSMENT),
    folders=FOLDERS,
    replay=check_names.REPLAY_OF_RUNS,
    seeds=seeds_of_suite,
)
