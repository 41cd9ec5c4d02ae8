"""Suites on the command line: what the commands print about them, as text and as JSON."""

import json
import re
import shlex

import pytest

from specledger.kinds.suite_text import suite_tables

pytestmark = pytest.mark.usefixtures("project")


def test_a_suite_is_shown_in_tables(spec, project):
    status, out, err = spec("run", "heights.yaml", "--out=here", "--workers=1")
    made = json.loads((project / "here" / "manifest.json").read_bytes())
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "heights  PASS  4 runs, 8 episodes, 20 steps, 4 runs of mutants and their controls",
        "  runs",
        "    PASS  long   2 runs",
        "    PASS  short  2 runs",
        "  figures",
        "    arrives             rate        100.00 %  4 of 4, 51.01 to 100.00 %",
        "    arrives_by_seed[3]  rate        50.00 %   2 of 4, 15.00 to 85.00 %",
        "    arrives_by_seed[4]  rate        50.00 %   2 of 4, 15.00 to 85.00 %",
        "    high                mean        1.800     of 20",
        "    highest             greatest    3         of 4",
        "    lead                difference  1.000     of 4",
        "    temptations         rate        100.00 %  20 of 20, 83.89 to 100.00 %",
        "  checks",
        "    PASS  climbs         4 opportunities   height 3",
        "    PASS  further        4 opportunities",
        "    PASS  one-at-a-time  20 opportunities",
        "  mutants",
        "    caught  no-bound  in heights by climbs",
        "  checks that no mutant makes fail: further, one-at-a-time",
        f"  specs    {made['specs']}",
        f"  receipts {made['receipts']['count']}, root {made['receipts']['root'][:12]}…",
        "  evidence here",
    ]


def test_a_suite_in_json(spec, project):
    status, out, _ = spec("run", "heights.yaml", "--out=here", "--format=json")
    (run,) = json.loads(out)["runs"]
    assert status == 0
    assert run["manifest"] == json.loads((project / "here" / "manifest.json").read_bytes())
    assert [one["type"] for one in run["receipts"]] == ["start", *["figure"] * 6, *["check"] * 3, "mutant", "end"]


@pytest.mark.medium
def test_suites_and_scenarios_run_together_by_name_or_file(spec, project):
    folder = project / "specs" / "suite"
    folder.mkdir(parents=True)
    (project / "heights.yaml").rename(folder / "heights.yaml")
    (project / "specs" / "scenario").mkdir()
    for name in ("climb", "stairs", "warden", "climber", "shift", "pot", "bounded"):
        kind = (project / f"{name}.yaml").read_text().partition("/")[0].removeprefix("spec: ")
        (project / "specs" / kind).mkdir(exist_ok=True)
        (project / f"{name}.yaml").rename(project / "specs" / kind / f"{name}.yaml")
    status, out, err = spec("run", "heights", "climb", "--set=doc=both")
    assert (status, err) == (0, "")
    assert out.startswith("heights  PASS")
    assert "\nclimb  PASS" in out
    assert (project / "out" / "heights" / "runs").is_dir()
    status, _, err = spec("run", "nowhere")
    assert (status, "E_REF_MISSING" in err) == (2, True)
    status, _, err = spec("run", "specs/world/stairs.yaml")
    assert (status, "E_SPEC_WRONG_KIND" in err) == (2, True)


@pytest.mark.medium
def test_a_seed_for_a_suite_is_refused_and_those_of_its_runs_are_named(spec, project):
    for words in (["heights.yaml"], ["climb.yaml", "heights.yaml"]):
        status, out, err = spec("run", *words, "--seed", "7")
        assert (status, out) == (2, "")
        assert err.startswith("heights.yaml:1:7: error[E_SEED_SUITE]")
        assert "--set 'runs.long.seeds=[7]' --set 'runs.short.seeds=[7]'" in err
    assert not (project / "out").exists()


