"""What the power of a trial counts, against each ring alone."""

import pytest

from specledger.wings.laws.generators import make_cases
from specledger.wings.laws.judge import judge_and_see
from specledger.wings.laws.power import weigh
from specledger.wings.laws.run import Run
from tests.toys.claims import T1, measured, obs, op

AT_TWO = op("=>", op("==", obs("N"), {"const": 2}), op(">=", obs("N", T1), {"const": 0}))
LAWS = {
    "an antecedent that some cases never meet": {},
    "preconditions, too": {"preconditions": ["count('.') >= 3"]},
}


@pytest.mark.medium
@pytest.mark.parametrize("more", LAWS.values(), ids=LAWS)
def test_the_bound_on_violations_is_about_drawn_cases_whose_antecedent_held(law_of, more):
    """A case whose antecedent never holds cannot violate the law, so it says nothing of how many cases do."""
    law = law_of(measured("count('X')", AT_TWO, "implication_step", **more))
    cases = make_cases(law)
    judged, seen = judge_and_see(law, [case.start for case in cases])
    drawn = [case for case in cases if case.drawn and is_met(Run(law, case.start))]
    power = weigh(cases, judged, seen)
    assert (power.drawn, power.drawn_by) == (len(drawn), tuple(sorted({case.family for case in drawn})))
    assert power.bound is not None
    assert power.bound["share"] == -(-3_000_000 // len(drawn))
    assert 0 < len(drawn) < sum(case.drawn for case in cases) - 20
    assert any(is_met(Run(law, case.start)) for case in cases if not case.drawn)


def is_met(run):
    """Whether the antecedent holds at some step of a ring that meets the preconditions, step by step."""
    return run.usable() and any(met for _, met, _ in run.instances())
