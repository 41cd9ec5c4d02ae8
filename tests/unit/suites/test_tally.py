"""The result of a suite follows from its receipts: what is counted, and which runs may end otherwise than in a pass."""

import pytest

from specledger.evidence.suite_result import SuiteTally, beyond_allowed

FAIL, UNCLEAR = "FAIL", "INCONCLUSIVE"
ALLOWED = {
    "as many": ({(FAIL, "a"): 2}, {FAIL: {"": 2}}, []),
    "one too many": ({(FAIL, "a"): 3}, {FAIL: {"": 2}}, [(FAIL, "", 3, 2)]),
    "arms that are not named count together": ({(FAIL, "a"): 1, (FAIL, "b"): 2}, {FAIL: {"": 2}}, [(FAIL, "", 3, 2)]),
    "an arm of its own": ({(FAIL, "a"): 3, (FAIL, "b"): 2}, {FAIL: {"": 2, "a": 3}}, []),
    "an arm of its own has too many": ({(FAIL, "a"): 4}, {FAIL: {"": 9, "a": 3}}, [(FAIL, "a", 4, 3)]),
    "without a number there may be none": ({(FAIL, "b"): 1}, {FAIL: {"a": 3}}, [(FAIL, "", 1, 0)]),
    "a verdict that is not asked about": ({("PASS", "a"): 9}, {FAIL: {"": 0}}, []),
    "sorted": (
        {(UNCLEAR, "a"): 1, (FAIL, "b"): 1, (FAIL, "a"): 1},
        {FAIL: {"a": 0, "b": 0}, UNCLEAR: {"": 0}},
        [(FAIL, "a", 1, 0), (FAIL, "b", 1, 0), (UNCLEAR, "", 1, 0)],
    ),
}


@pytest.mark.parametrize(("ended", "allowed", "rows"), ALLOWED.values(), ids=ALLOWED)
def test_more_runs_than_are_allowed(ended, allowed, rows):
    assert beyond_allowed(ended, allowed) == rows


def start(runs, allowed=None):
    return "start", {"runs": runs, "allowed": allowed or {FAIL: {"": 0}, UNCLEAR: {"": 0}}}


def run(verdict="PASS", arm="a", **figures):
    return "run", {
        "arm": arm,
        "result": {"verdict": verdict, "episodes": 2, "steps": 5, "drifts": 1, "errors": 3, **figures},
    }


def check(verdict, name="c"):
    return "check", {"check": name, "verdict": verdict}


def mutant(verdict, caught=()):
    return "mutant", {"mutant": "m", "caught": list(caught), "verdict": verdict}


def figure(error=None):
    return "figure", {"error": error}


def tallied(*receipts, end=True):
    tally = SuiteTally()
    for type_, body in (*receipts, *([("end", {})] if end else [])):
        tally.add(type_, body)
    return tally


VERDICTS = {
    "nothing": ([start(0)], "INCONCLUSIVE"),
    "no run of its own": ([start(0), check("PASS")], "PASS"),
    "a check that holds": ([start(1), run(), check("PASS")], "PASS"),
    "a check that fails": ([start(1), run(), check("PASS"), check("FAIL", "d")], "FAIL"),
    "a mutant that nothing noticed": ([start(1), run(), check("PASS"), mutant("FAIL")], "FAIL"),
    "a mutant that was noticed": ([start(1), run(), check("PASS"), mutant("PASS", ["c"])], "PASS"),
    "an error of a run": ([start(2), run(), run("ERROR"), check("PASS")], "ERROR"),
    "an error of a trial alone": ([start(1), run(), check("PASS"), run("ERROR"), mutant("PASS", ["c"])], "PASS"),
    "a figure without a value": ([start(1), run(), figure({}), check("PASS")], "ERROR"),
    "figures that have values": ([start(1), run(), figure(), check("PASS")], "PASS"),
    "a later figure does not mend an earlier one": ([start(1), run(), figure({}), figure(), check("PASS")], "ERROR"),
    "a run that fails": ([start(1), run("FAIL"), check("PASS")], "FAIL"),
    "a run that may fail": ([start(2, {FAIL: {"": 1}}), run("FAIL"), run(), check("PASS")], "PASS"),
    "a trial that fails": ([start(1), run(), check("PASS"), run("FAIL"), mutant("PASS", ["c"])], "PASS"),
    "one inconclusive run of two": ([start(2), run(), run(UNCLEAR), check("PASS")], "INCONCLUSIVE"),
    "one that may be": ([start(2, {UNCLEAR: {"": 1}}), run(), run(UNCLEAR), check("PASS")], "PASS"),
    "all inconclusive, as they may be": ([start(1, {UNCLEAR: {"": 1}}), run(UNCLEAR), check("PASS")], "INCONCLUSIVE"),
    "all of two arms inconclusive": (
        [start(2, {UNCLEAR: {"": 2}}), run(UNCLEAR), run(UNCLEAR, "b"), check("PASS")],
        "INCONCLUSIVE",
    ),
}


@pytest.mark.parametrize(("receipts", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_of_a_suite(receipts, verdict):
    assert tallied(*receipts).verdict == verdict
    assert tallied(*receipts, end=False).verdict == "ERROR"


def test_the_figures_are_those_of_its_own_runs():
    tally = tallied(start(2), run(), run(steps=7), check("PASS"), run(steps=100), mutant("PASS", ["c", "d"]))
    assert tally.result() == {
        "verdict": "PASS",
        "runs": 2,
        "trials": 1,
        "episodes": 4,
        "steps": 12,
        "drifts": 2,
        "errors": 6,
        "checks": {"c": "PASS"},
        "mutants": {"m": ["c", "d"]},
    }
