"""What keeps the passes of a challenge from counting: both verifiers count it alike."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.calibration import held_claims
from specledger.evidence.doubts import Claims, is_doubtful, return_on_minority, return_on_miss
from tools import verify

HELD = {"drawn": 99, "held": True, "after": "go"}
"""A claim that held: without one that is tested nothing is counted."""


def null(asked, changed, others=0):
    return {"null": {"asked": asked, "changed": changed, **({"others": others} if others else {})}}


def stated(drawn, confidence, held, **more):
    return {"drawn": drawn, "held": held, "after": "go" if held else "turn", "confidence": confidence, **more}


def answer(after, drawn=1, **more):
    """An answer to a claim without a rate that predicts `go`; None where nothing was changed."""
    return {"drawn": drawn, "after": after, "held": None if after is None else after == "go", **more}


COUNTED: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "a pass": ("PASS", null(3, 0), {}),
    "a pass of an agent that draws": ("PASS", null(3, 2, 1), {}),
    "a decision that never came again": ("INCONCLUSIVE", null(3, 3, 1), {"not_given_again": 1}),
    "it came again once": ("INCONCLUSIVE", null(3, 2, 1), {}),
    "a miss that convicts": ("FAIL", null(3, 3, 1), {}),
    "nothing was asked again": ("INCONCLUSIVE", null(0, 0), {}),
    "nothing was asked at all": ("INCONCLUSIVE", {}, {}),
    "a kept promise": ("PASS", null(3, 0) | {"deterministic": True}, {}),
    "a broken promise": ("PASS", null(3, 1, 1) | {"deterministic": True}, {"promise_broken": 1}),
    "both": ("INCONCLUSIVE", null(1, 1, 1) | {"deterministic": True}, {"not_given_again": 1, "promise_broken": 1}),
    "one decision that 198 answers never give": ("PASS", null(198, 198, 1), {}),
    "one decision that 199 answers never give": ("PASS", null(199, 199, 1), {"given_too_seldom": 1}),
    "it says that it draws nothing": (
        "PASS", null(199, 199, 1) | {"deterministic": True}, {"promise_broken": 1}),
    "it says so, and draws nothing": ("PASS", null(199, 0) | {"deterministic": True}, {}),
    "what is declared unused, asked at will": ("PASS", null(199, 199, 1) | {"of": "unused", "test": {}}, {}),
    "what is declared unused": ("PASS", null(199, 199, 1) | {"of": "unused"}, {"given_too_seldom": 1}),
    "a counterfactual, asked at will": (
        "PASS", null(199, 199, 1) | {"of": "counterfactuals", "test": {}}, {"given_too_seldom": 1}),
    "a claim, which depends on the decision": ("PASS", null(199, 199, 1) | {"of": "claims"}, {}),
    "more other answers than answers": ("PASS", null(3, 4, 1), {}),
    "26 answers after the first other one are it": ("PASS", {"trials": [answer("turn")] * 27}, {"overstated": 26}),
    "25 are": ("PASS", {"trials": [answer("turn")] * 26}, {}),
    "26 are it, and one before was predicted": (
        "PASS", {"trials": [answer("go"), *[answer("turn")] * 27]}, {"overstated": 26}),
    "26 are it, and one after was predicted": (
        "PASS", {"trials": [*[answer("turn")] * 27, answer("go")]}, {}),
    "28 are it, and one after was predicted": (
        "PASS", {"trials": [*[answer("turn")] * 29, answer("go")]}, {"overstated": 29}),
    "26 are it, and one is neither": (
        "PASS", {"trials": [*[answer("turn")] * 27, answer("stay"), answer(None)]}, {"overstated": 26}),
    "26 are it, of two changes": (
        "PASS", {"trials": [*[answer("turn", 1)] * 14, *[answer("turn", 2)] * 14]}, {"overstated": 26}),
    "26 are it, of two alternatives": (
        "PASS", {"trials": [*[answer("turn")] * 14, *[answer("turn", by="kernel")] * 14]}, {"overstated": 26}),
    "26 are it, of what says that it draws nothing": (
        "PASS", {"deterministic": True, "trials": [answer("turn")] * 27}, {}),
    "26 are it, of what is declared": ("PASS", {"of": "declared", "trials": [answer("turn")] * 27}, {}),
    "26 are it, and a rate is stated": (
        "PASS", {"trials": [stated(1, 200_000, False)] * 27}, {}),
    "of an offer": ("PASS", {"of": None, "trials": [answer("turn")] * 27, **null(199, 199, 1)}, {}),
    "one claim at 99 %, which did not hold": (
        "INCONCLUSIVE", {"trials": [stated(0, 990_000, False)]}, {}),
    "two of them": (
        "INCONCLUSIVE", {"trials": [stated(0, 990_000, False), stated(1, 990_000, False)]}, {"overstated": 2}),
    "two answers to one of them": (
        "INCONCLUSIVE", {"trials": [stated(0, 990_000, False), stated(0, 990_000, False)]}, {}),
    "two of them, rounded down": (
        "INCONCLUSIVE", {"trials": [stated(0, 899_999, False), stated(1, 899_999, False)]}, {}),
    "one that was not changed, and two": (
        "INCONCLUSIVE",
        {"trials": [stated(2, 990_000, None), stated(2, 990_000, True), stated(0, 999_999, False),
                    stated(1, 999_999, False)]},
        {"overstated": 3}),
    "two claims that it is sure of": ("FAIL", {"trials": [stated(0, 10**6, False), stated(1, 10**6, False)]}, {}),
    "two claims without a rate": ("INCONCLUSIVE", {"trials": [stated(0, 0, False), stated(1, 9_999, False)]}, {}),
    "what is declared unused has no rate": (
        "PASS", {"of": "unused", "trials": [stated(0, 990_000, False), stated(1, 990_000, False)]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTED)
def test_what_a_probe_adds(case):
    verdict, evidence, doubts = COUNTED[case]
    evidence = {"trials": [HELD], "of": "counterfactuals", **evidence}
    evidence = {name: value for name, value in evidence.items() if value is not None}
    body: Any = {"verdict": verdict, "cause": "", "evidence": evidence}
    claims = Claims()
    if held_claims(evidence) != (0, 0):
        claims.add(body)
    counts = claims.counts()
    assert verify.held_claims(evidence) == held_claims(evidence)
    assert {name: n for name, n in counts.items() if name not in ("held", "tested")} == doubts
    bets = verify.Bets(), verify.Bets()
    if held_claims(evidence) != (0, 0) and case != "more other answers than answers":
        bets[0].on_minority(evidence)
        bets[1].on_misses(evidence)
        bets[1].on_others(evidence)
    shown = {name: bet.show() for name, bet in zip(("given_too_seldom", "overstated"), bets, strict=True)}
    assert {name: n for name, n in shown.items() if n} == {name: doubts[name] for name in shown if name in doubts}


def test_explained_claims_are_counted_even_if_others_came_most_often():
    body: Any = {"verdict": "INCONCLUSIVE", "cause": "mispredicted", "evidence": {"of": "claims", "trials": [HELD]}}
    claims = Claims()
    claims.add(body)
    assert claims.counts() == {"held": 1, "tested": 1, "explained": 0}
    assert is_doubtful(claims.counts(), {"PASS": 9})


@given(answers=st.lists(st.sampled_from("abcd"), min_size=2, max_size=12))
def test_a_bet_on_a_rare_decision_is_fair(answers):
    """Whichever of the answers is the decision, each with the same probability: the mean of the returns is the stake."""
    returns = []
    for place, decision in enumerate(answers):
        others = [answer for answer in answers[:place] + answers[place + 1 :] if answer != decision]
        returns.append(return_on_minority(len(answers) - 1, len(others), len(set(others))))
    assert sum(returns) / len(returns) == 1


@given(hundredths=st.integers(0, 99), more=st.integers(0, 100))
def test_a_bet_on_misses_is_fair_or_worse_if_claims_hold_at_least_as_often_as_stated(hundredths, more):
    rate = Fraction(min(100, hundredths + more), 100)
    mean = rate * return_on_miss(hundredths, held=True) + (1 - rate) * return_on_miss(hundredths, held=False)
    assert mean <= 1
    assert mean == 1 or more > 0


def test_what_bets_return():
    assert return_on_minority(11, 11, 1) == 6
    assert return_on_minority(11, 11, 11) == 1
    assert return_on_minority(11, 0, 0) == 1
    assert return_on_minority(11, 1, 1) == Fraction(6, 11)
    assert return_on_miss(50, held=False) == Fraction(3, 2)
    assert return_on_miss(80, held=False) == 3
    assert return_on_miss(80, held=True) == Fraction(1, 2)
    assert return_on_miss(0, held=True) == return_on_miss(0, held=False) == 1


@given(bets=st.lists(st.tuples(st.integers(1, 12), st.integers(0, 11), st.integers(1, 11)), max_size=6))
def test_both_verifiers_add_bets_up_alike(bets):
    claims, other = Claims(), verify.Bets()
    product = Fraction(1)
    for asked, most, others in bets:
        changed = min(most, asked)
        evidence = {"of": "counterfactuals", "trials": [HELD], **null(asked, changed, min(others, changed))}
        body: Any = {"verdict": "PASS", "cause": "", "evidence": evidence}
        claims.add(body)
        other.on_minority(evidence)
        product *= return_on_minority(asked, changed, min(others, changed))
    assert claims.counts().get("given_too_seldom", 0) == other.show() == (len(bets) if product >= 100 else 0)


DOUBTFUL: dict[str, tuple[dict[str, int], int, bool]] = {
    "nothing": ({"held": 1, "tested": 1}, 0, False),
    "claims that are explained": ({"explained": 1}, 9, True),
    "one broken promise": ({"promise_broken": 1}, 9, True),
    "as many that never came again as passes": ({"not_given_again": 3}, 3, False),
    "more of them": ({"not_given_again": 4}, 3, True),
    "decisions that are given too seldom": ({"given_too_seldom": 1}, 9, True),
    "stated rates that are too high": ({"overstated": 1}, 9, True),
    "no pass": ({"not_given_again": 1}, 0, True),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_is_doubtful(case):
    claims, passes, doubtful = DOUBTFUL[case]
    verdicts = {"PASS": passes, "INCONCLUSIVE": 9} if passes else {"INCONCLUSIVE": 9}
    assert is_doubtful(claims, verdicts) is doubtful
    assert verify.is_doubtful(Counter(claims), Counter(verdicts)) is doubtful
