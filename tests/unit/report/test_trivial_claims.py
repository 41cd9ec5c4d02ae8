"""Claims that predict what the agent chose anyway are told on the page and in the terminal: they name no reason."""

from typing import Any

import pytest

from specledger.report.trivial_claims import TrivialClaims


def trial(predicted, drawn=0, after="left"):
    return {"drawn": drawn, "variable": "x", "predicted": predicted, "after": after, "held": True}


def text_of(*trials, of="claims"):
    claims = TrivialClaims()
    evidence: Any = {"of": of, "before": "left", "trials": [*trials]}
    claims.add(evidence)
    return claims.text


TEXTS = {
    "one of one": ([trial("left")], "1 of 1 tested claim predicts what the agent chose anyway"),
    "a claim that is asked about again is one": (
        [trial("left"), trial("left"), trial("right", 1)],
        "1 of 2 tested claims predicts what the agent chose anyway",
    ),
    "all": ([trial("left"), trial("left", 1)], "2 of 2 tested claims predict what the agent chose anyway"),
    "none": ([trial("right")], ""),
    "one that was not asked": ([trial("left", after=None)], ""),
}


@pytest.mark.parametrize(("trials", "text"), TEXTS.values(), ids=TEXTS)
def test_claims_that_name_no_reason_are_counted(trials, text):
    assert text_of(*trials).partition(":")[0] == text


def test_a_counterfactual_may_predict_the_same_choice():
    assert text_of(trial("left"), of="counterfactuals") == ""


def test_an_offer_has_no_claims():
    claims = TrivialClaims()
    evidence: Any = {}
    claims.add(evidence)
    assert claims.text == ""
