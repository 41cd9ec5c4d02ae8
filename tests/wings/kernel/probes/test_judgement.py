"""What the evidence of a challenge amounts to: named cases, and the exact level of each test."""

from itertools import accumulate
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.causes import Cause
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Trial
from specledger.wings.kernel.probes.exact_tests import above_noise, at_least, at_most, not_most_frequent
from specledger.wings.kernel.probes.judgement import agrees, judge, looks_of, millionths, miss_of
from specledger.wings.kernel.spec.probe import Challenge

ERROR = 5_000  # of a test that says none, in millionths


def challenge(of: str = "claims", **more: Any) -> Challenge:
    return Challenge.model_validate({"of": of, **more})


def trial(drawn: int, after: str | None, predicted: str = "go", rate: float | None = None, **more: Any) -> Any:
    stated = {} if rate is None else {"confidence": round(rate * 1_000_000)}
    told = {"drawn": drawn, "predicted": predicted, "after": after, "held": after and after == predicted}
    return {**told, **stated, **more}


def asked(*trials: dict[str, Any], of: str = "claims", settled: bool = True, **more: Any) -> Any:
    """The evidence of a challenge in a state where the agent chose `stay`; one that is not settled was asked 11 times."""
    null = {"asked": 1, "changed": 0} if settled else {"asked": 11, "changed": 0}
    found: dict[str, Any] = {
        "of": of,
        "deterministic": settled,
        "before": "stay",
        "trials": list(trials),
        "null": null,
        **more,
    }
    for each in trials:
        miss = miss_of(typed(Trial, each), "stay", of)
        each.update({} if miss is None else {"miss": str(miss)})
    return found


def many(drawn: int, rate: float | None = None, /, procedure: str = "", **answers: int) -> list[dict[str, Any]]:
    """So many answers of each sort to one change, of which `go` was predicted."""
    told = {"procedure": procedure} if procedure else {}
    return [trial(drawn, after, rate=rate, **told) for after, times in answers.items() for _ in range(times)]


def drew(*trials: dict[str, Any], **more: Any) -> Any:
    return asked(*trials, settled=False, **more)


FAIL, PASS, OPEN = Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE
CLAIMS = challenge()
FOLLOWS: dict[str, Any] = {"here": "stay", "asked": 3, "changed": 0}

