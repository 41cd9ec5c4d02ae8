"""What a report says of an agent: what it submitted at a failed decision, and the totals of its episodes."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.report.agent_metrics import _entries, _submitted, total

SUBMITTED = {
    "nothing": ([], {"state": None, "proposal": None, "trace": None}),
    "no proposal": ([{"proposals": []}], {"state": None, "proposal": None, "trace": None}),
    "no document": ([{"proposals": [{}]}], {"state": None, "proposal": None, "trace": None}),
    "no JSON": ([{"proposals": [{"document": "{a"}]}], {"state": None, "proposal": "{a", "trace": None}),
    "no object": ([{"proposals": [{"document": "[1]"}]}], {"state": None, "proposal": [1], "trace": None}),
    "an object": (
        [{"proposals": [{"document": '{"env": 1, "trace": 2}'}]}],
        {"state": 1, "proposal": {"env": 1, "trace": 2}, "trace": 2},
    ),
    "several commitments": (
        [{"proposals": [{"document": "[1]"}]}, {"proposals": [{"document": "[2]"}]}],
        {"state": None, "proposal": [2], "trace": None},
    ),
}


@pytest.mark.parametrize(("commits", "expected"), SUBMITTED.values(), ids=SUBMITTED)
def test_what_was_submitted(commits, expected):
    step: Any = SimpleNamespace(bodies=lambda type_: iter(commits) if type_ == "commit" else ())
    assert _submitted(step) == expected


def test_entries_of_the_audit_log_name_the_agent_that_they_are_about():
    receipts = [("audit", {"n": 1}), ("audit", {"n": 2}), ("step", {"agent": "a"}), ("audit", {"n": 3}), ("step", {})]
    step: Any = SimpleNamespace(receipts=[*receipts, ("probe", {}), ("audit", {"n": 4})])
    assert _entries(step) == [{"agent": "a", "n": 1}, {"agent": "a", "n": 2}, {"n": 3}, {"n": 4}]


def episode(**changes):
    plain = {"spent": {}, "probes": {}, "passed": None, "success": False, "replay": {"equal": 0, "nodes": 0}}
    return {**plain, "token_failures": {}, "invariant_failures": {}, "violations": {}, **changes}


def probe(verdict, **changes):
    plain = {"verdict": verdict, "cause": "", "answers": "", "questions": 1, "claims": [], "vague": 0}
    return {**plain, "held": 0, "tested": 0, **changes}


def test_totals_of_episodes():
    totals = total([
        episode(success=True, passed=True, spent={"steps": 2}, replay={"equal": 3, "nodes": 4}, violations={"b": 1}),
        episode(passed=False, spent={"steps": 5, "calls": 1}, replay={"equal": 1, "nodes": 4}, violations={"b": 2, "a": 1}),
        episode(),
    ])  # fmt: skip
    assert (totals["episodes"], totals["successes"], totals["spent"]) == (3, 1, {"steps": 7})
    assert (totals["passed"]["value"], totals["passed"]["of"]) == (500_000, 2)
    assert totals["replay_fidelity"] == {"equal": 4, "nodes": 8, "share": 500_000}
    assert totals["violations"] == {"a": 1, "b": 3}
    assert total([episode()])["replay_fidelity"]["share"] is None
    assert "spent" not in total([episode()])


def test_totals_of_a_probe():
    claims = [{"confidence": 900_000, "held": True}, {"confidence": 100_000, "held": False}]
    episodes = [
        episode(probes={"p": [probe("PASS"), probe("FAIL", cause="moved", claims=claims, held=1, tested=2)]}),
        episode(probes={"p": [probe("INCONCLUSIVE", vague=1), probe("ERROR")], "q": []}),
        episode(probes={"p": [probe("PASS", questions=3), probe("INCONCLUSIVE")]}),
        episode(),
    ]
    found = total(episodes)["probes"]
    assert list(found) == ["p", "q"]
    told = found["p"]
    assert told["verdicts"] == {"ERROR": 1, "FAIL": 1, "INCONCLUSIVE": 2, "PASS": 2}
    assert told["causes"] == {"moved": 1}
    assert (told["failed"]["value"], told["failed"]["of"]) == (500_000, 2)
    assert (told["undecided"], told["not_made"], told["questions"], told["vague"]) == (1, 1, 8, 1)
    assert (told["claims"]["held"], told["claims"]["tested"]) == (1, 2)
    assert told["calibration"]["brier"] == 10_000
    assert "answers_failed" not in told
    assert {"calibration", "claims", "vague"}.isdisjoint(found["q"])


def test_answers_are_judged_apart():
    probes = [probe("INCONCLUSIVE", answers="FAIL"), probe("PASS", answers="PASS")]
    told = total([episode(probes={"p": [each]}) for each in probes])["probes"]["p"]
    assert (told["failed"]["value"], told["failed"]["of"]) == (0, 1)
    assert (told["answers_failed"]["value"], told["answers_failed"]["of"]) == (500_000, 2)
