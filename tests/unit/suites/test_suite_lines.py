"""The lines about a finished suite, from hand-made receipts: runs by arm, what is named, and what of it is left out."""

from pathlib import Path
from typing import Any

import pytest

from specledger.kinds.running import Finished
from specledger.kinds.suite import RUNNABLE
from specledger.kinds.suite_text import suite_tables
from specledger.report.held_claims import claims_shown, claims_told


def run(arm, verdict, number=0, **result):
    return {"type": "run", "run": f"{arm}-{number}", "arm": arm, "place": "", "result": {"verdict": verdict, **result}}


def tables(*receipts, runs=None, allowed=None, spec=None):
    own = sum(receipt["type"] == "run" for receipt in receipts) if runs is None else runs
    start = {"type": "start", "runs": own, "allowed": allowed or {}}
    given: Any = [start, *receipts]
    return suite_tables(given, spec or {})


def failing(number):
    return [run("a", "FAIL", index) for index in range(number)]


RUNS = {
    "passed": ([run("a", "PASS"), run("a", "PASS", 1)], ["PASS  a  2 runs"]),
    "failed, three": (failing(3), ["FAIL  a  3 runs  a-0, a-1, a-2"]),
    "failed, four": (failing(4), ["FAIL  a  4 runs  a-0, a-1, a-2, and 1 more"]),
    "two arms": ([run("a", "PASS"), run("b", "FAIL")], ["PASS  a  1 run", "FAIL  b  1 run  b-0"]),
    "as expected": ([run("a", "PASS", status="FAIL", met=True)], ["PASS  a  1 run  FAIL as expected"]),
    "not as expected": ([run("a", "FAIL", status="PASS", met=False)], ["FAIL  a  1 run  PASS NOT as expected: a-0"]),
    "nothing expected": ([run("a", "FAIL", status="PASS")], ["FAIL  a  1 run  a-0"]),
}


@pytest.mark.parametrize(("receipts", "rows"), RUNS.values(), ids=RUNS)
def test_runs_by_arm_and_verdict(receipts, rows):
    lines = [line.strip() for line in tables(*receipts)]
    assert lines[: len(rows) + 1] == ["runs", *rows]


def test_runs_of_mutants_are_no_rows():
    lines = tables(run("a", "PASS"), run("a", "FAIL", 1), runs=1)
    assert [line.strip() for line in lines] == ["runs", "PASS  a  1 run"]


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (["INCONCLUSIVE", "INCONCLUSIVE"], True),
        (["INCONCLUSIVE", "PASS"], False),
        (["PASS", "PASS"], False),
        ([], False),
    ],
)
def test_that_every_run_is_inconclusive_is_said(verdicts, said):
    lines = tables(*[run("a", verdict, number) for number, verdict in enumerate(verdicts)])
    assert ("  every run is inconclusive" in lines) is said


def claims(arm, held, tested):
    return run(arm, "PASS", claims={"p5": {"held": held, "tested": tested}})


def test_claims_are_added_up_by_arm():
    lines = tables(claims("a", 1, 2), claims("a", 3, 4), claims("b", 0, 1))
    start = lines.index("  claims that held")
    assert [line.split()[:5] for line in lines[start + 1 : start + 3]] == [
        ["a", "p5", "4", "of", "6"],
        ["b", "p5", "0", "of", "1"],
    ]


def test_json_has_the_claims_by_arm_of_the_suite_s_own_runs():
    receipts: Any = [{"type": "start", "runs": 2}, claims("a", 1, 2), claims("a", 3, 4), claims("a", 0, 9)]
    finished = Finished("n", "suite", Path(), {}, receipts=receipts)
    assert claims_told(RUNNABLE.claims(finished))["claims"] == {"a p5": claims_shown(4, 6)}
    assert claims_told(RUNNABLE.claims(Finished("n", "suite", Path(), {}, receipts=receipts[:1]))) == {}


def check(name, verdict="PASS", least=1, error=None, **witness):
    return {
        "type": "check",
        "check": name,
        "verdict": verdict,
        "opportunities": 3,
        "least": least,
        "witness": witness,
        "error": error,
    }


def test_checks_say_their_witness_or_why_there_is_none():
    failed = {"code": "E_EVAL_RANGE", "expression": "x", "run": "a-0", "episode": 2}
    lines = tables(
        check("plain"),
        check("seen", "FAIL", 2, x=1, y=[1]),
        check("wrong", "ERROR", error=failed),
        check("other", "ERROR", error={"code": "E_LIMIT", "expression": None}),
    )
    assert [" ".join(line.split()) for line in lines] == [
        "checks",
        "PASS plain 3 opportunities",
        "FAIL seen 3 opportunities, at least 2 x 1, y 1",
        "ERROR wrong 3 opportunities E_EVAL_RANGE: x in a-0, episode 2",
        "ERROR other 3 opportunities E_LIMIT: None",
    ]


def mutant(name, verdict, *caught):
    return {"type": "mutant", "mutant": name, "suite": "s", "verdict": verdict, "caught": [*caught]}


def test_mutants_say_what_noticed_them_and_checks_that_none_makes_fail_are_named():
    lines = tables(
        check("a"), check("b"), check("c"), mutant("m", "PASS", "a", "b"), mutant("n", "FAIL"), mutant("o", "ERROR")
    )
    assert [" ".join(line.split()) for line in lines[-5:]] == [
        "mutants",
        "caught m in s by a, b",
        "SURVIVED n in s: no check noticed it",
        "ERROR o in s: no check noticed it",
        "checks that no mutant makes fail: c",
    ]
    assert not any("no mutant makes fail" in line for line in tables(check("a")))
    assert not any("no mutant makes fail" in line for line in tables(check("a"), mutant("m", "PASS", "a")))


@pytest.mark.parametrize(
    ("ids", "said"), [(["a"], "a"), (["a", "b", "c"], "a, b, c"), (["a", "b", "c", "d"], "a, b, c, and 1 more")]
)
def test_labels_of_no_log_are_named(ids, said):
    assert tables({"type": "end", "absent": {"good": ids}}) == [f"  good: no log has {said}"]
    assert tables({"type": "end"}) == []


def test_a_figure_that_could_not_be_computed_is_an_error():
    error = {"code": "E_EVAL_RANGE", "expression": "x", "run": "", "episode": 0}
    figure = {"type": "figure", "figure": "f", "statistic": "rate", "error": error, "groups": [], "clusters": "run"}
    assert [" ".join(line.split()) for line in tables(figure)] == ["figures", "f rate ERROR E_EVAL_RANGE: x"]


@pytest.mark.parametrize(
    ("group", "shown"),
    [({"of": 3, "value": 7}, "f sum 7 of 3"), ({"of": 3, "value": 7, "undecided": 2}, "f sum 7 of 3; 2 not decided")],
)
def test_a_figure_says_of_how_many_values_it_is(group, shown):
    figure = {"type": "figure", "figure": "f", "statistic": "sum", "error": None, "clusters": "run"}
    lines = tables({**figure, "groups": [{"name": "", **group}]})
    assert [" ".join(line.split()) for line in lines] == ["figures", shown]
