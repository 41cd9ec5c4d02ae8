"""Minimising: how small named counterexamples become, and what they keep."""

import pytest

from specledger.wings.laws.harness import minimise
from specledger.wings.laws.run import Run
from tests.toys.claims import measured, obs, op


def bounded(expr, least, **fields):
    """A law that an observable stays below a value."""
    return measured(expr, op("<", obs("N"), {"const": least}), **fields)


def test_a_law_that_reads_a_step_after_the_violation_is_minimised(law_of):
    """The violation is at step 0, and what it is compared with at step 5: candidates are followed that far."""
    claim = op(">", obs("N"), obs("N", {"const": 5}))
    law = law_of({**bounded("count('>')", 1), "claim_ast": claim})
    small, judged = minimise(law, law.universe.cells(".>>.><.><<"), 0)
    assert len(small) == 4
    assert judged > 0
    assert Run(law, small).first_violation() == 0


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_a_budget_is_kept(law_of, budget):
    law = law_of({**bounded("count('>')", 1), "trial": {"candidates": budget}})
    start = law.universe.cells(".>" * 50)
    small, judged = minimise(law, start, 0)
    assert judged == budget
    assert Run(law, small).first_violation() == 0
    assert (small == start) == (budget == 0)
