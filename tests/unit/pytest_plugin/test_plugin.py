"""Specs as test items: what a project marks is collected, runs, and fails with excerpts; other projects see nothing."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.toys import CLIMB

PLUGIN = ("-p", "no:specledger", "-p", "specledger.pytest_plugin", "-p", "no:cacheprovider")
ENGINE = Path(__file__).parents[3] / "engine"
MARKED = """
[pytest]
testpaths = specs
specledger_specs =
    specs/*.yaml
"""
PINNED = f"{MARKED}specledger_goldens = goldens\n"


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with the smallest scenario."""
    monkeypatch.setenv("PYTHONPATH", str(ENGINE))
    shutil.copytree(CLIMB, pytester.path / "specs")
    pytester.makeini(MARKED)
    return pytester


def run_pytest(project, *words):
    return project.runpytest_subprocess(*PLUGIN, *words)


def edit(project, name, old, new):
    file = project.path / "specs" / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.medium
def test_marked_specs_are_items(project):
    edit(project, "climb.yaml", "seed: 3", "seed: three")
    edit(project, "stairs.yaml", "spec: world/v1", "spec: world/v1\nfoo: 1")
    done = run_pytest(project, "-v")
    done.assert_outcomes(passed=5, failed=2)
    done.stdout.fnmatch_lines(
        [
            "specs/climb.yaml::check FAILED*",
            "specs/stairs.yaml::check FAILED*",
            "specs/climb.yaml:*: error[[]E_*",
            "* | seed: three",
            "* | *^*",
        ]
    )
    assert "Traceback" not in done.stdout.str()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "bounded.yaml",
            "default: 9",
            "default: 1",
            "specs/bounded.yaml:5:10: *climb is FAIL: invariant/bounded failed 2 *",
        ),
        (
            "bounded.yaml",
            "params: {top: {type: int, default: 9}}",
            "params: {top: {type: int, default: 1}}\ndoc: The height has a limit.",
            "specs/bounded.yaml:6:10: *climb is FAIL: invariant/bounded failed 2 *",
        ),
        (
            "climb.yaml",
            "climber",
            "{use: climber, with: {fear: 2}}",
            "specs/climb.yaml:2:7: *climb is ERROR: evaluation*",
        ),
    ],
    ids=["a parameter", "a parameter and a text", "an argument"],
)
def test_a_case_fails_with_the_check_at_its_place(project, file, old, new, said):
    edit(project, file, old, new)
    done = project.runpytest_inprocess(*PLUGIN, "specs/climb.yaml")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([said.replace("climb is", "error[[]E_TEST_VERDICT[]]: climb is"), "* | *^*"])
    assert "first in episode 0, step " in done.stdout.str()


@pytest.mark.slow
def test_cases_of_a_matrix_are_items(project):
    edit(project, "climb.yaml", "name: climb\n", "name: climb\nparams: {most: {type: int}}\nmatrix: {most: [3, 4]}\n")
    edit(project, "climb.yaml", "horizon: 3", 'horizon: "${most}"')
    done = run_pytest(project, "-v", "specs/climb.yaml")
    done.stdout.fnmatch_lines(
        ["specs/climb.yaml::climb[[]most=3[]] PASSED*", "specs/climb.yaml::climb[[]most=4[]] PASSED*"]
    )
    project.makeini(PINNED)
    done = run_pytest(project, "specs/climb.yaml::climb[most=4]")
    done.stdout.fnmatch_lines(["*to accept it: pytest 'specs/climb.yaml::climb[[]most=4[]]' --snapshot-update"])


@pytest.mark.slow
def test_goldens_are_updated_by_the_flag_of_snapshots_in_several_processes(project):
    project.makeini(PINNED)
    run_pytest(project, "specs/climb.yaml").stdout.fnmatch_lines(["*E_GOLDEN_DIFFERS*nothing is pinned yet"])
    run_pytest(project, "-n2", "--snapshot-update").assert_outcomes(passed=7)
    run_pytest(project, "-n2").assert_outcomes(passed=7)
    edit(project, "climb.yaml", "seed: 3", "seed: 4")
    done = run_pytest(project, "specs/climb.yaml")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*E_GOLDEN_DIFFERS*changed specs: scenario/climb*", "*--snapshot-update"])


@pytest.mark.medium
def test_without_syrupy_the_hint_names_the_command_that_accepts(project):
    project.makeini(PINNED)
    done = run_pytest(project, "-p", "no:syrupy", "specs/climb.yaml")
    done.stdout.fnmatch_lines(["*to accept it: spec golden --update --dir=goldens specs/climb.yaml"])


@pytest.mark.medium
def test_specs_are_found_where_the_root_folder_is_a_link(project, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(project.path, target_is_directory=True)
    done = run_pytest(project, f"--rootdir={link}", "specs/pot.yaml")
    done.assert_outcomes(passed=1)


@pytest.mark.medium
@pytest.mark.parametrize("pattern", ["specs/*.yml", "/specs/*.yaml"])
def test_a_pattern_without_files_is_refused(project, pattern):
    project.makeini(MARKED.replace("specs/*.yaml", pattern))
    run_pytest(project).stderr.fnmatch_lines(["ERROR: specledger_specs: there is no file *"])


@pytest.mark.medium
def test_nothing_is_loaded_in_a_project_that_marks_nothing(project):
    project.makeini("[pytest]\ntestpaths = specs\n")
    loaded = "sorted(name for name in sys.modules if name.startswith('specledger'))"
    done = project.run(sys.executable, "-c", f"import pytest, sys; pytest.main({list(PLUGIN)}); print({loaded})")
    done.stdout.fnmatch_lines(["*no tests ran*"])
    assert done.outlines[-1] == str(["specledger", "specledger.pytest_plugin"])


WALKER = """
def answer(message):
    types = {"hello": "hello", "decide": "proposals"}
    proposals = [{"action": {"op": "wait"}, "score": 0}]
    return {"type": types.get(message["type"], "ready"), "name": "walker", "proposals": proposals}
"""


@pytest.mark.medium
@pytest.mark.parametrize(("trust", "passed"), [("", 0), ("specledger_trust_agents = true", 1)])
def test_an_agent_from_outside_is_executed_if_the_project_says_so(project, trust, passed):
    shutil.rmtree(project.path / "specs")
    (project.path / "specs").mkdir()
    (project.path / "walker.py").write_text(WALKER)
    agent = 'spec: agent/v1\nname: walker\noutside: {python: "walker:answer", deadline_ms: 20000, start_ms: 20000}\n'
    (project.path / "specs/walker.yaml").write_text(agent)
    scenario = "spec: scenario/v1\nname: walk\nextends: toy-basic\nagent: walker.yaml\nepisodes: 1\nhorizon: 2\n"
    scenario += "expect: {verdict: INCONCLUSIVE, ended: horizon}\n"  # no rule is checked in it
    (project.path / "specs/walk.yaml").write_text(scenario)
    project.makeini(MARKED.replace("specs/*.yaml", "specs/walk.yaml") + trust + "\n")
    done = run_pytest(project)
    done.assert_outcomes(passed=passed, failed=1 - passed)
    assert ("E_AGENT_UNTRUSTED" in done.stdout.str()) == (passed == 0)
