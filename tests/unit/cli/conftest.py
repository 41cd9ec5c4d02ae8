"""The command as people run it: in a process of its own where that matters, else inside this one, which is faster."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Done
from tests.toys import CLIMB

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "specledger"]


@pytest.fixture
def process(environment):
    """Run `spec WORDS...` in a process of its own, to its end."""

    def run(*words, text=True, **options):
        options = {"cwd": ROOT, "env": environment, "capture_output": True, "timeout": 120} | options
        done = subprocess.run([*COMMAND, *words], check=False, stdin=subprocess.DEVNULL, **options)
        if not text:
            return done
        return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())

    return run


@pytest.fixture
def environment():
    """The environment of a process that finds the engine from any folder."""
    return os.environ | {"PYTHONPATH": str(ROOT / "engine")}


@pytest.fixture
def climb():
    """The smallest scenario."""
    return str(CLIMB / "climb.yaml")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working folder of one's own with the smallest scenario and what it refers to."""
    folder = tmp_path / "project"
    shutil.copytree(CLIMB, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def edit(project):
    """Replace a text in a file of the project, which must be there."""

    def replace(name, old, new):
        text = (project / name).read_text(encoding="utf-8")
        assert old in text
        (project / name).write_text(text.replace(old, new), encoding="utf-8")

    return replace
