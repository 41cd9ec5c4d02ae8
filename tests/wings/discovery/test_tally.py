"""The result of a discovery by hand-made receipts: what counts, and which verdict follows."""

from typing import Any

import pytest

from specledger.wings.discovery.result import DiscoveryTally, discovery_case


def verdict(status, share=None, counterexample=None):
    content = None if share is None else {"share": share}
    return {"status": status, "content": content, "counterexample": counterexample}


def law(key, status, share=None, late=None):
    return "law", {"law": key, "verdict": None if status is None else verdict(status, share), "late": late}


def escalated(key, status, share=None):
    return "escalation", {"law": key, "verdict": None if status is None else verdict(status, share)}


def iteration(failure=None, rejections=(), redundant=(), tokens=(0, 0, 0)):
    usage = dict(zip(("prompt_tokens", "output_tokens", "thinking_tokens"), tokens, strict=True))
    answer = {"failure": failure, "usage": usage}
    return "iteration", {"answer": answer, "rejections": list(rejections), "redundant": list(redundant)}


def expected(name, found):
    return "expected", {"law": name, "found": found}


END: tuple[str, Any] = ("end", {})


def tally(*facts):
    folded = DiscoveryTally()
    for type_, body in facts:
        folded.add(type_, body)
    return folded.result()


VERDICTS = {
    "it did not end": ([law("a", "PASS")], "ERROR"),
    "nothing was tried": ([END], "INCONCLUSIVE"),
    "an accepted law": ([law("a", "PASS"), END], "PASS"),
    "a proved law": ([law("a", "PROVED"), END], "PASS"),
    "none accepted": ([law("a", "FAIL"), law("b", "UNKNOWN"), END], "INCONCLUSIVE"),
    "a law with an error": ([law("a", "PASS"), law("b", None), END], "ERROR"),
    "what was expected": ([law("a", "FAIL"), expected("e", "a"), END], "PASS"),
    "one of two expected": ([law("a", "PASS"), expected("e", "a"), expected("f", None), END], "FAIL"),
    "escalated and refuted": ([law("a", "PASS"), escalated("a", "FAIL"), END], "INCONCLUSIVE"),
    "a late error": ([law("a", "PASS"), law("b", None, late="a"), END], "PASS"),
}


@pytest.mark.parametrize(("facts", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_of_a_discovery(facts, verdict):
    assert tally(*facts)["verdict"] == verdict


def test_every_fact_is_counted_once():
    result = tally(
        iteration(rejections=["r"], redundant=["x", "y"], tokens=(1, 20, 300)),
        iteration("E_MODEL_TIMEOUT", rejections=["r", "s"], tokens=(4000, 0, 0)),
        law("a", "PASS", 10),
        law("b", "PROVED", 200),
        law("c", "FAIL", 3000),
        law("d", "PASS"),
        law("a2", "PASS", 50_000, late="a"),
        escalated("a", "PASS", 11),
        expected("e", "a"),
        ("stop", {"reason": "enough"}),
        END,
    )
    figures = {"iterations": 2, "failures": 1, "rejected": 3, "redundant": 2, "late": 1, "evaluations": 5}
    assert result == {
        "verdict": "PASS",
        **figures,
        "escalations": 1,
        "tokens": 4321,
        "laws": {"PROVED": 1, "PASS": 2, "FAIL": 1, "UNKNOWN": 0, "ERROR": 0},
        "content": 211,
        "stopped": "enough",
        "expected": {"e": True},
    }


CASES: dict[str, tuple[str, Any, bool]] = {
    "a refuted law": ("law", {"law": "a", "verdict": verdict("FAIL", counterexample={"t": 1})}, True),
    "a refuted escalation": ("escalation", {"law": "a", "verdict": verdict("FAIL", counterexample={"t": 1})}, True),
    "without a counterexample": ("law", {"law": "a", "verdict": verdict("PASS")}, False),
    "an error": ("law", {"law": "a", "verdict": None}, False),
    "another receipt": ("stop", {"reason": "enough"}, False),
}


@pytest.mark.parametrize(("type_", "body", "is_case"), CASES.values(), ids=CASES)
def test_a_verdict_with_a_counterexample_is_a_case(type_, body, is_case):
    assert (discovery_case(3, type_, body) is not None) is is_case
