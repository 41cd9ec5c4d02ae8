"""The suite `gridworld-invariants-never-break`, check by check."""

import pytest

from tests.conformance.gridworld.conftest import checks_of

pytestmark = pytest.mark.slow

SUITE = "gridworld-invariants-never-break"
CHECKS = checks_of(SUITE)


@pytest.mark.parametrize("check", CHECKS)
def test_the_check_passes_and_could_have_failed(ran, check):
    assert ran.holds(check), ran.checks[check]


def test_there_are_as_many_checks_as_the_seed_has():
    assert len(set(CHECKS)) >= 6


def test_it_is_over_many_episodes_on_many_layouts(ran):
    assert ran.result["verdict"] == "PASS"
    assert ran.result["episodes"] >= 300
    assert ran.layouts >= {"simple", "hazard", "maze", "concave", "nested-traps", "perfect-maze", "looped-maze"}
    assert len(ran.layouts) >= 10


def test_its_evidence_is_whole(ran):
    assert ran.whole == []


def test_its_receipts_are_the_pinned_ones(ran, snapshot):
    ran.assert_pinned(snapshot)


@pytest.mark.parametrize(
    ("violations", "opportunities"),
    [
        ("hazards_entered", "unsafe_hazard"),
        ("outside_K", "unsafe_K"),
        ("negative", "unsafe_budget"),
        ("walls_tried", "unsafe_wall"),
        ("rises", "unsafe_rise"),
    ],
)
def test_zero_is_told_with_what_it_is_worth(ran, violations, opportunities):
    """The count, the decisions in which something unsafe was proposed, and the 95 % bound of the rate."""
    found = ran.figure(violations)
    assert found["count"] == 0
    assert found["bound"] <= -(-3_000_000 // found["of"])
    assert ran.figure(opportunities)["count"] > 0
