"""The suite `gridworld-recovery-after-goal-shift`, check by check."""

import pytest

from tests.conformance.gridworld.conftest import checks_of

pytestmark = pytest.mark.slow

SUITE = "gridworld-recovery-after-goal-shift"
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


def test_recovery_within_20_steps_on_every_layout(ran):
    assert {group["name"] for group in ran.figures["recovers_on"]} >= ran.layouts - {"chase", "farthest"}
    assert min(group["value"] for group in ran.figures["recovers_on"]) >= 900_000


def test_the_rate_over_all_drifts_stands_beside(ran):
    some, every = ran.figure("recovers"), ran.figure("recovers_as_defined")
    assert every["of"] > some["of"] > 0
    assert ran.checks["recovers-within-20-steps"]["witness"]["as_defined"] == every["value"]


@pytest.mark.parametrize("figure", ["every_drift", "could_recover", "recovers_where_possible"])
def test_every_arm_is_told_of(ran, figure):
    arms = {run["arm"] for run in ran.runs}
    assert (
        {group["name"] for group in ran.figures[figure]}
        == arms
        >= {"search", "unseen", "farthest", "greedy", "document"}
    )


def test_the_document_s_agent_and_gates_meet_as_many_drifts(ran):
    """Every layout, 25 episodes, and in the document's schedule a drift every 20 steps."""
    of = {group["name"]: group["of"] for group in ran.figures["every_drift"]}
    assert of["greedy"] == of["search"] == 11 * 25 * 2
    assert of["document"] == 11 * 25 * 5
