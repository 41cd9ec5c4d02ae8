"""Confidence that an agent states, against what came true."""

import pytest

from specledger.core.calibration import Calibration, held_claims, outcomes


def scored(*pairs):
    calibration = Calibration()
    calibration.add(pairs)
    return calibration


@pytest.mark.parametrize(
    ("pairs", "brier"),
    [
        ([(1_000_000, True)], 0),
        ([(1_000_000, False)], 1_000_000),
        ([(500_000, True), (500_000, False)], 250_000),
        ([(900_000, True), (900_000, True), (900_000, False)], 276_667),  # (0.01 + 0.01 + 0.81) / 3
        ([(0, False), (0, True)], 500_000),
    ],
)
def test_the_brier_score_is_the_mean_of_squares(pairs, brier):
    assert scored(*pairs).result()["brier"] == brier


def test_claims_are_counted_by_tenths_of_confidence():
    found = scored((950_000, True), (1_000_000, False), (100_000, False), (199_999, True)).result()
    assert (found["claims"], found["held"]) == (4, 2)
    assert found["bins"] == [
        {"from": 100_000, "claims": 2, "held": 1, "confidence": 150_000},
        {"from": 900_000, "claims": 2, "held": 1, "confidence": 975_000},
    ]


def test_only_an_agent_with_doubts_is_scored():
    assert not scored((1_000_000, True)).doubts
    assert scored((1_000_000, True), (999_999, False)).doubts


def test_claims_that_were_put_to_the_test_have_outcomes():
    trials = [{"held": True}, {"held": None, "confidence": 3}, {"held": False, "confidence": 3}]
    assert list(outcomes({"of": "claims", "trials": trials})) == [(1_000_000, True), (3, False)]
    assert not list(outcomes({"of": "unused", "trials": trials}))
    assert not list(outcomes({"taken": True}))


def answers(drawn, *after, expected="go", by=""):
    told = {"by": by} if by else {}
    return [{"drawn": drawn, "after": one, "held": one == expected, **told} for one in after]


HELD = {
    "it came": (answers(0, "go"), (1, 1)),
    "another came": (answers(0, "stay"), (0, 1)),
    "most answers": (answers(0, "go", "go", "stay"), (1, 1)),
    "as often as each other one": (answers(0, "go", "stay", "turn"), (1, 1)),
    "less often than one": (answers(0, "go", "stay", "stay"), (0, 1)),
    "one of two claims": (answers(0, "go") + answers(1, "stay"), (1, 2)),
    "one of two alternatives of a claim": (answers(0, "go", by="agent") + answers(0, "stay", by="kernel"), (0, 1)),
    "one that changed nothing": ([{"drawn": 0, "after": None, "held": None}], (0, 0)),
}


@pytest.mark.parametrize(("trials", "held"), HELD.values(), ids=HELD)
def test_a_claim_holds_where_no_other_answer_came_more_often(trials, held):
    assert held_claims({"of": "claims", "trials": trials}) == held
