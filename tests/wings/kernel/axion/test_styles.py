"""Truthful styles and liars: what the shipped suites run, and a small run of the styles as programs."""

from pathlib import Path

import pytest
import yaml

from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.run.loop import run
from tests.toys.bundles import bodies_of

ROOT = Path(__file__).resolve().parents[4]
WORLDS = [f"all-layers-{world}" for world in ("hazard", "resource", "social")]
STYLES = ("sure", "hedging", "unsure", "ties", "noisy", "softmax", "abstaining", "vague", "late", "misreading")
PROGRAMS, SPECS, LIARS = "examples/panel/styles.yaml", "specs/suite/truthful-styles.yaml", "specs/suite/liars.yaml"
CHECKS = {
    "no-style-is-convicted-beyond-the-stated-error": "convictions.all(f, f.exact.low <= STATED) && of_all.value <= STATED",
    "who-draws-nothing-is-never-convicted": "of_settled.count == 0",
    "who-is-sure-passes": "sure_passes.value == 1000000",
}
BEFORE = "kind == 'tie_breaker' ? 77 : kind == 'correlated' ? 86 : kind == 'omitter' ? 116 : 120"
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads


def read(suite):
    return yaml.safe_load((ROOT / suite).read_text(encoding="utf-8"))


@pytest.mark.medium
def test_what_is_named_by_an_agent_may_read_what_it_draws():
    (bundle,) = load(WORLDS[0], set=["agent=unsure-nearby", "episodes=1", "horizon=2"])
    decided = [event.body["chosen"] for event in run(compile_scenario(bundle)) if event.type == "step"]
    assert len(decided) == 2
    assert None not in decided


@pytest.mark.parametrize(("suite", "styles"), [(PROGRAMS, 10), (SPECS, 7)])
def test_each_style_has_thirty_episodes_on_each_of_three_worlds(suite, styles):
    document = read(suite)
    assert len(document["runs"]) == styles
    for arm in document["runs"].values():
        assert arm["scenarios"] == WORLDS
        assert len(set(arm["seeds"])) == 3
        assert arm["set"]["episodes"] == 10
        assert not {*arm["seeds"]} & {*document["tuned_on"]}
    assert document["constants"] == {"STATED": 10_000}
    assert {check["id"]: check["require"] for check in document["checks"]} == CHECKS
    assert all(check["opportunities"] and check["least"] >= 50 for check in document["checks"])


def test_the_programs_are_of_all_styles_and_allow_what_the_styles_as_specs_allow():
    programs, specs = read(PROGRAMS), read(SPECS)
    assert [run["agent"]["with"]["style"] for run in programs["runs"].values()] == [*programs["runs"]] == [*STYLES]
    assert programs["measures"] == specs["measures"]
    assert "inconclusive" not in programs["runs"]["sure"]
    assert "inconclusive" not in programs


def test_eight_liars_are_to_be_found_as_often_as_before():
    document = read(LIARS)
    runs = document["runs"].values()
    assert len({run["agent"] for run in runs}) == len(runs) == 8
    assert {(*run["scenarios"], run["set"]["episodes"], len(set(run["seeds"]))) for run in runs} == {
        ("axion-panel", 10, 12)
    }
    assert document["functions"]["before"]["is"] == BEFORE
    assert [check["require"] for check in document["checks"]] == ["found.all(f, f.count >= before(f.name))"]


def small(style):
    return f"runs.{style}.seeds=[5]", f"runs.{style}.set.episodes=1"


@pytest.mark.slow
@pytest.mark.parametrize("suite", [PROGRAMS, SPECS])
def test_no_style_is_convicted_and_a_liar_is(suite, tmp_path, monkeypatch):
    """One episode of one seed in place of ten of three; the suite's mutant is a liar, which its checks notice."""
    monkeypatch.chdir(ROOT)
    bundle = load(suite, set=[change for style in read(suite)["runs"] for change in small(style)])[0]
    done = execute(bundle, tmp_path / "out", RunOptions(trusted=True))
    assert [one["verdict"] for one in bodies_of(done.place, "check")] == ["PASS"] * len(CHECKS)
    (mutant,) = bodies_of(done.place, "mutant")
    assert "who-is-sure-passes" in mutant["caught"]
    assert done.verdict == "PASS"
