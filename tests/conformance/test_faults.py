"""Kills, a full disk and a lost scheduler: nothing half-written counts, and the next command continues to the same bytes."""

import json
import resource
import shutil
import subprocess
import sys

import pytest

from tests.toys import CLIMB, SMALL
from tools import kills

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", kills.COMMANDS)
def test_a_killed_command_continues_to_the_same_bytes(name, capsys):
    """Few kills; `python -m tools.kills` makes 200."""
    assert kills.main(2, [name]) == 0, capsys.readouterr().out


@pytest.fixture
def spec(tmp_path, interruptible):
    """Run `spec WORDS...` in a folder with the toys; files may have so many bytes."""
    folder = tmp_path / "toys"
    for toy in (CLIMB, SMALL):
        shutil.copytree(toy, folder, dirs_exist_ok=True)
    (folder / "heights.yaml").write_text(json.dumps(kills.SUITE))

    def run(*words, most=None):
        def limit():
            if most is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        command = [sys.executable, "-m", "specledger", *words]
        # Python would leave bytecode that is cut, and fail on it ever after.
        environment = interruptible if most is None else {**interruptible, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
            preexec_fn=limit,
        )
        assert "Traceback" not in done.stderr
        return done

    run.folder = folder  # type: ignore[attr-defined]
    return run


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (("run", "climb.yaml", "--set=episodes=8000", "--resume", "--workers=1"), 3_000_000),
        (("run", "heights.yaml", "--resume", "--workers=1", "--set=runs.long.seeds=[1, 2, 3]"), 60_000),
        (("run", "heights.yaml", "--resume", "--workers=2", "--set=runs.long.seeds=[1, 2, 3]"), 60_000),
        (("discover", "small.yaml", "--workers=1"), 40_000),
    ],
    ids=["run", "suite", "suite with workers", "discovery"],
)
def test_a_full_disk(spec, words, most):
    full = spec(*words, "--out=out", most=most)
    assert full.returncode == 2
    assert "error[E_" in full.stderr
    assert "internal" not in full.stderr
    assert not (spec.folder / "out").exists()
    assert spec(*words, "--out=out").returncode == 0
    assert spec(*words, "--out=whole").returncode == 0
    assert kills.bytes_of(spec.folder / "out") == kills.bytes_of(spec.folder / "whole")


@pytest.mark.parametrize(
    ("words", "file"),
    [(("report", "run", "--format=html", "--out=page.html"), "page.html"), (("keys", "new", "key.pem"), "key.pem")],
    ids=["report", "key"],
)
def test_a_file_that_cannot_be_written_whole_does_not_stay(spec, words, file):
    assert spec("run", "climb.yaml", "--out=run").returncode == 0
    done = spec(*words, most=20)
    assert (done.returncode, "error[E_" in done.stderr) == (2, True)
    assert not (spec.folder / file).exists()
    assert spec(*words).returncode == 0
    assert (spec.folder / file).exists()


def test_a_place_that_cannot_be_written(spec):
    for words in (("run", "climb.yaml"), ("run", "heights.yaml"), ("run", "heights.yaml", "--shard=1/2")):
        done = spec(*words, "--resume", "--out=/proc/out")
        assert (done.returncode, "E_OUT_UNWRITABLE" in done.stderr) == (2, True)
