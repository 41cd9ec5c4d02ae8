"""The suite `gridworld-task-improves-under-budget`, check by check."""

import pytest

from tests.conformance.gridworld.conftest import checks_of

pytestmark = pytest.mark.slow

SUITE = "gridworld-task-improves-under-budget"
CHECKS = checks_of(SUITE)


@pytest.mark.parametrize("check", CHECKS)
def test_the_check_passes_and_could_have_failed(ran, check):
    assert ran.holds(check), ran.checks[check]


def test_there_are_as_many_checks_as_the_seed_has():
    assert len(set(CHECKS)) >= 5


def test_it_is_over_many_episodes_on_many_layouts(ran):
    assert ran.result["verdict"] == "PASS"
    assert ran.result["episodes"] >= 300
    assert ran.layouts >= {"simple", "hazard", "maze", "concave", "nested-traps", "perfect-maze", "looped-maze"}
    assert len(ran.layouts) >= 10


def test_its_evidence_is_whole(ran):
    assert ran.whole == []


def test_its_receipts_are_the_pinned_ones(ran, snapshot):
    ran.assert_pinned(snapshot)


def test_competence_is_a_conjunction(ran):
    assert ran.figure("success")["value"] >= 500_000
    assert ran.figure("goal_success")["value"] >= 500_000
    assert ran.figure("steps_fall")["cluster"]["high"] < 0
    assert ran.figure("distance_falls")["cluster"]["high"] < 0


def test_the_control_does_not_improve(ran):
    assert ran.figure("control_steps")["value"] >= 0
    assert ran.figure("control_distance")["value"] >= 0


def test_the_metabolic_figures_are_told_for_every_arm(ran):
    for name in ("work", "budget_left", "explored", "newly_seen"):
        assert {group["name"] for group in ran.figures[name]} >= {"drifting", "fresh", "lasting", "poor", "rich"}
