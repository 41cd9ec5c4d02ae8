"""`spec run`: what is run, where its evidence goes, and that a change on the command line is a change of the spec."""

import json

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Exit
from specledger.kinds.incidents import WorstIncidents, incidents_of
from specledger.kinds.running import Finished, Incident
from specledger.kinds.scenario import RUNNABLE

NAMES = ["VERIFY.md", "manifest.json", "receipts.jsonl", "sha256sums", "specs", "specs.json"]


def manifest(place):
    return json.loads((place / "manifest.json").read_bytes())


def held(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def bundles(folder):
    """The folders that are bundles and hold nothing else."""
    return sorted(
        path.parent.relative_to(folder).as_posix()
        for path in folder.rglob("manifest.json")
        if sorted(file.name for file in path.parent.iterdir()) == NAMES
    )


def test_what_a_run_says(spec, project):
    done = spec("run", "climb.yaml", "--out", "there")
    assert (done.status, done.err) == (0, "")
    made = manifest(project / "there")
    assert done.out.splitlines() == [
        "climb  PASS  climber reached the goal in 2 of 2 episodes, 6 steps, 2 drifts, invariants judged 6 times",
        "  violations: none",
        "  rejections (of 18 proposals): leap 6",
        f"  specs    {made['specs']}",
        f"  receipts 20, root {made['receipts']['root'][:12]}…",
        "  evidence there",
    ]


PROBED = {"p5-causal": {"INCONCLUSIVE": 3, "PASS": 3}, "layer-b": {"ERROR": 1, "FAIL": 2, "INCONCLUSIVE": 5, "PASS": 1}}


def test_a_run_says_how_often_each_probe_came_to_each_verdict(spec, project):
    spec("run", "climb.yaml", "--out", "there")
    made = manifest(project / "there")
    result = {**made["result"], "probes": PROBED}
    shown = RUNNABLE.show([Finished("climb", "scenario", project / "there", {**made, "result": result})])
    line = "  probes: layer-b 1 passed, 2 failed, 5 inconclusive, 1 not evaluated; p5-causal 3 passed, 3 inconclusive"
    assert line in shown.splitlines()


REFUSALS = {"step_2": ["too_tired", "too_far"]}
DIVISION = "E_EVAL_DIVISION_BY_ZERO"
WRONG = {
    "no admissible action": ("governor.with.stamina=2", "progress", REFUSALS, [(0, 2), (1, 2)], None, []),
    "a broken invariant": ("governor.invariants.bounded.with.top=1", "bounded", {"n": 2}, [(0, 1), (1, 1)], None, []),
    "an error of the agent": (
        "agent.with.fear=2",
        DIVISION,
        "action.by + 0 / (FEAR - n)",
        [(0, 2), (1, 2)],
        "climber.yaml:9:20",
        ["an integer is divided by zero"] * 2,
    ),
    "an error of a gate": (
        "governor.with.dread=2",
        DIVISION,
        "1 / (DREAD - next.n) > 1",
        [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)],
        "warden.yaml:14:22",
        ["an integer is divided by zero"] * 5,
    ),
    "a value outside its range": (
        "world.state.n={type: integer, minimum: 0, maximum: 2}",
        "E_EVAL_STATE",
        "n + by",
        [(0, 1), (0, 2), (0, 2), (1, 1), (1, 2)],
        "stairs.yaml:7:65",
        [f"n would be {value}, outside 0..2" for value in (3, 3, 4, 3, 3)],
    ),
}


def test_a_rare_failure_is_told_beside_a_frequent_one():
    worst = WorstIncidents()
    for t in range(9):
        names = ["often", "rare"] if t == 8 else ["often"]
        breaches = [{"invariant": name, "severity": "fatal", "witness": {"t": t}} for name in names]
        body = {"episode": 0, "t": t, "decisions": [], "violations": breaches, "chosen": 0}
        worst.add(Event("step", body))
    assert [(one.t, one.what) for one in worst.kept] == [
        (0, "often"),
        (1, "often"),
        (2, "often"),
        (3, "often"),
        (8, "rare"),
    ]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("change", "what", "detail", "places", "at", "whys"), WRONG.values(), ids=WRONG)
