"""Cases of a matrix: arms of a suite that its checks join, one case alone, and the values of the axes in what is written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS, load
from specledger.pipeline.checking import load_cases, load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.reporting import make_report
from specledger.pipeline.verifying import verify
from specledger.report.evidence import read_evidence
from specledger.report.formats import FORMATS

ROOT = Path(__file__).parents[3]
CLIMBS = """
spec: scenario/v1
name: climbs
extends: climb
params: {fear: {type: int, default: 99}, goal: {type: int, default: 2}}
matrix: {fear: [99, 2], goal: {from: 1, to: 3}}
start: {goal: "${goal}"}
drift: []
agent: {use: climber, with: {fear: "${fear}"}}
"""
SUITE = """
spec: suite/v1
name: heights
runs:
  each: {cases: climbs, seeds: [3, 4], set: {episodes: 1}}
  plain: {scenarios: [climb]}
figures:
  arrives: {rate: success, over: [each]}
  steps_by: {mean: size(steps), over: each, by: arm}
  lead: {difference: "success ? 1 : 0", over: ["each.fear=99,goal=1", "each.fear=99,goal=3"]}
checks:
  - id: monotone
    require: "steps_by.all(a, steps_by.all(b, a.case.fear != b.case.fear || a.case.goal > b.case.goal || a.of == b.of))"
    opportunities: arrives.of
  - {id: six-cases, require: "size(steps_by) == 6 && steps_by.exists(a, a.case.goal == 3)", opportunities: arrives.of}
mutants:
  - {id: nothing, arms: [each], set: {governor.gates.leap: null}}
"""


@pytest.fixture
def suite(project):
    (project / "climbs.yaml").write_text(CLIMBS.lstrip(), encoding="utf-8")
    (project / "heights.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    return project


@pytest.mark.medium
def test_every_case_is_an_arm_and_checks_join_them(suite, receipts):
    found = receipts("mutants=[]")
    arms = [f"each.fear={fear},goal={goal}" for fear in (2, 99) for goal in (1, 2, 3)]
    assert [one["run"] for one in found["run"]] == [f"{arm}.{seed}" for arm in arms for seed in (3, 4)] + [
        "plain.climb"
    ]
    figures = {one["figure"]: one["groups"] for one in found["figure"]}
    assert figures["arrives"][0]["of"] == 12
    assert [(one["name"], one["case"]) for one in figures["steps_by"]] == [
        (arm, {"fear": fear, "goal": goal})
        for arm, fear, goal in zip(arms, [2] * 3 + [99] * 3, [1, 2, 3] * 2, strict=True)
    ]
    assert figures["lead"][0]["of"] == 2
    assert {one["check"]: one["verdict"] for one in found["check"]}["six-cases"] == "PASS"


@pytest.mark.medium
def test_an_arm_runs_what_the_case_alone_runs(suite):
    done = execute(load("heights.yaml", set=["mutants=[]"])[0], suite / "out")
    (alone,) = load("climbs.yaml", set=["episodes=1", "seed=4"], case="goal=3,fear=99")
    manifest = json.loads((done.place / "runs/each.fear=99,goal=3.4/manifest.json").read_bytes())
    assert (alone.case, alone.digest) == ("fear=99,goal=3", manifest["specs"])


@pytest.mark.medium
def test_both_verifiers_accept_it(suite, finished):
    done = finished()
    assert verify(done.place).intact
    tool = subprocess.run(
        [sys.executable, ROOT / "tools/verify.py", done.place], capture_output=True, text=True, check=False
    )
    assert tool.returncode == 0, tool.stdout


WRONG = {
    "an axis is given": ("cases: climbs", "cases: {use: climbs, with: {goal: 1}}", "E_MATRIX_PLACE", "axis"),
    "scenarios and cases": ("cases: climbs", "cases: climbs, scenarios: [climb]", "E_SPEC_VALUE", "each"),
    "neither": ("cases: climbs, ", "", "E_SPEC_VALUE", "each"),
    "a matrix among scenarios": ("scenarios: [climb]", "scenarios: [climbs]", "E_MATRIX_PLACE", "matrix"),
    "nothing of the name": ("cases: climbs", "cases: clims", "E_REF_MISSING", "clims"),
    "no such case": ("goal=3", "goal=4", "E_SUITE_ARM", "goal=4"),
    "a difference of many": ('over: ["each.fear=99,goal=1",', "over: [each,", "E_SUITE_ARM", "two arms"),
    "a check of no axis": ("a.case.goal == 3", "a.case.gaol == 3", "E_EXPR_UNKNOWN_FIELD", "gaol"),
}


@pytest.mark.parametrize(("old", "new", "code", "says"), WRONG.values(), ids=WRONG)
def test_mistakes(suite, edit, findings, old, new, code, says):
    edit(old, new)
    found = findings()
    assert [one[0] == code and one[1] is not None and says in f"{one[2]} {one[3]}" for one in found] == [True], found


CHOSEN = {"goal=2": 2, "fear=99": 3, "goal=2,fear=99": 1, "fear=99,goal=2": 1}


@pytest.mark.parametrize(("values", "count"), CHOSEN.items())
def test_cases_are_chosen_by_their_values(suite, values, count):
    chosen = load_runs(["climbs.yaml"], case=values)
    assert len(chosen) == count
    assert all(set(values.split(",")) <= set(one.case.split(",")) for one in chosen)


@pytest.mark.parametrize(("target", "hint"), [("climbs.yaml", "fear=99,goal=1"), ("climb.yaml", "it has no matrix")])
def test_no_such_case_is_said_with_what_there_is(suite, target, hint):
    with pytest.raises(Rejected) as caught:
        load_cases(target, case="gaol=1")
    (found,) = caught.value.diagnostics
    assert (found.code, hint in str(found.hint)) == ("E_MATRIX_CASE", True)


@pytest.mark.medium
def test_reports_name_the_values_of_the_axes(suite):
    cases = load("climbs.yaml", case="fear=99")
    places = [execute(case, suite / f"out/{number}").place for number, case in enumerate(cases)]
    found = [read_evidence(place, KINDS) for place in places]
    for name, format_ in FORMATS.items():
        if format_.several and not format_.folder and name != "github":  # an annotation is of a failure
            text = format_.write(make_report(found, None, None)).text
            assert all(f"climbs.fear=99,goal={goal}" in text for goal in (1, 2, 3)), name
    assert verify(places[0]).verdict is Verdict.PASS
