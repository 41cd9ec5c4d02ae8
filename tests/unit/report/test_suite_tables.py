"""The table of a suite's runs: who acted, and in whose words it is counted."""

from typing import Any

from specledger.report.sections import Count, Quoted
from specledger.report.suite_tables import called, run_heads, run_row

RESULT: Any = {"verdict": "PASS", "episodes": 3, "successes": 2, "steps": 9, "drifts": 1, "errors": 0}
RESULT |= {"violations": {}, "warnings": {}, "rejections": {}}
RUN: Any = {"run": "r", "place": "runs/r", "specs": "s", "receipts": {"root": "x"}, "replay": None, "result": RESULT}


def test_a_run_names_its_agents_and_its_model():
    row = run_row(RUN, ("a+b", "m"), False, ())
    assert row.cells == [Quoted("a, b"), Quoted("m"), *map(Count, (3, 2, 9, 1, 0))]
    assert run_heads(False) == ("run", "agent", "model", "episodes", "successes", "steps", "drifts", "errors")
    assert run_row(RUN, (), False, ()).cells[:2] == [Quoted(""), Quoted("")]


def test_a_run_of_logs_is_counted_by_trajectories_and_calls():
    assert run_row(RUN, ("a", ""), True, ()).cells[2:] == [*map(Count, (3, 9, 0))]
    assert run_heads(True) == ("run", "agent", "model", "trajectories", "calls", "errors")
    assert [called(noun, True) for noun in ("steps", "errors")] == ["calls", "errors"]