def test_what_went_wrong_is_told_in_its_order_up_to_five_times(spec, change, what, detail, places, at, whys):
    told = spec("run", "climb.yaml", "--set", change, "--format=json").json["runs"][0]["incidents"]
    reasons = [{"why": why} for why in whys] or [{}] * len(places)
    assert told == [
        {"episode": episode, "t": t, "what": what, "detail": detail, "at": at, **reason}
        for (episode, t), reason in zip(places, reasons, strict=True)
    ]
    lines = spec("run", "climb.yaml", "--set", change).out.splitlines()
    first = lines.index("  first incidents:") + 1
    shown = detail if isinstance(detail, str) else json.dumps(detail, separators=(",", ":"))
    there = "" if at is None else f"  ({at})"
    assert lines[first : first + len(places)] == [
        f"    episode {n}, step {t}: {what}  {shown}{there}{''.join(f': {why}' for why in reason.values())}"
        for (n, t), reason in zip(places, reasons, strict=True)
    ]
    assert lines[first + len(places)].startswith("  specs ")


@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "ERROR", "INCONCLUSIVE"])
def test_a_probe_that_failed_is_among_what_went_wrong(verdict):
    body = {"episode": 1, "t": 2, "probe": "steady", "verdict": verdict, "cause": "inert"}
    wrong = [Incident(1, 2, "steady", "inert", rank=1)] if verdict in {"FAIL", "ERROR"} else []
    assert incidents_of(Event("probe", body)) == wrong


def test_a_fatal_breach_comes_before_the_warnings_of_earlier_steps(spec, project, edit):
    warning = "spec: invariant/v1\nname: low\nseverity: warn\nrequire: n < 0\nwitness: {n: n}\n"
    (project / "low.yaml").write_text(warning)
    fatal = "spec: invariant/v1\nname: ends\nscope: episode\nrequire: n < 0\nwitness: {n: n}\n"
    (project / "ends.yaml").write_text(fatal)
    edit("warden.yaml", "invariants: [bounded]", "invariants: [bounded, low, ends]")
    done = spec("run", "climb.yaml", "--format=json").json["runs"][0]["incidents"]
    places = [(each["what"], each["episode"], each["t"]) for each in done]
    assert places == [("ends", 0, 3), ("ends", 1, 3), ("low", 0, 0), ("low", 0, 1), ("low", 0, 2)]


@pytest.mark.usefixtures("project")
def test_a_run_that_checked_nothing_says_so(spec):
    done = spec("run", "climb.yaml", "--set", "governor.invariants=[]")
    assert done.status == 3
    assert "  no invariant was checked, so nothing can be concluded" in done.out.splitlines()


CHANGES = {
    "a field": (["--set", "horizon=2"], "climb.yaml", "horizon: 3", "horizon: 2"),
    "the seed": (["--seed", "5"], "climb.yaml", "seed: 3", "seed: 5"),
    "the episodes": (["--episodes", "4"], "climb.yaml", "episodes: 2", "episodes: 4"),
    "a field that is not there": (["--set", "until=n == 2"], "climb.yaml", "seed: 3", "seed: 3\nuntil: n == 2"),
    "an argument": (["--set", "agent.with.fear=50"], "climb.yaml", "agent: climber", "agent: {use: climber, with: {fear: 50}}"),
    "a referenced spec": (["--set", "world.start.goal=3"], "stairs.yaml", "start: {n: 0, goal: 2}", "start: {n: 0, goal: 3}"),
    "an element by its id": (["--set", "governor.gates.leap.reason=far"], "warden.yaml", "reason: too_far", "reason: far"),
    "a default that was written": (["--set", "episodes=1"], "climb.yaml", "episodes: 2\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("words", "file", "old", "new"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_recorded_as_if_it_stood_in_the_file(spec, project, edit, words, file, old, new):
    spec("run", "climb.yaml", "--out", "plain")
    assert spec("run", "climb.yaml", *words, "--out", "set").err == ""
    edit(file, old, new)
    assert spec("run", "climb.yaml", "--out", "written").err == ""
    for name in ("receipts.jsonl", "specs.json"):
        assert (project / "set" / name).read_bytes() == (project / "written" / name).read_bytes()
    assert manifest(project / "set")["specs"] != manifest(project / "plain")["specs"]


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "horizon=9", "--set", "horizon=2"),
        ("--set", "seed=1", "--seed", "5"),
        ("--set=drift.shift.at=t == 1", "--set=drift=[]"),
    ],
    ids=" ".join,
)
def test_a_change_that_a_later_one_undoes_is_refused(spec, project, words):
    done = spec("run", "climb.yaml", *words, "--format=json")
    assert (done.status, done.codes) == (Exit.INVALID, ["E_SET_TWICE"])
    assert not (project / "out").exists()


