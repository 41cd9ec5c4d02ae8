"""What the plugin collects and how an item is tested, in this process; what is tested itself stands in `unit/pipeline`."""

import shutil

import pytest

from specledger.core.diagnostics import Diagnostic
from specledger.core.spans import Position, Span
from specledger.pipeline import testing  # before `pytester`, which forgets what is imported in a test
from tests.toys import CLIMB

PLUGIN = ("-p", "no:specledger", "-p", "specledger.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:xdist")
MARKED = "[pytest]\ntestpaths = specs\nspecledger_specs =\n    specs/*.yaml\n    more/*.yaml\n"


@pytest.fixture
def project(pytester):
    """A project with the smallest scenario, and a matrix of it in another folder."""
    shutil.copytree(CLIMB, pytester.path / "specs")
    shutil.copytree(CLIMB, pytester.path / "more")
    matrix = (pytester.path / "more/climb.yaml").read_text(encoding="utf-8")
    matrix = matrix.replace("name: climb\n", "name: climb\nparams: {most: {type: int}}\nmatrix: {most: [3, 4]}\n")
    (pytester.path / "more/climb.yaml").write_text(matrix.replace("horizon: 3", 'horizon: "${most}"'), encoding="utf-8")
    pytester.makeini(MARKED)
    return pytester


@pytest.fixture
def tested(monkeypatch):
    """Calls of what tests a case, in place of the test; `failures` are what it finds."""
    calls: list = []
    failures: list[Diagnostic] = []

    def find_failures(bundle, goldens, **options):
        calls.append((bundle.main.name, bundle.case, goldens, options))
        return failures

    monkeypatch.setattr(testing, "find_failures", find_failures)
    find_failures.calls, find_failures.failures = calls, failures  # type: ignore[attr-defined]
    return find_failures


def run_pytest(project, *words):
    return project.runpytest_inprocess(*PLUGIN, *words)


@pytest.mark.medium
def test_files_of_every_pattern_are_items_by_their_cases_and_no_other_file_is(project, tested):
    (project.path / "specs/other.yml").write_text("spec: [", encoding="utf-8")
    assert run_pytest(project, "specs/other.yml").ret == pytest.ExitCode.USAGE_ERROR
    done = run_pytest(project, "-v", "specs/climb.yaml", "specs/pot.yaml", "more/climb.yaml")
    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines_random(
        [
            "specs/climb.yaml::climb PASSED*",
            "specs/pot.yaml::check PASSED*",
            "more/climb.yaml::climb[[]most=3[]] PASSED*",
            "more/climb.yaml::climb[[]most=4[]] PASSED*",
        ]
    )
    assert [call[:3] for call in tested.calls] == [
        ("climb", "", None),
        ("climb", "most=3", None),
        ("climb", "most=4", None),
    ]
    assert {(call[3]["update"], call[3]["trusted"]) for call in tested.calls} == {(False, False)}


# words, settings, and with what a case is tested
SETTINGS = {
    "goldens": ([], "specledger_goldens = pins", {"update": False, "accept": "pytest specs/climb.yaml::climb --snapshot-update", "trusted": False}),
    "an update": (["--snapshot-update"], "specledger_goldens = pins", {"update": True, "accept": "pytest specs/climb.yaml::climb --snapshot-update", "trusted": False}),
    "without syrupy": (["-p", "no:syrupy"], "specledger_goldens = my pins", {"update": False, "accept": "spec golden --update '--dir=my pins' specs/climb.yaml", "trusted": False}),
    "trust": ([], "specledger_trust_agents = true", {"update": False, "accept": "pytest specs/climb.yaml::climb --snapshot-update", "trusted": True}),
}  # fmt: skip


@pytest.mark.parametrize(("words", "setting", "options"), SETTINGS.values(), ids=SETTINGS)
def test_a_case_is_tested_with_the_settings_of_its_project(project, tested, words, setting, options):
    project.makeini(f"{MARKED}{setting}\n")
    run_pytest(project, *words, "specs/climb.yaml").assert_outcomes(passed=1)
    folder = setting.partition("goldens = ")[2]
    assert tested.calls == [("climb", "", project.path / folder if folder else None, options)]


def test_failures_of_a_case_are_shown_with_their_places(project, tested):
    span = Span("specs/climb.yaml", Position(2, 7), Position(2, 12))
    tested.failures += [Diagnostic("E_TEST_VERDICT", "the first", span), Diagnostic("E_GOLDEN_DIFFERS", "the second")]
    done = run_pytest(project, "specs/climb.yaml")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*error[[]E_TEST_VERDICT[]]: the first", "* | name: climb", "* |       ^^^^^", "", "error[[]E_GOLDEN_DIFFERS[]]: the second"],
        consecutive=False,
    )  # fmt: skip
    done.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.medium
def test_a_defect_is_shown_as_pytest_shows_it(project, tested, monkeypatch):
    monkeypatch.setattr(testing, "find_failures", lambda *_, **__: 1 // 0)
    run_pytest(project, "specs/climb.yaml").stdout.fnmatch_lines(["*ZeroDivisionError*"])


def test_what_cannot_be_loaded_is_one_item_that_fails_and_warnings_do_not(project, tested):
    (project.path / "specs/climb.yaml").write_text("spec: scenario/v1\nname: climb\nseed: three\n", encoding="utf-8")
    done = run_pytest(project, "-v", "specs/climb.yaml")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["specs/climb.yaml::check FAILED*", "*error[[]E_*"])
    assert tested.calls == []


@pytest.mark.parametrize("pattern", ["specs/*.yml", "/specs/*.yaml"])
def test_the_first_pattern_without_a_file_is_named(project, pattern):
    project.makeini(MARKED.replace("more/*.yaml", f"{pattern}\n    nothing/*.yaml"))
    done = run_pytest(project)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: specledger_specs: there is no file {project.path / pattern}"])


def test_a_project_that_marks_nothing_has_no_items(project):
    project.makeini("[pytest]\ntestpaths = specs\n")
    done = run_pytest(project)
    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED
