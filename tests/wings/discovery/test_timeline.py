"""The plot of a discovery: its laws by iteration, added up."""

from typing import Any

from specledger.report.plots import table_of
from specledger.wings.discovery.timeline import timeline


def test_a_timeline_adds_up_laws_by_their_last_status():
    plot: Any
    (plot,) = timeline(3, [(0, "PROVED"), (1, "FAIL"), (1, "PASS"), (2, "UNKNOWN")], [(1, "momentum")])
    assert {line.name: line.values for line in plot.lines} == {
        "accepted": [1, 2, 2],
        "refuted": [0, 1, 1],
        "undecided": [0, 0, 1],
    }
    heads, rows = table_of(plot)
    assert heads == ("iteration", "accepted", "refuted", "undecided", "expected law found")
    assert rows[1] == ("1", "2", "1", "0", "momentum")
    assert timeline(2, [], []) == []
