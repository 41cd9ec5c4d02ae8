"""Without numpy everything but the trial of a law works, and a trial says what to install."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules["numpy"] = None
from specledger.__main__ import main
main()
"""


def command(folder, *words):
    """Run `spec` in a process that cannot import numpy."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.medium
@pytest.mark.parametrize(
    "words",
    [
        ("run", "momentum", "--out", "law"),
        ("run", "momentum", "total-particles", "--workers", "2"),
        ("run", "kinetic", "--out", "found"),
        ("verify", "made"),
    ],
    ids=" ".join,
)
def test_a_trial_says_what_to_install_and_leaves_nothing(spec, tmp_path, words):
    if words[0] == "verify":
        assert spec("run", "momentum", "--out", str(tmp_path / "made")).status == 0
    before = sorted(path.name for path in tmp_path.iterdir())
    done = command(tmp_path, *words)
    assert "error[E_LAW_PACKAGE]: the package `numpy` is not installed: pip install 'specledger[laws]'" in done.stderr
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) in (before, [*before, "out"])


@pytest.mark.medium
def test_laws_are_checked_without_it(tmp_path):
    assert command(tmp_path, "check", "momentum", "kinetic").returncode == 0
