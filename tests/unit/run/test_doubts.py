"""What keeps the passes of a challenge from counting: both verifiers count it alike."""

from collections import Counter
from typing import Any

import pytest

from specledger.evidence.doubts import doubts_of, is_doubtful
from tools import verify

COUNTED: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "a pass": ("PASS", {"null": {"asked": 3, "changed": 0}}, {}),
    "a pass of an agent that draws": ("PASS", {"null": {"asked": 3, "changed": 2}}, {}),
    "a decision that never came again": (
        "INCONCLUSIVE",
        {"null": {"asked": 3, "changed": 3}},
        {"not_given_again": 1},
    ),
    "it came again once": ("INCONCLUSIVE", {"null": {"asked": 3, "changed": 2}}, {}),
    "a miss that convicts": ("FAIL", {"null": {"asked": 3, "changed": 3}}, {}),
    "nothing was asked again": ("INCONCLUSIVE", {"null": {"asked": 0, "changed": 0}}, {}),
    "nothing was asked at all": ("INCONCLUSIVE", {}, {}),
    "a kept promise": ("PASS", {"null": {"asked": 3, "changed": 0}, "promised": True}, {}),
    "a broken promise": ("PASS", {"null": {"asked": 3, "changed": 1}, "promised": True}, {"promise_broken": 1}),
    "both": (
        "INCONCLUSIVE",
        {"null": {"asked": 1, "changed": 1}, "promised": True},
        {"not_given_again": 1, "promise_broken": 1},
    ),
}


@pytest.mark.parametrize("case", COUNTED)
def test_what_a_probe_adds(case):
    verdict, evidence, counts = COUNTED[case]
    body: Any = {"verdict": verdict, "evidence": evidence}
    assert doubts_of(body) == counts


DOUBTFUL: dict[str, tuple[dict[str, int], int, bool]] = {
    "nothing": ({"held": 1, "tested": 1}, 0, False),
    "claims that are explained": ({"explained": 1}, 9, True),
    "one broken promise": ({"promise_broken": 1}, 9, True),
    "as many that never came again as passes": ({"not_given_again": 3}, 3, False),
    "more of them": ({"not_given_again": 4}, 3, True),
    "no pass": ({"not_given_again": 1}, 0, True),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_is_doubtful(case):
    claims, passes, doubtful = DOUBTFUL[case]
    verdicts = {"PASS": passes, "INCONCLUSIVE": 9} if passes else {"INCONCLUSIVE": 9}
    assert is_doubtful(claims, verdicts) is doubtful
    assert verify.is_doubtful(Counter(claims), Counter(verdicts)) is doubtful
