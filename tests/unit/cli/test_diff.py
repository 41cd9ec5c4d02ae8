"""`spec diff`: where two bundles part, and how the command ends."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from tests.toys import CLIMB

ROOT = Path(__file__).parents[3]
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
        "seeded": (project / "climb.yaml", ["seed=6"]),
        "seeded alike": (project / "climb.yaml", ["seed=4"]),
        "ungated": (project / "climb.yaml", ["governor.gates.leap=null"]),
        "doc": (project / "climb.yaml", ["doc=other words"]),
        "suite": (project / "heights.yaml", []),
        "lower": (project / "heights.yaml", ["runs.long.set={governor.constants.STAMINA: 2}"]),
        "documented": (project / "heights.yaml", ["runs.long.set={doc: other words}"]),
        "further": (project / "heights.yaml", ["runs.long.set={horizon: 4}"]),
        "law": ("movers-balance-collisions", ["seed=1"]),
        "law in other words": ("movers-balance-collisions", ["seed=1", "doc=other words"]),
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


@pytest.mark.medium
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


def test_starts_may_differ_and_nothing_after_them(diff, spec, bundles):
    _, found = diff("run", "seeded alike")
    assert ([one["path"] for one in found["start"]], found["receipts"]) == (["seed"], None)
    assert "receipts after the start: the same" in spec("diff", bundles / "run", bundles / "seeded alike").out


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        ("run", "doc", "scenario/climb.doc"),
        ("suite", "documented", "suite/heights.runs.long.set"),
        ("law", "law in other words", "law/movers-balance-collisions.doc"),
    ],
    ids=["run", "suite", "law"],
)
def test_digests_that_follow_from_other_specs_are_no_divergence(first, second, path, diff):
    status, found = diff(first, second)
    assert (status, found["results"], found["checks"]) == (1, [], [])
    assert (found["start"], found["receipts"], found["run"]) == ([], None, None)
    assert [change["path"] for change in found["specs"]] == [path]


# what is replaced in a file of the project, what is set, and the sources that differ: (path, first, second)
OTHERWISE = {
    "a comment": (("stairs.yaml", "state:", "# why\nstate:"), [], [("specs/world/stairs.yaml:4", "state: {n: int, goal: int}", "# why")]),
    "the ends of lines": (("stairs.yaml", "\n", "\r\n"), [], [("specs/world/stairs.yaml", "the same lines", "with other ends")]),
    "a comment at the end": (
        ("stairs.yaml", "success: n >= goal\n", "success: n >= goal\n# end\n"),
        [],
        [("specs/world/stairs.yaml:13", None, "# end")],
    ),
    "a value that is set": (
        ("climb.yaml", "seed: 3", "seed: 8"),
        ["seed=3"],
        [("specs/origin.json.set[0]", None, "seed=3"), ("specs/scenario/climb.yaml:8", "seed: 3", "seed: 8")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "changes", "sources"), OTHERWISE.values(), ids=OTHERWISE)
def test_the_same_evidence_from_other_sources_is_told(diff, spec, bundles, tmp_path, edit, changes, sources):
    project = shutil.copytree(CLIMB, tmp_path / "project")
    name, old, new = edit
    text = (project / name).read_bytes()
    assert old.encode() in text
    (project / name).write_bytes(text.replace(old.encode(), new.encode()))
    execute(load(project / "climb.yaml", set=changes)[0], tmp_path / "other")
    status, found = diff("run", tmp_path / "other")
    assert (status, found["same"], found["specs"]) == (0, True, [])
    assert [(one["path"], one["first"], one["second"]) for one in found["sources"]] == sources
    said = spec("diff", bundles / "run", tmp_path / "other").out.splitlines()
    assert said[:2] == ["climb: the same specs, receipts and result, from other sources", "sources"]
    assert [line.partition(": ")[0] for line in said[2:]] == [f"  {path}" for path, _, _ in sources]
    assert diff(tmp_path / "other", tmp_path / "other")[1]["sources"] == []


@pytest.mark.medium
def test_of_two_suites_the_first_run_that_parts_is_told_too(diff):
    status, found = diff("suite", "lower")
    assert status == 1
    assert {"path": "check/climbs", "first": "passed", "second": "cannot tell"} in found["checks"]
    assert found["run"]["place"] == "runs/long.climb.3"
    assert (found["run"]["receipts"]["type"], found["run"]["receipts"]["t"]) == ("step", 2)
    assert found["run"]["start"] == []
    run = diff("suite", "further")[1]["run"]
    assert ([one["path"] for one in run["start"]], run["receipts"]["type"]) == (["horizon"], "episode_end")


def test_bundles_of_two_kinds_can_be_compared(diff):
    status, found = diff("run", "law")
    assert status == 1
    assert {change["second"] for change in found["specs"]} == {None, "there is one"}