CASES: dict[str, tuple[dict[str, Any], Challenge, Verdict, str]] = {
    "it came as predicted": (asked(trial(0, "go")), CLAIMS, PASS, ""),
    "the choice stayed": (asked(trial(0, "stay")), CLAIMS, FAIL, "inert"),
    "another choice came": (asked(trial(0, "turn")), CLAIMS, FAIL, "mispredicted"),
    "of several misses the inert one is told": (asked(trial(0, "turn"), trial(1, "stay")), CLAIMS, FAIL, "inert"),
    "one of two claims failed": (asked(trial(0, "go"), trial(1, "turn")), CLAIMS, FAIL, "mispredicted"),
    "it stated that it is sure": (asked(trial(0, "turn", rate=1)), CLAIMS, FAIL, "mispredicted"),
    "it is 60 % sure, and held": (asked(trial(0, "go", rate=0.6)), CLAIMS, PASS, ""),
    "it is 60 % sure, and missed": (asked(trial(0, "stay", rate=0.6)), CLAIMS, OPEN, "noise"),
    "repeats of a settled agent count once": (asked(*many(0, 0.6, stay=8)), CLAIMS, OPEN, "noise"),
    "two misses at 90 %": (asked(trial(0, "stay", rate=0.9), trial(1, "stay", rate=0.9)), CLAIMS, OPEN, "noise"),
    "three misses at 90 %": (asked(*(trial(n, "stay", rate=0.9) for n in range(3))), CLAIMS, FAIL, "inert"),
    "of one claim the kernel's alternative counts": (
        asked(*(trial(n, "stay", rate=0.9, by=by) for n in range(2) for by in ("agent", "kernel"))),
        CLAIMS,
        OPEN,
        "noise",
    ),
    "a sure claim beside unsure ones": (asked(trial(0, "turn"), trial(1, "stay", rate=0.1)), CLAIMS, FAIL, "mispredicted"),
    "nothing was changed": (asked(trial(0, None, reason="unchanged")), CLAIMS, OPEN, "nothing_changed"),
    "a value that nothing brings about": (asked(trial(0, "go"), trial(1, None)), CLAIMS, OPEN, "untested"),
    "a direction that says nothing": (asked(trial(0, "go"), trial(1, None, reason="says_nothing")), CLAIMS, OPEN, "says_nothing"),
    "it answers a change in two ways": (asked(*many(0, stay=4, turn=4)), CLAIMS, OPEN, "noise"),
    "it draws, and always chose another": (drew(*many(0, stay=11)), CLAIMS, FAIL, "inert"),
    "it draws, and two others came as often": (drew(*many(0, turn=6, stay=5)), CLAIMS, OPEN, "noise"),
    "it draws, and was asked too seldom": (drew(*many(0, stay=10)), CLAIMS, OPEN, "noise"),
    "it draws, and one of three claims fails": (drew(*many(0, go=11), *many(1, go=11), *many(2, turn=11)), CLAIMS, FAIL, "mispredicted"),
    "it draws, and one of eleven claims fails": (drew(*(one for n in range(10) for one in many(n, go=11)), *many(10, turn=11)), CLAIMS, OPEN, "noise"),
    "it draws, is sure, and one answer is another": (drew(*many(0, 1, go=10, turn=1)), CLAIMS, FAIL, "mispredicted"),
    "it draws, states no rate, and one answer is another": (drew(*many(0, go=10, turn=1)), CLAIMS, OPEN, "noise"),
    "it draws, and gave its decision once when asked again": (drew(*many(0, go=11), null={"asked": 11, "changed": 10, "others": 1}), CLAIMS, PASS, ""),
    "it draws, and never gave its decision again": (drew(*many(0, go=11), null={"asked": 11, "changed": 11, "others": 1}), CLAIMS, OPEN, "not_given_again"),
    "it never gave its decision again, and missed": (drew(*many(0, turn=11), null={"asked": 11, "changed": 11, "others": 1}), CLAIMS, FAIL, "mispredicted"),
    "it never gave its decision again, and its rate is shown": (
        drew(*many(0, 0.6, go=601, turn=399), null={"asked": 11, "changed": 11, "others": 1}), challenge(test={"effect": 0.5}), OPEN, "not_given_again"),
    "it never gave its decision again, and a value is not brought about": (
        drew(*many(0, go=11), trial(1, None), null={"asked": 11, "changed": 11, "others": 1}), CLAIMS, OPEN, "untested"),
    "it states 60 %, and came in 5 of 11": (drew(*many(0, 0.6, go=5, turn=6)), CLAIMS, OPEN, "noise"),
    "it states 60 %, and came in 1 of 11": (drew(*many(0, 0.6, go=1, turn=10)), CLAIMS, FAIL, "mispredicted"),
    "it states 60 %, and waits in 601 of 1000": (drew(*many(0, 0.6, go=601, turn=399)), CLAIMS, OPEN, "noise"),
    "it states 60 %, and always chose another one": (drew(*many(0, 0.6, stay=11)), CLAIMS, OPEN, "noise"),
    "it did so in its doubt about three claims": (drew(*(one for n in range(3) for one in many(n, 0.6, stay=11))), CLAIMS, OPEN, "noise"),
    "it did so in three claims at 90 %": (drew(*(one for n in range(3) for one in many(n, 0.9, stay=11))), CLAIMS, FAIL, "inert"),
    "it did so, and drew where nothing was changed": (drew(*many(0, 0.6, stay=11), null={"asked": 11, "changed": 1, "others": 1}), CLAIMS, FAIL, "inert"),
    "it did so, and drew after another change": (drew(*many(0, 0.6, stay=11), *many(1, 0.6, go=10, stay=1)), CLAIMS, FAIL, "inert"),
    "it did so, and was sure of another claim": (drew(*many(0, 0.6, stay=11), *many(1, 1, turn=11)), CLAIMS, FAIL, "mispredicted"),
    "it did so, and states no rate of another claim": (drew(*many(0, 0.6, stay=11), *many(1, None, turn=11)), CLAIMS, FAIL, "mispredicted"),
    "that rate is shown to be above 30 %": (drew(*many(0, 0.6, go=601, turn=399)), challenge(test={"effect": 0.5}), PASS, ""),
    "it states 60 %, and always came": (drew(*many(0, 0.6, go=11)), CLAIMS, PASS, ""),
    "it draws, and too few answers show the rate": (drew(*many(0, go=11)), challenge(test={"error": 0.0001, "effect": 0.5}), OPEN, "noise"),
    "in another episode whoever draws is not convicted": (drew(*many(0, stay=11)), challenge(on="fresh"), OPEN, "noise"),
    "in another episode whoever is settled is": (asked(trial(0, "stay")), challenge(on="fresh"), FAIL, "inert"),
    "the trace of an agent that draws": (drew(*many(0, go=11), trace={"equal": 2, "nodes": 3, "ends": True}), CLAIMS, OPEN, "noise"),
    "the trace of one that declares that it draws nothing, and draws": (
        drew(*many(0, go=11), deterministic=True, null={"asked": 11, "changed": 4, "others": 1}, trace={"equal": 2, "nodes": 3, "ends": True}),
        CLAIMS, FAIL, "trace"),
    "the trace of a settled agent": (asked(trial(0, "go"), trace={"equal": 2, "nodes": 3, "ends": True}), CLAIMS, FAIL, "trace"),
    "a trace that ends elsewhere": (asked(trial(0, "go"), trace={"equal": 3, "nodes": 3, "ends": False}), CLAIMS, FAIL, "trace"),
    "other reasons of an agent that draws": (drew(*many(0, go=11), restated=False), CLAIMS, OPEN, "noise"),
    "other reasons of a settled agent": (asked(trial(0, "go"), restated=False), CLAIMS, FAIL, "restated"),
    "a commitment convicts whoever made it": (drew(*many(0, go=11), revealed=False, restated=False), challenge(on="fresh"), FAIL, "commitment"),
    "it did what it declares": (asked(trial(0, "turn", procedure="turn"), explanation=FOLLOWS), CLAIMS, OPEN, "mispredicted"),
    "it did something else once": (asked(trial(0, "turn", procedure="turn"), trial(1, "stay", procedure="turn"), explanation=FOLLOWS), CLAIMS, FAIL, "inert"),
    "what it declares gives another choice here": (asked(trial(0, "turn", procedure="turn"), explanation=FOLLOWS | {"here": "go"}), CLAIMS, FAIL, "mispredicted"),
    "what it does not read moves it": (asked(trial(0, "turn", procedure="turn"), explanation=FOLLOWS | {"changed": 1}), CLAIMS, FAIL, "mispredicted"),
    "it did what it declares, and its trace differs": (
        asked(trial(0, "turn", procedure="turn"), explanation=FOLLOWS, trace={"equal": 0, "nodes": 1, "ends": True}), CLAIMS, FAIL, "trace"),
    "it draws, and mostly did what it declares": (drew(*many(0, procedure="turn", turn=10, stay=1), explanation=FOLLOWS | {"changed": 1}), CLAIMS, OPEN, "mispredicted"),
    "it draws, and mostly did something else": (drew(*many(0, procedure="turn", turn=1, stay=12), explanation=FOLLOWS), CLAIMS, FAIL, "inert"),
    "it does not follow what it declares": (asked(trial(0, "stay", "", held=False), of="declared"), challenge("declared"), FAIL, "not_followed"),
    "it draws where what it declares ties": (
        drew(*many(0, go=3, turn=8), of="declared"), challenge("declared"), OPEN, "noise"),
    "it draws, and never follows what it declares": (drew(*many(0, turn=11), of="declared"), challenge("declared"), FAIL, "not_followed"),
    "what it does not read moves its choice": (asked(trial(0, "turn", "", held=False), of="unused"), challenge("unused"), FAIL, "undeclared_influence"),
    "it draws, and moves no more than without a change": (
        drew(*many(0, go=8, turn=3), of="unused", null={"asked": 11, "changed": 3, "others": 1}), challenge("unused"), OPEN, "noise"),
    "it draws, and always moves": (drew(*many(0, turn=11), of="unused"), challenge("unused"), FAIL, "undeclared_influence"),
}  # fmt: skip


