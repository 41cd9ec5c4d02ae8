"""A severity that is none is an error wherever receipts are read, and never counts as a warning."""

import pytest

from specledger.evidence.result import Tally
from specledger.verify.checks import E_STATE, Broken
from specledger.verify.run_order import RunOrder


def start(severity):
    invariant = {"name": "rule", "scope": "step", "severity": severity}
    return {"gates": [], "invariants": [invariant], "drifts": [], "episodes": 1, "horizon": 1}


@pytest.mark.parametrize("severity", ["warning", "FATAL", "", None, 1, ["warn"]])
def test_a_run_with_an_unknown_severity_is_refuted(severity):
    with pytest.raises(Broken, match=E_STATE):
        RunOrder().add("start", start(severity))


@pytest.mark.parametrize("severity", ["fatal", "warn"])
def test_a_run_with_a_known_one_is_not(severity):
    RunOrder().add("start", start(severity))


def test_a_violation_of_an_unknown_severity_is_not_counted():
    tally = Tally()
    tally.add("start", start("warn"))
    breach = {"invariant": "rule", "severity": "grave", "witness": {}}
    end = {"ended": "horizon", "success": True, "idle": {}, "violations": [breach]}
    with pytest.raises(ValueError, match="grave"):
        tally.add("episode_end", end)