@pytest.mark.medium
def test_a_number_of_episodes_for_a_suite_is_refused_and_the_paths_that_set_it_are_named(spec, project):
    status, out, err = spec("run", "climb.yaml", "heights.yaml", "--episodes", "7")
    assert (status, out) == (2, "")
    assert err.startswith(
        "heights.yaml:1:7: error[E_EPISODES_SUITE]: heights is a suite, and each of its arms has its own episodes"
    )
    (hint,) = re.findall(r"hint: for its runs: (.*)", err)
    assert hint == """--set 'runs.long.set={"episodes":7}' --set 'runs.short.set={"episodes":7,"horizon":2}'"""
    done = spec("plan", "heights.yaml", *shlex.split(hint), "--format=json")
    assert done.err == ""
    (plan,) = done.json["plans"]
    assert plan["episodes"] == 4 * 7
    both = spec("run", "heights.yaml", "--episodes", "7", "--seed", "7").err
    assert ("error[E_EPISODES_SUITE]" in both, "error[E_SEED_SUITE]" in both) == (True, True)


def test_a_warning_of_a_suite_is_shown_and_stops_nothing(spec, edit):
    edit("r.gate == 'leap'", "r.gate == 'leep'")
    status, out, err = spec("check", "heights.yaml")
    assert (status, out.startswith("ok suite heights ")) == (0, True)
    assert "warning[W_SUITE_NAME]: no run of the suite has the gate 'leep'" in err
    assert err.endswith("0 errors, 1 warning. `spec explain CODE` says more about a code.\n")


@pytest.mark.medium
def test_check_compiles_every_scenario_of_a_suite(spec, edit):
    assert spec("check", "heights.yaml")[0] == 0
    edit("set: {horizon: 2}", "set: {governor.gates.leap.deny: action.by > 'x'}")
    status, _, err = spec("check", "heights.yaml")
    assert (status, "E_EXPR_TYPE" in err) == (2, True)
    status, _, err = spec("run", "heights.yaml", "--workers=2")
    assert (status, "E_EXPR_TYPE" in err) == (2, True)


def test_a_mistake_of_a_scenario_is_told_once_and_where_it_was_written_however_many_seeds_there_are(spec, edit):
    edit("horizon: 3\n", "horizon: 3\nuntil: t == 'x'\n", "climb.yaml")
    status, _, err = spec("check", "heights.yaml")
    assert status == 2
    assert err.count("error[E_EXPR_") == 1, err
    assert "climb.yaml:11:8: error[E_EXPR_" in err


@pytest.mark.parametrize(("words", "workers"), [([], 7), (["--workers=2"], 2)])
def test_runs_are_shared_by_as_many_workers_as_the_machine_has_processors_for(spec, monkeypatch, words, workers):
    asked = []

    def execute(bundle, place, options, progress, *, announced):
        asked.append(options.executor.width)
        raise KeyboardInterrupt

    monkeypatch.setattr("specledger.run.workers.available", lambda: 7)
    monkeypatch.setattr("specledger.pipeline.executing.execute", execute)
    assert (spec("run", "heights.yaml", *words)[0], asked) == (130, [workers])


@pytest.mark.medium
def test_a_suite_is_pinned_by_its_receipts(spec, project, edit):
    assert spec("golden", "heights.yaml", "--update")[:2] == (0, "heights: accepted\n")
    assert {path.name for path in (project / "fixtures" / "golden").iterdir()} == {"heights.json", "heights.jsonl"}
    assert spec("golden", "heights.yaml")[:2] == (0, "heights: same\n")
    edit("highest.value > ENOUGH", "highest.value > 9")
    status, _, err = spec("golden", "heights.yaml")
    assert status == 1
    assert "verdict: recorded 'PASS', replayed 'FAIL'" in err