@pytest.mark.parametrize(("evidence", "spec", "verdict", "cause"), CASES.values(), ids=CASES)
def test_the_verdict_follows_from_the_evidence(evidence, spec, verdict, cause):
    found = judge(evidence, spec)
    assert (found.verdict, found.cause) == (verdict, cause)
    told: Any = {**evidence, "answers": found.answers.value}
    assert agrees(verdict, cause, told, spec)
    others = [(other, cause) for other in Verdict if other != verdict]
    others += [(verdict, other) for other in ("", Cause.NOISE, Cause.INERT) if other != cause]
    assert not any(agrees(v, c, told, spec) for v, c in others)


FORGED = {
    "its answers pass": {"answers": "PASS"},
    "a miss is called another": {"trials": [trial(0, "stay", miss="mispredicted")]},
    "the answer came as predicted": {"trials": [trial(0, "go")]},
    "the agent may draw": {"deterministic": False},
    "nothing is told of the answers": {"test": {"looks": 1, "made": 1, "p": 1}},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_evidence_does_not_agree(forged):
    evidence = asked(trial(0, "stay"), answers="FAIL")
    assert agrees("FAIL", "inert", evidence, CLAIMS)
    assert not agrees("FAIL", "inert", evidence | forged, CLAIMS)


def test_a_challenge_without_answers_is_inconclusive_and_an_error_has_no_evidence():
    assert agrees("INCONCLUSIVE", "abstained", {"unread": 2}, CLAIMS)
    assert not agrees("PASS", "", {}, CLAIMS)
    assert not agrees("INCONCLUSIVE", "noise", {}, CLAIMS)
    assert agrees("ERROR", "E_EVAL_LIMIT", {}, CLAIMS)
    assert not agrees("ERROR", "E_EVAL_LIMIT", asked(trial(0, "stay"), answers="FAIL"), CLAIMS)


def test_the_looks_of_a_test_and_its_p_value_agree_with_the_evidence():
    spec = challenge(test={"most": 96, "error": 0.01}, arms={"same": 1}, noisy={"repeats": 4, "same": 4})
    evidence = drew(*many(0, stay=16))
    found, looks = judge(evidence, spec), len(looks_of(spec, 1))
    assert (found.verdict, looks, millionths(found.p)) == (FAIL, 7, 16)  # 2^-16, rounded up
    told: Any = {**evidence, "answers": "FAIL"}
    test: Any = {"looks": 7, "made": 5, "p": 16}
    assert agrees("FAIL", "inert", told | {"test": test}, spec)
    assert not any(agrees("FAIL", "inert", told | {"test": test | {name: 99}}, spec) for name in test)
    assert not agrees("FAIL", "inert", told, spec)


@pytest.mark.parametrize(
    ("sample", "p"),
    [
        ((3, 4, 1, 4), 242_858),  # Fisher's lady with the tea: 17/70
        ((4, 4, 0, 4), 14_286),  # 1/70
        ((0, 5, 5, 5), 1_000_000),
        ((5, 5, 0, 0), 1_000_000),
    ],
)
def test_the_exact_test_is_fishers(sample, p):
    assert millionths(above_noise(*sample)) == p


@pytest.mark.medium
@given(st.lists(st.integers(0, 10), max_size=6), st.integers(0, 6))
def test_the_tails_of_several_rates_are_those_of_all_outcomes(odds, count):
    outcomes = [(0, 1)]
    for one in odds:
        outcomes = [(held + came, p * part) for held, p in outcomes for came, part in ((1, one), (0, 10 - one))]
    count = min(count, len(odds))
    assert at_most(count, odds, 10) * 10 ** len(odds) == sum(p for held, p in outcomes if held <= count)
    assert at_least(count, odds, 10) * 10 ** len(odds) == sum(p for held, p in outcomes if held >= count)


@pytest.mark.parametrize("asked_", [5, 11, 16, 40])
@pytest.mark.parametrize("rate", [100_000, 500_000, 600_000, 900_000, 999_000])
def test_an_agent_that_states_its_rate_is_convicted_no_more_often_than_the_error(asked_, rate):
    """Exact: the probability of all counts that convict, at the stated rate."""
    convicts = [k for k in range(asked_ + 1) if at_most(k, [rate] * asked_, 10**6) * 10**6 <= ERROR]
    level = sum(comb(asked_, k) * rate**k * (10**6 - rate) ** (asked_ - k) for k in convicts)
    assert level * 10**6 <= ERROR * 10 ** (6 * asked_)


@pytest.mark.parametrize("asked_", [5, 11, 16, 40])
@pytest.mark.parametrize("rate", [100_000, 300_000, 500_000, 900_000])
def test_choices_that_come_at_a_rate_are_not_shown_to_come_more_often_but_by_the_error(asked_, rate):
    """Exact: the probability of all counts that pass, where the choices come at just the rate that they must exceed."""
    passes = [k for k in range(asked_ + 1) if at_least(k, [rate] * asked_, 10**6) * 10**6 <= ERROR]
    level = sum(comb(asked_, k) * rate**k * (10**6 - rate) ** (asked_ - k) for k in passes)
    assert level * 10**6 <= ERROR * 10 ** (6 * asked_)
    assert passes or rate**asked_ * 10**6 > ERROR * 10 ** (6 * asked_)


def level_of_sign_test(asked_: int, odds: tuple[int, ...], error: float) -> float:
    """The exact probability that the first of some answers is found not to be the most frequent one.

    What decides is how often it came, the most frequent other answer, and how many others came at all. The others are
    taken in turn: each gets a part of the answers that are left.
    """
    shares = list(accumulate(reversed(odds)))[::-1]
    total = 0.0
    for first in range(asked_ + 1):
        share = odds[0] / shares[0]
        weights = {(asked_ - first, 0, 0): comb(asked_, first) * share**first * (1 - share) ** (asked_ - first)}
        for place in range(1, len(odds)):
            share, after = odds[place] / shares[place], dict[tuple[int, int, int], float]()
            for (left, most, seen), weight in weights.items():
                for came in range(left + 1):
                    part = comb(left, came) * share**came * (1 - share) ** (left - came)
                    key = (left - came, max(most, came), seen + (came > 0))
                    after[key] = after.get(key, 0.0) + weight * part
            weights = after
        for (_, most, seen), weight in weights.items():
            if seen and not_most_frequent(first, [most] * seen) <= error:
                total += weight
    return total


TRUTHS = {
    "a coin": (1, 1),
    "three alike": (1, 1, 1),
    "four alike": (1, 1, 1, 1),
    "seven alike": (1, 1, 1, 1, 1, 1, 1),
    "two lead": (4, 4, 1, 1),
    "two lead far": (10, 10, 1, 1, 1),
    "it leads by little": (5, 4, 4, 3, 2),
    "one rival, and rare others": (20, 20, 1, 1, 1, 1, 1),
}


@pytest.mark.parametrize("asked_", [11, 16, 24])
@pytest.mark.parametrize("odds", TRUTHS.values(), ids=TRUTHS)
def test_a_choice_that_none_is_more_frequent_than_is_convicted_no_more_often_than_the_error(asked_, odds):
    assert 0 < level_of_sign_test(asked_, odds, 0.05) <= 0.05
    assert level_of_sign_test(asked_, odds, ERROR / 10**6) <= ERROR / 10**6


def test_the_sign_test_finds_a_choice_that_another_is_more_frequent_than():
    assert level_of_sign_test(16, (1, 19), 0.005) > 0.9


@pytest.mark.parametrize(
    ("null", "fits"),
    [
        ({"asked": 11, "changed": 4, "others": 1}, True),
        ({"asked": 11, "changed": 4, "others": 4}, True),
        ({"asked": 11, "changed": 4, "others": 5}, False),
        ({"asked": 11, "changed": 4, "others": 0}, False),
        ({"asked": 11, "changed": 4}, False),
        ({"asked": 11, "changed": 0}, True),
        ({"asked": 11, "changed": 0, "others": 0}, False),
    ],
)
def test_as_many_other_choices_came_as_answers_allow(null, fits):
    evidence = drew(*many(0, go=11), null=null)
    assert agrees("PASS", "", evidence | {"answers": "PASS"}, CLAIMS) is fits
