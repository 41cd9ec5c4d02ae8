"""The shipped policy of a company: shipped runs meet it, and each of its rules is shown false by a changed run."""

import pytest

from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.pipeline.reporting import ask, make_report
from specledger.report.evidence import read_evidence
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_rules import questions_of
from specledger.verify.checks import Verification

POLICY = "company-policy"
RUNS = ("hazard", "river-crossing", "thermostat", "vault-run")
BROKEN = {
    "no-harm": ("river-crossing", ["governor.gates=[]"], Outcome.FAILED),
    "doors": ("vault-run", ["agent.candidates.1.when=has_key && at == DOOR - 1 && !open"], Outcome.FAILED),
    "service-level": ("thermostat", ["world.constants.HEAT=3"], Outcome.FAILED),
    "spending": ("hazard", ["world.constants.BUDGET={qfixed: 400.0}", "horizon=70", "episodes=1"], Outcome.FAILED),
    "no-second-thoughts": ("thermostat", ["commit=none"], Outcome.FAILED),
    "stop-on-doubt": ("thermostat", ["agent.score='1 / 0'"], Outcome.FAILED),
    "release": ("river-crossing", ["governor.gates=[]"], Outcome.FAILED),
    "whole-release": ("thermostat", [], Outcome.FAILED),
    "records": ("thermostat", [], Outcome.CANNOT_TELL),
}
"""By control a run that does not meet it: its name, what is changed, and the outcome. Without replay, records are open.

One run is no release."""


def judged(place, *, replay):
    found = [read_evidence(one, KINDS, replay=replay) for one in sorted(place.iterdir())]
    judgement = make_report(found, ask(POLICY, None)).judgement
    assert judgement is not None
    return {control.id: control.outcome for control in judgement.controls}


@pytest.mark.medium
def test_the_shipped_runs_meet_it(tmp_path):
    for name in RUNS:
        execute(load(name, kind="scenario")[0], tmp_path / name)
    outcomes = judged(tmp_path, replay=True)
    assert outcomes.pop("personal-data") is Outcome.NOT_APPLICABLE
    assert set(outcomes.values()) == {Outcome.PASSED}
    assert outcomes.keys() == {*BROKEN, "approval"}


@pytest.mark.medium
@pytest.mark.parametrize("control", BROKEN)
def test_a_rule_that_is_broken_is_noticed(control, tmp_path):
    name, changes, outcome = BROKEN[control]
    execute(load(name, kind="scenario", set=changes)[0], tmp_path / name)
    assert judged(tmp_path, replay=False)[control] is outcome


def test_an_action_that_a_rule_rejected_is_noticed():
    """No run has one, since the actuator refuses it: the receipt is made by hand."""
    from specledger.kinds import KINDS

    questions = questions_of(load(POLICY, kind="profile")[0], KINDS)
    answers = Answers([one for one in questions if one.id == "receipts/approval.1"], "thermostat", "scenario")
    rejected = [{"gate": "g", "reason": "r", "witness": {}}]
    for number, decision in enumerate(([], rejected)):
        body = {"episode": 0, "t": number, "chosen": 0, "decisions": [{"rejected": decision, "error": None}]}
        answers.add(Receipt(number, b"", "step", body))
    (check,) = answers.checks("key", Verification())
    assert (check.outcome, check.failures) == (Outcome.FAILED, 1)
