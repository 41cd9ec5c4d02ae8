"""The shipped profile about recorded agents: evidence that is there meets it, and each control notices what is missing."""

import shutil
from typing import Any

import pytest

from specledger.kinds import KINDS, load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.reporting import ask, make_report
from specledger.report.evidence import read_evidence
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_rules import questions_of
from specledger.verify.bundle import Refuted
from specledger.verify.checks import Verification
from tests.toys import ROOT
from tests.wings.trajectories.test_recording import APPROVED, ASKED, PAID, REFUSED, call, recorded, result

PROFILE = "recorded-agents"
SUITE = str(ROOT / "examples/agentdojo/banking-suite.yaml")
RULES = {
    "payee": {"when": {"tool": "pay"}, "each": "args.to", "from": ["request"]},
    "few": {"severity": "warn", "memory": {"calls": {"count": {}}}, "require": "calls <= 9"},
}
UNREACHED = {"other": {"when": {"tool": "delete"}, "require": "false"}}
WARNING = {"few": RULES["few"]}
FINE = [ASKED, *APPROVED, *PAID]
STOLEN = [call(2, "pay", amount=5, to="Mallory"), result(2, "sent")]
NOBODY = [call(2, "look"), result(2, ""), call(3, "pay", amount=5), result(3, "sent")]


def controls(*places, replay=False):
    """The outcome of each control by the evidence of some folders."""
    evidence = [read_evidence(place, KINDS, replay=replay) for place in places]
    judgement = make_report(evidence, ask(PROFILE, None)).judgement
    assert judgement is not None
    return {control.id: control.outcome for control in judgement.controls}


def judged(folder, log, rules=RULES, **changes):
    folder.mkdir(exist_ok=True)
    recorded(folder, log, policy={"rules": rules}, **changes)
    return folder / "out"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return execute(load(SUITE)[0], tmp_path_factory.mktemp("suite") / "out").place


@pytest.mark.medium
def test_evidence_of_a_scan_and_of_a_suite_meets_it(tmp_path, suite):
    outcomes = controls(judged(tmp_path, FINE), suite, replay=True)
    assert {outcomes.pop(name) for name in ("au-10", "ia-2")} == {Outcome.NOT_APPLICABLE}
    assert set(outcomes.values()) == {Outcome.PASSED}
    assert outcomes.keys() == {
        *MISSING,
        *WITHOUT_SUITE,
        "art-12-1",
        "art-12-2",
        "au-2",
        "au-3",
        "au-9",
        "au-12",
        "ia-4",
        "ia-9",
    }


MISSING: dict[str, tuple[Any, ...]] = {
    "art-9-2": ([ASKED, *APPROVED], WARNING, {}),
    "art-9-6": (FINE, RULES | UNREACHED, {}),
    "art-12-3": ([ASKED, *APPROVED, *PAID[:1]], RULES, {}),
    "art-72-2": ([ASKED, *APPROVED[:1], *PAID], RULES, {}),
    "ac-3": ([ASKED, *STOLEN], RULES, {}),
    "ac-6": ([ASKED, *REFUSED, *PAID], RULES, {}),
    "au-6": (
        [ASKED, *NOBODY],
        {"sum": {"when": {"tool": "pay"}, "read": {"to": {"path": "args.to", "as": "text"}}, "require": "to != 'x'"}},
        {},
    ),
}
"""By control a log, and rules, whose evidence lacks what the control asks for."""
WITHOUT_SUITE = ("art-9-8", "art-15-1", "art-15-4")


@pytest.mark.parametrize("control", MISSING)
def test_a_control_notices_what_its_evidence_lacks(control, tmp_path):
    log, rules, changes = MISSING[control]
    assert controls(judged(tmp_path, log, rules, **changes))[control] is Outcome.FAILED


def test_without_a_suite_its_controls_are_untested_and_without_a_replay_one_cannot_tell(tmp_path):
    outcomes = controls(judged(tmp_path, FINE))
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.UNTESTED} == set(WITHOUT_SUITE)
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.CANNOT_TELL} == {"au-12"}


def test_without_rules_nothing_is_shown_of_them(tmp_path):
    outcomes = controls(judged(tmp_path, FINE, policies=None))
    failed = {name for name, outcome in outcomes.items() if outcome is Outcome.FAILED}
    assert failed == {"art-9-2", "art-9-6"}
    assert {outcomes["ac-3"], outcomes["au-6"], outcomes["au-3"]} <= {Outcome.UNTESTED, Outcome.PASSED}
    assert outcomes["ac-3"] is Outcome.UNTESTED


@pytest.mark.medium
def test_of_an_agent_that_decides_no_record_is_shown(tmp_path):
    place = execute(load("simple", kind="scenario", set=["episodes=1"])[0], tmp_path / "out").place
    outcomes = controls(place)
    failed = {name for name, outcome in outcomes.items() if outcome is Outcome.FAILED}
    assert failed >= {"art-9-2", "art-9-6", "art-12-1", "art-12-2", "art-72-2", "ia-4"}


def test_two_sessions_of_one_identifier_are_noticed(tmp_path):
    log = tmp_path / "log.jsonl"
    line = next((ROOT / "examples/agentdojo/logs").glob("legit*")).read_bytes().splitlines(keepends=True)[0]
    log.write_bytes(line * 2)
    place = execute(load("recorded-calls", kind="scenario")[0], tmp_path / "out", RunOptions(trajectories=(log,))).place
    assert controls(place)["ia-4"] is Outcome.FAILED


CHANGED = {
    "art-9-8": ["checks.few-misses.require=false", "mutants=[]"],
    "art-15-1": ["truth.legitimate=[other]", "mutants=[]"],
    "art-15-4": ["mutants=[{id: nothing, set: {agent.trajectories.format: null}}]"],
}


@pytest.mark.medium
@pytest.mark.parametrize("control", CHANGED)
def test_a_suite_that_shows_less_is_noticed(control, tmp_path):
    place = execute(load(SUITE, set=CHANGED[control])[0], tmp_path / "out").place
    assert controls(place)[control] is Outcome.FAILED


RECEIPTS: dict[str, tuple[str, dict[str, Any]]] = {
    "receipts/au-3.1": ("rules", {"broken": [{"rule": "r", "reason": ""}], "held": {}, "unjudged": []}),
    "receipts/au-3.2": ("commit", {"proposals": []}),
    "receipts/ia-9.1": ("commit", {"proposals": [{"action": {"op": "call", "tool": ""}}]}),
    "bundle/au-2.1": ("step", {"chosen": 0}),
}
"""By question a receipt that no run makes, made by hand."""


@pytest.mark.parametrize("question", RECEIPTS)
def test_a_record_that_lacks_something_is_noticed(question):
    questions = questions_of(load(PROFILE, kind="profile")[0], KINDS)
    answers = Answers([each for each in questions if each.id == question], "logs", "scenario")
    answers.add(Receipt(0, b"", "start", {}))
    answers.add(Receipt(1, b"", RECEIPTS[question][0], {"episode": 0, "t": 0, **RECEIPTS[question][1]}))
    (check,) = answers.checks("key", Verification())
    assert check.outcome is Outcome.FAILED


def test_evidence_without_its_trajectories_is_refused(tmp_path):
    place = judged(tmp_path / "a", FINE)
    shutil.copytree(place, tmp_path / "b")
    (tmp_path / "b/trajectories.jsonl").unlink()
    with pytest.raises(Refuted):
        controls(tmp_path / "b")
