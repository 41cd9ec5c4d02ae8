"""`spec diff`: where two bundles part, and how the command ends."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from engine.load import load
from engine.pipeline import execute

ROOT = Path(__file__).parents[3]
CLIMB = ROOT / "tests/unit/pipeline/climb"
SUITE = """
spec: suite/v1
name: heights
runs: {long: {scenarios: [climb], seeds: [3, 4]}}
measures: {high: "steps.map(s, s.record.reached)"}
figures: {top: {greatest: high}}
checks: [{id: climbs, require: top.value > 2, opportunities: top.of}]
"""
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schemas/results/diff.schema.json").read_text(encoding="utf-8"))
)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Bundles by name: runs, suites and laws that differ in one thing from the first of their kind."""
    folder = tmp_path_factory.mktemp("bundles")
    project = folder / "project"
    project.mkdir()
    for file in CLIMB.glob("*.yaml"):
        (project / file.name).write_bytes(file.read_bytes())
    (project / "heights.yaml").write_text(SUITE, encoding="utf-8")
    made = {
        "run": (project / "climb.yaml", []),
        "tired": (project / "climb.yaml", ["governor.with.stamina=2"]),
        "longer": (project / "climb.yaml", ["horizon=4"]),
        "doc": (project / "climb.yaml", ["doc=other words"]),
        "suite": (project / "heights.yaml", []),
        "lower": (project / "heights.yaml", ["runs.long.set={governor.constants.STAMINA: 2}"]),
        "law": ("movers-balance-collisions", ["seed=1"]),
        "law again": ("movers-balance-collisions", ["seed=2"]),
    }
    for name, (file, changes) in made.items():
        execute(load(file, kind="law" if "law" in name else None, set=changes)[0], folder / name)
    return folder


@pytest.fixture
def diff(spec, bundles):
    """The difference of two bundles as JSON, which is valid, with the status."""

    def compare(first, second):
        done = spec("diff", bundles / first, bundles / second, "--workers", "1", "--format", "json")
        SCHEMA.validate(done.json)
        return done.status, done.json

    return compare


@pytest.mark.parametrize("name", ["run", "suite", "law"])
def test_a_bundle_is_the_same_as_itself(name, diff, spec, bundles):
    status, found = diff(name, name)
    assert (status, found["same"]) == (0, True)
    if name == "run":
        assert "the same" in spec("diff", bundles / name, bundles / name).out


def test_of_two_runs_the_first_step_and_its_fields_are_told(diff, spec, bundles):
    status, found = diff("run", "tired")
    assert status == 1
    assert found["specs"] == [{"path": "governor/warden.constants.STAMINA", "first": "99", "second": "2"}]
    assert found["checks"] == [{"path": "progress", "first": "passed", "second": "failed"}]
    assert {"path": "verdict", "first": "PASS", "second": "FAIL"} in found["results"]
    parted = found["receipts"]
    assert (parted["seq"], parted["type"], parted["episode"], parted["t"]) == (8, "step", 0, 2)
    assert parted["changes"][0] == {"path": "body.chosen", "first": "1", "second": "null"}
    sides = [
        [json.loads(line) for line in (bundles / name / "receipts.jsonl").read_bytes().splitlines()]
        for name in ("run", "tired")
    ]
    alike = [left["body"] == right["body"] for left, right in zip(*sides, strict=False)]
    assert alike[1:9] == [True] * 7 + [False]  # the first names the specs
    said = spec("diff", bundles / "run", bundles / "tired").out.splitlines()
    assert "receipts part at 8 (step, episode 0, step 2)" in said
    assert "  progress: passed -> failed" in said


def test_a_run_that_goes_on_is_told(diff):
    _, found = diff("run", "longer")
    assert found["receipts"]["type"] == "start"
    assert [change["path"] for change in found["receipts"]["changes"]] == ["body.horizon"]


def test_specs_may_differ_and_receipts_not(diff):
    status, found = diff("run", "doc")
    assert (status, found["receipts"], found["results"], found["checks"]) == (1, None, [], [])
    assert [change["path"] for change in found["specs"]] == ["scenario/climb.doc"]


def test_of_two_suites_the_first_run_that_parts_is_told_too(diff):
    status, found = diff("suite", "lower")
    assert status == 1
    assert {"path": "check/climbs", "first": "passed", "second": "cannot tell"} in found["checks"]
    assert found["run"]["place"] == "runs/long.climb.3"
    assert (found["run"]["receipts"]["type"], found["run"]["receipts"]["t"]) == ("step", 2)


def test_laws_of_two_seeds_part_at_their_cases(diff):
    status, found = diff("law", "law again")
    assert status == 1
    assert [change["path"] for change in found["specs"]] == ["law/movers-balance-collisions.seed"]


def test_bundles_of_two_kinds_can_be_compared(diff):
    status, found = diff("run", "law")
    assert status == 1
    assert {change["second"] for change in found["specs"]} == {None, "there is one"}


def test_a_refuted_bundle_is_said_to_be_so(spec, bundles, tmp_path):
    broken = shutil.copytree(bundles / "run", tmp_path / "broken")
    (broken / "receipts.jsonl").write_bytes(b"{}\n")
    done = spec("diff", bundles / "run", broken)
    assert (done.status, done.out) == (1, "")
    assert "[E_FILES]" in done.err
    assert "REFUTED" in done.err
    assert spec("diff", bundles / "run", tmp_path / "nothing").status == 2
