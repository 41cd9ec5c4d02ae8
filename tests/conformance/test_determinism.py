"""The same specs give the same bytes: whatever the hash seed, the locale, the working folder, the interpreter's mode."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from tests.toys.bundles import files_of

ROOT = Path(__file__).parents[2]
SCENARIOS = ("hazard", "maze", "two-tank")
SHORT = ["horizon=25", "episodes=1"]  # long enough for a drift

CIRCUMSTANCES = {
    "hash seed 1, no locale": (
        [],
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ),
    "random hash seed, another locale": (
        [],
        {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
    ),
    "without assertions": (["-O"], {}),
    "without docstrings, in development mode": (["-OO", "-X", "dev"], {}),
}


def run(folder, flags=(), cwd=ROOT, **environment):
    """Run all scenarios in a fresh process, and give every byte that it wrote."""
    changes = [f"--set={change}" for change in SHORT]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    done = subprocess.run(
        [sys.executable, *flags, "-m", "specledger", "run", *SCENARIOS, *changes, "--out", str(folder)],
        cwd=cwd,
        env=inherited | {"PYTHONPATH": str(ROOT / "engine")} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found = files_of(folder)
    names = ("VERIFY.md", "manifest.json", "receipts.jsonl", "sha256sums", "specs.json", "specs/origin.json")
    assert {f"{scenario}/{name}" for scenario in SCENARIOS for name in names} <= set(found)
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return run(tmp_path_factory.mktemp("expected") / "out", PYTHONHASHSEED="0")


@pytest.mark.medium
@pytest.mark.parametrize(("flags", "environment"), CIRCUMSTANCES.values(), ids=CIRCUMSTANCES)
def test_circumstances_do_not_count(expected, tmp_path, flags, environment):
    assert run(tmp_path / "out", flags, **environment) == expected


@pytest.mark.medium
def test_the_working_folder_does_not_count(expected, tmp_path):
    """From another folder the names lead to the shipped specs."""
    assert run(tmp_path / "out", cwd=tmp_path) == expected


@pytest.mark.medium
def test_what_ran_before_in_one_process_does_not_count(expected, tmp_path):
    bundles = load_runs(SCENARIOS, SHORT)
    for folder, order in (("first", bundles), ("second", bundles[::-1])):
        for bundle in order:
            execute(bundle, tmp_path / folder / bundle.main.name)
        assert files_of(tmp_path / folder) == expected


@pytest.mark.medium
def test_seeds_lead_to_other_runs_and_not_only_to_other_names(tmp_path):
    """The receipts of what happened differ, not just the seed in the first one."""
    drawn = set()
    for seed in range(6):
        (bundle,) = load_runs(["maze"], ["horizon=1", "episodes=1", f"seed={seed}"])
        execute(bundle, tmp_path / str(seed))
        episode = (tmp_path / str(seed) / "receipts.jsonl").read_bytes().splitlines()[1]
        drawn.add(episode.partition(b'"state":')[2].partition(b',"world"')[0])
    assert len(drawn) == 6
