"""Failing cases of laws and discoveries: the receipts whose verdicts have a counterexample, the first of each law."""

import pytest

from specledger.evidence.counterexamples import Cases
from specledger.wings.discovery.result import DISCOVERY
from specledger.wings.laws.result import LAW

RING = {"start": ".>", "t": 1}


def verdict(counterexample=RING, law="l"):
    return {"verdict": {"counterexample": counterexample, "law": law}}


CASES = {
    "a refuted law": (LAW, [("start", {}), ("cases", {}), ("verdict", verdict()), ("end", {})], {2: ["law:l"]}),
    "a law that holds": (LAW, [("start", {}), ("verdict", verdict(None))], {}),
    "refuted laws of a discovery": (
        DISCOVERY,
        [("law", verdict() | {"law": name}) for name in "aba"] + [("escalation", verdict() | {"law": "c"})],
        {0: ["law:a"], 1: ["law:b"], 3: ["law:c"]},
    ),
    "laws that were not judged": (
        DISCOVERY,
        [("law", {"verdict": None, "law": "a"}), ("iteration", {}), ("law", verdict(None) | {"law": "a"})],
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_laws_show_what_refutes_them(name):
    kind, receipts, expected = CASES[name]
    cases = Cases(kind.cases)
    for type_, body in receipts:
        cases.add(type_, body)
    assert all(case.first == case.last for case in cases.kept)
    assert {case.last: [*case.causes] for case in cases.kept} == expected


@pytest.mark.parametrize(
    ("kind", "result", "expected"),
    [
        (LAW, {"verdict": "PASS", "status": "FAIL"}, True),
        (LAW, {"verdict": "PASS", "status": "PROVED"}, False),
        (DISCOVERY, {"verdict": "PASS"}, True),
    ],
)
def test_receipts_are_read_again_only_where_they_can_show_a_failure(kind, result, expected):
    assert kind.may_fail(result) is expected
