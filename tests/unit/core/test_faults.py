"""How many faults of an agent a run bears, as its scenario says."""

import pytest

from specledger.core.faults import FaultLimit

LIMITS = {
    "fail": ("fail", FaultLimit(0, 0, fails=True, bears=False)),
    "another word": ("inconclusive", FaultLimit(0, 0, fails=False, bears=False)),
    "a number": ({"most": 3}, FaultLimit(3, 3, fails=False, bears=True)),
    "a number of an episode": ({"most": 3, "most_in_episode": 0}, FaultLimit(3, 0, fails=False, bears=True)),
    "then it fails": ({"most": 3, "most_in_episode": None, "then": "fail"}, FaultLimit(3, 3, fails=True, bears=True)),
}


@pytest.mark.parametrize(("said", "limit"), LIMITS.values(), ids=LIMITS)
def test_a_limit(said, limit):
    assert FaultLimit.of(said) == limit


@pytest.mark.parametrize(
    ("in_run", "in_episode", "holds"),
    [(0, 0, True), (5, 2, True), (6, 2, False), (5, 3, False), (6, 3, False), (2, 2, True)],
)
def test_both_numbers_must_be_within_it(in_run, in_episode, holds):
    assert FaultLimit(5, 2, fails=False, bears=True).holds(in_run, in_episode) is holds
