"""What cannot be evaluated makes the whole an ERROR, status 4, wherever values are folded; never a pass or a refutation."""

import json
import shutil

import pytest

from tests.toys import CLIMB, ROOT

ABSENT = "\"{'a': 1}[string(n)]\""
RUNS = {
    "an invariant": ["governor.invariants.bounded.require=1 / (n - n) > 0"],
    "the condition of an invariant": ["governor.invariants.bounded.when=1 / (n - n) > 0"],
    "the witness of a breach": ["governor.invariants.bounded.with.top=1", f"governor.invariants.bounded.witness.n={ABSENT}"],
    "what an invariant counts": [
        "governor.invariants.bounded.require=null", "governor.invariants.bounded.at_most={count: 1 / (n - n) > 0, times: 9}",
    ],
    "a gate": ["governor.gates.leap.deny=1 / (n - n) > 0"],
    "the witness of a gate": [f"governor.gates.leap.witness.by={ABSENT}"],
    "a price": [f"governor.cost.step={ABSENT}"],
    "a figure of the world": [f"world.record.reached={ABSENT}"],
    "success": ["world.success=1 / (n - n) > 0"],
    "the end of an episode": ["until=1 / (n - n) > 0"],
    "the score of an agent": [f"agent.score={ABSENT}"],
}  # fmt: skip


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
def test_in_a_run(spec, tmp_path, settings):
    done = spec("run", CLIMB / "climb.yaml", *(f"--set={one}" for one in settings), "--out", tmp_path / "out")
    assert (done.status, "ERROR" in done.out) == (4, True), done
    assert "evaluation cannot be decided" in spec("report", tmp_path / "out").out


SUITE = """
spec: suite/v1
name: heights
runs: {long: {scenarios: [climb], seeds: [3]}}
measures: {heights: "steps.map(s, s.record.reached)", top: "maximum(heights, 0)"}
figures: {highest: {greatest: top}, middle: {mean: top}, nothing: {rate: "slice([true], 1, 2)"}, unread: {sum: top}}
checks:
  - {id: climbs, require: highest.value > 2, opportunities: highest.of, witness: {height: highest.value}}
"""
KEY = "{'a': 1}['b' + string(size(runs))]"
SUITES = {
    "a measure that reads an absent key": {"measures.heights": "steps.map(s, {'a': 1}[string(s.t)])"},
    "a measure of a measure": {"measures.top": "{'a': 1}[string(size(heights))]"},
    "a figure": {"figures.highest.greatest": "{'a': 1}[string(size(heights))]"},
    "a figure that no check reads": {"figures.unread.sum": "{'a': 1}[string(size(heights))]"},
    "what is decided of a figure that no check reads": {"figures.unread.decided": "{'a': true}[string(top)]"},
    "a check that reads an absent key": {"checks.climbs.require": f"{KEY} > 0"},
    "the same without opportunities": {"checks.climbs.require": f"{KEY} > 0", "checks.climbs.opportunities": "0"},
    "opportunities that read an absent key": {"checks.climbs.opportunities": KEY},
    "a witness that reads an absent key": {"checks.climbs.witness.height": KEY},
    "opportunities, and a figure of too few clusters": {
        "checks.climbs.require": "middle.value > 0",
        "checks.climbs.opportunities": KEY,
    },
    "a check without opportunities that reads such a figure": {
        "checks.climbs.require": f"{KEY} > 0 && middle.cluster.low > 0",
        "checks.climbs.opportunities": "0",
    },
    "a witness that reads such a figure": {"checks.climbs.witness.height": f"{KEY} + middle.of"},
    "a check that reads a figure of nothing": {
        "checks.climbs.require": f"{KEY} > 0 && nothing.value > 0",
        "checks.climbs.opportunities": "nothing.of",
    },
}


@pytest.mark.medium
@pytest.mark.parametrize("changes", SUITES.values(), ids=SUITES)
def test_in_a_suite(spec, tmp_path, changes):
    project, out = shutil.copytree(CLIMB, tmp_path / "project"), tmp_path / "out"
    (project / "heights.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    assert spec("run", project / "heights.yaml", "--out", out).status == 0
    done = spec(
        "run", project / "heights.yaml", *(f'--set={place}="{text}"' for place, text in changes.items()), "--out", out
    )
    assert (done.status, "E_EVAL_NO_SUCH_KEY" in done.out) == (4, True), done
    report = spec("report", out, "--format", "json")
    assert "E_EVAL_NO_SUCH_KEY" in report.out
    assert spec("verify", out).status == 0, "the evidence of an error is intact"


def test_in_a_law(spec, tmp_path):
    law, out = ROOT / "specs" / "law" / "square-of-squares.yaml", tmp_path / "out"
    assert spec("run", law, "--out", out).status == 0, "the error is expected"
    assert spec("run", law, "--set=expect=null", "--out", out).status == 4
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["result"]["verdict"] == "ERROR"
    assert "cannot be decided: UNKNOWN (evaluation_error)" in spec("report", out).out


RULE = """
spec: profile/v1
name: heights
source: A document
controls:
  - {id: one, section: "1", says: It is so., status: shown, evidence: [{receipts: step, require: REQUIRED}]}
  - {id: two, section: "2", says: It holds., status: shown, evidence: [{receipts: step, require: HOLDS}]}
"""
PROFILES = {
    "an absent key": ("body.record.nothing > 0", "body.t >= 0", 4),
    "beside what fails": ("body.record.nothing > 0", "body.t < 0", 4),
    "only what fails": ("body.t >= 0", "body.t < 0", 1),
    "a replay that nobody asked for": ("run.replayed", "body.t >= 0", 3),
}


@pytest.mark.parametrize(("required", "holds", "status"), PROFILES.values(), ids=PROFILES)
def test_in_a_profile(spec, tmp_path, required, holds, status):
    profile, out = tmp_path / "heights.yaml", tmp_path / "out"
    profile.write_text(RULE.lstrip().replace("REQUIRED", required).replace("HOLDS", holds), encoding="utf-8")
    assert spec("run", CLIMB / "climb.yaml", "--out", out).status == 0
    assert spec("report", out, "--profile", profile).status == status
