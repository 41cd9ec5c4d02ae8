"""`bound` of a step: recomputed from the digests, or taken from who checked the receipts of a run that commits."""

import copy
import json
from pathlib import Path

import pytest

from specledger.suites.episodes import Episodes

RECEIPTS = Path(__file__).parents[3] / "fixtures" / "golden" / "hazard.jsonl"
HEADING = {"run": "r", "arm": "a", "scenario": "s", "seed": 1}


def bodies(last=60):
    """The first receipts of a recorded run, up to a step, and an end of its episode."""
    told = [json.loads(line) for line in RECEIPTS.read_bytes().splitlines()[:last]]
    while told[-1]["type"] != "step":
        told.pop()
    end = {"episode": 0, "ended": "horizon", "success": False, "first_success": None, "violations": []}
    return [(one["type"], one["body"]) for one in told] + [("episode_end", end)]


def bound(receipts, **found):
    (episode,) = Episodes(HEADING, **found).read(receipts)
    return [step["bound"] for step in episode["steps"] if step["chosen"] >= 0]


@pytest.mark.parametrize("found", [{}, {"bound": True}], ids=["recomputed", "taken"])
def test_choices_of_a_true_run_are_bound(found):
    assert set(bound(bodies(), **found)) == {True}


@pytest.mark.parametrize("found", [{}, {"bound": True}], ids=["recomputed", "taken"])
def test_a_choice_without_a_commitment_is_not_bound(found):
    assert set(bound([each for each in bodies() if each[0] != "commit"], **found)) == {False}


@pytest.mark.parametrize("found", [{}, {"bound": True}], ids=["recomputed", "taken"])
def test_a_run_that_commits_to_nothing_is_looked_at_in_any_case(found):
    """Nobody checks the commitments of such a run, since it has none; those that were added bind nothing."""
    told = copy.deepcopy(bodies())
    told[0][1]["commit"] = "none"
    for type_, body in told:
        if type_ == "commit":
            body["root"] = "0" * 64
    assert set(bound(told, **found)) == {False}
