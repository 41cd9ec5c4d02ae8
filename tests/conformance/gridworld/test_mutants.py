"""Suites that can fail: each thing that is switched off is noticed by a check that passes otherwise."""

import pytest

from tests.conformance.gridworld.conftest import load_suite

pytestmark = pytest.mark.slow

SUITE = "gridworld-mutants"
MUTANTS = [mutant.id for mutant in load_suite(SUITE).main.model.mutants]
SWITCHED_OFF = {
    "no-hazard-gate": "no-hazard-entered",
    "no-wall-gate": "no-wall-tried",
    "no-lyapunov-gate": "coherence-never-rises",
    "no-k-gate": "stays-in-k",
    "no-absorption": "exhausted-agents-rest",
    "no-budget-gate": "budget-never-negative",
    "no-debit": "debit-is-exact",
    "budget-ignored": "more-budget-does-better",
    "no-memory-update": "steps-to-goal-fall",
    "no-drift": "drifts-come-as-scheduled",
    "no-commitment": "choices-are-committed",
    "no-replay-comparison": "an-altered-copy-is-noticed",
}
"""The check that is about the very thing, which is among those that notice."""


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught_by_the_check_that_is_about_it(ran, mutant):
    found = ran.mutants[mutant]
    assert SWITCHED_OFF[mutant] in found["caught"], found
    for check in found["caught"]:
        assert (found["control"][check], found["mutated"][check]) == ("PASS", "FAIL")


def test_everything_is_switched_off_once():
    assert sorted(MUTANTS) == sorted(SWITCHED_OFF)


def test_the_list_is_in_the_result(ran):
    assert ran.result["verdict"] == "PASS"
    assert ran.result["mutants"] == {name: found["caught"] for name, found in ran.mutants.items()}


def test_its_evidence_is_whole(ran):
    assert ran.whole == []


def test_its_receipts_are_the_pinned_ones(ran, snapshot):
    ran.assert_pinned(snapshot)
