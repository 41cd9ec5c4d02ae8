"""Minimising: how small named counterexamples become, and what they keep."""

import pytest

from specledger.laws.harness import Run, minimise
from tests.toys.claims import measured, obs, op


def bounded(expr, least, **fields):
    """A law that an observable stays below a value."""
    return measured(expr, op("<", obs("N"), {"const": least}), **fields)


STARTS = {
    "one thing on the shortest ring": (bounded("count('>')", 1), ".>>.><.><<", (4, 1)),
    "several things": (bounded("count('>')", 3), ".>>.><.><<" * 6, (4, 3)),
    "more things than the shortest ring has cells": (bounded("count('>')", 7), ">>>>>>>><<<<" * 2, (7, 7)),
    "long rings alone": (bounded("grid_length", 23), ".>" * 60, (23, 0)),
    "a collision": (bounded("count('X')", 1), "..>...<....>.", (4, 2)),
    "what the preconditions ask for": (bounded("count('>')", 1, preconditions=["count('<') >= 2"]), ".>>.><.><<", (4, 3)),
    "nothing to leave out": (bounded("count('>')", 4), ">>>>", (4, 4)),
    "empty cells are no starts": (bounded("count('>')", 1, starts={"symbols": [">", "<"]}), "><><><", (4, 4)),
}  # fmt: skip


@pytest.mark.parametrize(("candidate", "ring", "size"), STARTS.values(), ids=STARTS)
def test_how_small_a_start_becomes(law_of, candidate, ring, size):
    law = law_of(candidate)
    start = law.universe.cells(ring)
    t = Run(law, start).first_violation()
    assert t is not None
    small, judged = minimise(law, start, t)
    assert (len(small), sum(cell != law.universe.empty for cell in small)) == size
    assert judged <= law.trial.candidates
    later = Run(law, small).first_violation()
    assert later is not None
    assert later <= t
    assert set(small) <= set(law.starts)


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
