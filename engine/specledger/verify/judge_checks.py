"""The second evaluator on the checks of a suite, of its mutants and of their controls.

`require` and `opportunities` read the figures that our code recomputed from the receipts of the runs. The verdict of a
mutant follows from its checks and is not judged by itself. A check of a figure without a value is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.expr import EvaluationError
from specledger.suites.assessment import Outcome, assess
from specledger.suites.checks import E_NOTHING, PlannedCheck, judge
from specledger.suites.figures import FigureError
from specledger.suites.plan import SuitePlan
from specledger.verify.judged import UNVALUED, Count
from specledger.verify.reference import Names, Reference, Unjudged

VALUELESS: Final = "checks of figures that have no value"
"""What is counted as no expression's verdict."""


def judge_checks(plan: SuitePlan, outcomes: Mapping[str, Outcome]) -> Count:
    """Judge each check of a suite, of which our verdict is the recorded one.

    Args:
        plan: The suite.
        outcomes: By the place of each case what is known of its run.

    Raises:
        Rejected: E_JUDGE_PACKAGE.
    """
    count, reference = Count(), Reference()

    def compared(check: PlannedCheck, values: Mapping[str, Any]) -> dict[str, Any]:
        said = judge(check, values)
        _compare(check, values, said, reference, count)
        return said

    for _ in assess(plan, outcomes, compared):
        pass
    return count


def _compare(
    check: PlannedCheck, values: Mapping[str, Any], said: Mapping[str, Any], reference: Reference, count: Count
) -> None:
    rules = (check.require.checked, check.opportunities.checked)
    if any(isinstance(values[name], FigureError) for name in (*check.require.names, *check.opportunities.names)):
        count.without[VALUELESS] += 1
        return
    try:
        for reading in (check.require, check.opportunities):
            reading.read(values)
    except EvaluationError as error:
        if error.code == E_NOTHING:
            count.without[VALUELESS] += 1
        else:
            count.open[UNVALUED] += 1
        return
    names = Names(reference, {name: value for name, value in values.items() if not isinstance(value, FigureError)})
    try:
        holds, opportunities = names.truth(rules[0]), reference.value(rules[1], names.value)
    except Unjudged as unjudged:
        count.open[unjudged.why] += 1
        return
    found = Verdict.FAIL if not holds else Verdict.PASS if opportunities > 0 else Verdict.INCONCLUSIVE
    if (found, opportunities) != (said["verdict"], said["opportunities"]):
        if count.against is None:
            ours = f"{said['verdict']} of {said['opportunities']}"
            count.against = f"check {check.id}: recorded {ours}, judged {found} of {opportunities}"
        return
    count.judged += 1
    for function in sorted(reference.ours(rules, {})):
        count.ours[function] += 1
