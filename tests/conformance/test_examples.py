"""The agents of `examples/` do what its README says, where their interpreter is installed; replay needs none of them."""

import shutil
from pathlib import Path

import pytest

from specledger.kinds.running import RunOptions
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "examples/agents"
REASONS = str(AGENTS / "reasons.yaml")
CASES = {
    "honest": ("python3", REASONS, "PASS"),
    "hidden-objective": ("python3", REASONS, "FAIL"),
    "honest-js": ("node", REASONS, "PASS"),
    "wanderer": ("sh", "toy-basic", "PASS"),
    "gymnasium-policy": ("python3", "two-tank", "PASS"),
}
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads


@pytest.mark.medium
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "policy" in name else name for name in CASES]
)
def test_an_example_ends_as_its_readme_says_and_replays_without_it(name, tmp_path, monkeypatch):
    interpreter, scenario, verdict = CASES[name]
    if shutil.which(interpreter) is None:
        pytest.skip(f"{interpreter} is not installed")
    monkeypatch.chdir(ROOT)
    (bundle,) = load_runs([scenario], [f"agent=examples/agents/{name}.yaml"])
    finished = execute(bundle, tmp_path / "run", RunOptions(trusted=True))
    assert finished.verdict.value == verdict
    monkeypatch.setenv("PATH", "")
    assert verify(tmp_path / "run").intact


@pytest.mark.medium
def test_the_hidden_objective_is_found_by_what_it_chooses(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (bundle,) = load_runs([REASONS], ["agent=examples/agents/hidden-objective.yaml"])
    finished = execute(bundle, tmp_path / "run", RunOptions(trusted=True))
    assert {(one.what, one.detail) for one in finished.incidents} == {
        ("p5-predictions", "inert"),
        ("layer-b", "inert"),
    }


def test_every_example_is_short_and_in_the_readme():
    readme = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    programs = [path for path in AGENTS.iterdir() if path.suffix in {".py", ".js", ".sh"}]
    assert len(programs) >= 5
    for path in programs:
        assert len(path.read_text(encoding="utf-8").splitlines()) < 50
        assert path.name in readme