@pytest.mark.medium
def test_without_files_all_that_is_pinned_is_compared_and_must_be_there(spec, project, edit):
    for path in project.glob("*.yaml"):
        kind = project / "specs" / path.read_text().partition("/")[0].removeprefix("spec: ")
        kind.mkdir(parents=True, exist_ok=True)
        path.rename(kind / path.name)
    spec("golden", "--update", "climb", "heights")
    assert spec("golden")[:2] == (0, "climb: same\nheights: same\n")
    edit("highest.value > ENOUGH", "highest.value > 9", "specs/suite/heights.yaml")
    status, out, _ = spec("golden")
    assert (status, out) == (1, "climb: same\nheights: differs, and its verdict is FAIL\n")
    (project / "fixtures/golden/heights.json").unlink()
    assert spec("golden")[:2] == (1, "climb: same\nheights: not pinned, and its verdict is FAIL\n")
    assert spec("golden", "-q")[:2] == (1, "heights: not pinned, and its verdict is FAIL\n")
    (project / "specs/suite/heights.yaml").unlink()
    for words in ([], ["--update"]):
        status, out, err = spec("golden", *words)
        assert (status, out) == (1, "climb: same\n")
        assert "error[E_GOLDEN_DIFFERS]: heights: pinned, but there is no such spec" in err
    (project / "specs/scenario/climb.yaml").unlink()
    assert spec("golden")[:2] == (1, "")


def _figure(name, statistic, group, clusters="scenario"):
    made = {"figure": name, "statistic": statistic, "clusters": clusters, "groups": [{"name": "", **group}]}
    return {"type": "figure", **made, "error": None}


def test_what_could_not_be_computed_is_shown_and_escaped():
    rate = {"of": 8, "count": 4, "value": 500_000, "wilson": {"low": 215_200, "high": 784_800}}
    effect = {"of": 8, "count": 4, "against": 1, "value": 375_000, "newcombe": {"low": -10_000, "high": 648_300}}
    cause = {"code": "E_X", "expression": "a\x1b[31m", "offset": 0, "run": "r", "episode": 2}
    receipts: list[dict] = [
        {"type": "figure", "figure": "f", "statistic": "mean", "clusters": "scenario", "groups": [], "error": cause},
        _figure("g", "mean", {"of": 0}),
        _figure("h", "rate", {"of": 0, "undecided": 4}),
        _figure("i", "rate", {**rate, "undecided": 2, "clusters": 3}),
        _figure("j", "rate", {**rate, "clusters": 9, "cluster": {"low": 100_000, "high": 900_000}}, clusters="seed"),
        _figure("e", "effect", {**effect, "undecided": 2}),
        _figure("n", "effect", {"of": 0, "count": 0, "against": 0}),
        _figure("k", "mean", {"of": 8, "value": 500_000, "clusters": 8}, clusters="run"),
        {
            "type": "check",
            "check": "c",
            "verdict": "ERROR",
            "opportunities": 0,
            "least": 1,
            "witness": {},
            "error": cause,
        },
        {
            "type": "check",
            "check": "d",
            "verdict": "INCONCLUSIVE",
            "opportunities": 3,
            "least": 9,
            "witness": {},
            "error": None,
        },
        {"type": "mutant", "mutant": "m", "suite": "s", "verdict": "FAIL", "caught": []},
    ]
    assert suite_tables(receipts, {}) == [
        "  figures",
        "    f  mean    ERROR         E_X: a\\x1b[31m in r, episode 2",
        "    g  mean    none          of 0",
        "    h  rate    not decided   of 0; 4 not decided",
        "    i  rate    50.00 %       4 of 8; 2 not decided, 21.52 to 78.48 %, over layouts not computed: 3 of 8",
        "    j  rate    50.00 %       4 of 8, 21.52 to 78.48 %, over seeds 10.00 to 90.00 %",
        "    e  effect  37.50 points  4 against 1 of 8; 2 not decided, -1.00 to 64.83 points",
        "    n  effect  none          of 0",
        "    k  mean    0.500         of 8, over runs not computed: they do not differ",
        "  checks",
        "    ERROR         c  0 opportunities              E_X: a\\x1b[31m in r, episode 2",
        "    INCONCLUSIVE  d  3 opportunities, at least 9",
        "  mutants",
        "    SURVIVED  m  in s: no check noticed it",
        "  checks that no mutant makes fail: c, d",
    ]
