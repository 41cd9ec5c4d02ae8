"""The second evaluator's judgement of a suite: its checks and each of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.evidence.chain import run_id
from specledger.evidence.layout import RECEIPTS
from specledger.expr import EvaluationError
from specledger.suites.assessment import Outcome, assess
from specledger.suites.checks import E_NOTHING, PlannedCheck
from specledger.suites.checks import judge as judge_check
from specledger.suites.figures import FigureError
from specledger.suites.plan import SuitePlan
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.receipts import Receipts
from specledger.verify.reference import Names, Reference
from specledger.verify.run import judge_run
from specledger.verify.suite_runs import HeldRuns

VALUELESS: Final = "checks of figures that have no value"
"""What is counted as no expression's verdict."""


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


class RunJudgements(HeldRuns):
    """Judges runs of a suite."""

    entry = "judgements"

    def __call__(self, item: int) -> dict[str, Any]:
        """The count of what was judged in the run of a number."""
        case, folder = self.deferred.plan.cases[item][1], self.folder(item)
        return judge_run(case.bundle, folder, Receipts(folder / RECEIPTS, run_id(case.bundle.digest))).drain()