@pytest.mark.parametrize("out", ["out", "here", "new/deep", "./dotted"])
def test_a_single_case_goes_to_out_itself(spec, project, out):
    assert spec("run", "climb.yaml", "--out", out).status == 0
    assert bundles(project) == [out.removeprefix("./")]
    assert spec("verify", out).status == 0


@pytest.fixture
def matrix(edit):
    """The scenario as a matrix of two seeds."""
    edit("climb.yaml", "seed: 3", "params: {start: int}\nmatrix: {start: [1, 2]}\nseed: ${start}")


@pytest.mark.usefixtures("matrix")
def test_the_cases_of_a_matrix_get_a_folder_each(spec, project):
    done = spec("run", "climb.yaml", "--format", "json")
    assert [run["name"] for run in done.json["runs"]] == ["climb.start=1", "climb.start=2"]
    assert bundles(project) == ["out/climb.start=1", "out/climb.start=2"]
    assert len({run["manifest"]["run"] for run in done.json["runs"]}) == 2
    for place in bundles(project):
        assert spec("verify", place).status == 0


@pytest.mark.usefixtures("project")
def test_an_earlier_bundle_is_replaced(spec, project):
    spec("run", "climb.yaml", "--out", "here")
    assert "  evidence here (replaces an earlier bundle)" in spec("run", "climb.yaml", "--out", "here").out
    done = spec("run", "climb.yaml", "--seed", 9, "--out", "here", "--format=json")
    assert done.status == 0
    assert spec("verify", "here").status == 0
    assert manifest(project / "here") == done.json["runs"][0]["manifest"]


@pytest.mark.parametrize(
    ("out", "code"),
    [
        (".", "E_OUT_FOREIGN"),
        ("..", "E_OUT_FOREIGN"),
        ("/", "E_OUT_FOREIGN"),
        ("climb.yaml", "E_OUT_FOREIGN"),
        ("full", "E_OUT_FOREIGN"),
        ("bundle/inside", "E_OUT_FOREIGN"),
        ("climb.yaml/below", "E_OUT_UNWRITABLE"),
        ("x" * 300, "E_OUT_UNWRITABLE"),
    ],
)
def test_a_place_that_will_not_do_is_refused(spec, project, out, code):
    (project / "full").mkdir()
    (project / "full" / "precious.txt").write_text("precious")
    spec("run", "climb.yaml", "--out", "bundle")
    before = held(project)
    done = spec("run", "climb.yaml", "--out", out, "--format", "json")
    assert (done.status, done.codes) == (2, [code])
    assert held(project) == before


@pytest.mark.medium
def test_the_name_of_a_shipped_scenario_works_in_place_of_a_file(spec, project):
    done = spec("run", "simple", "scenario/two-tank", "two-tank.yaml", "--episodes", "1", "--set", "horizon=2")
    assert done.status == 2
    assert "cannot read two-tank.yaml" in done.err
    done = spec("run", "simple", "two-tank", "--episodes", "1", "--set", "horizon=2")
    assert done.err == ""
    assert bundles(project) == ["out/simple", "out/two-tank"]
