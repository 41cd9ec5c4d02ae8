"""The search beyond the cases: where it begins, and which violation it names."""

import numpy as np
import pytest

from specledger.wings.laws.generators import Case
from specledger.wings.laws.harness import first_violation, search
from specledger.wings.laws.judge import Judged, judge
from tests.toys.claims import measured, obs, op


def never(law_of, expr, value, **fields):
    """A law that an observable never has a value."""
    return law_of(measured(expr, op("!=", obs("N"), {"const": value}), **fields))


VIOLATIONS = {
    "none": ([4, 5], [-1, -1], None),
    "the shortest ring": ([9, 5, 7], [0, 3, 0], 1),
    "of these, the earliest step": ([5, 5, 5], [3, 1, 2], 1),
    "of these, the first": ([5, 5], [1, 1], 0),
}


@pytest.mark.parametrize(("sizes", "violated", "place"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_which_violation_is_named(law_of, sizes, violated, place):
    starts = [(number % 2,) * size for number, size in enumerate(sizes)]
    judged = judge(never(law_of, "count('X')", 200), [(0,) * 4])
    found = first_violation(starts, Judged(judged.usable, judged.hits, np.array(violated)))
    assert found == (None if place is None else (starts[place], violated[place]))


SOUGHT = {
    "one change away": ("count('>')", 3, ">>....", True),
    "some rounds away": ("count('>')", 6, ">>......", True),
    "nowhere": ("count('>')", 201, ">>......", False),
}


@pytest.mark.parametrize(("expr", "value", "ring", "there"), SOUGHT.values(), ids=SOUGHT)
def test_what_is_found(law_of, expr, value, ring, there):
    law = never(law_of, expr, value, mutations=1000)
    cases = (Case("made up", law.universe.cells(ring)),)
    judged = judge(law, [case.start for case in cases])
    assert first_violation([case.start for case in cases], judged) is None
    found = search(law, cases, judged)
    assert (found is not None) == there
    assert found == search(law, cases, judged)
    if found is not None:
        assert judge(law, [found[0]]).violated.tolist() == [found[1]]
