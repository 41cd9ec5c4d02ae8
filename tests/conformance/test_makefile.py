"""The Makefile says in one line why it takes no Python that is too old, and works with a path that has blanks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLD = """#!/bin/sh
exec "PYTHON" -c 'import sys; sys.version_info = (3, 10, 13); exec(sys.argv[1])' "$2"
"""
"""Stands for a Python that is too old."""
NEW = '#!/bin/sh\n[ "$2" = venv ] && { echo makes $4 >&2; exit 1; }\nexec "PYTHON" "$@"\n'
"""Stands for a Python that is new enough, and makes no environment."""


@pytest.fixture
def install(tmp_path):
    """`make install` with a Python of its own in a folder with a blank: (status, what it said)."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def make(text):
        python = tmp_path / "a folder/python3"
        python.parent.mkdir()
        python.write_text(text.replace("PYTHON", sys.executable), encoding="utf-8")
        python.chmod(0o755)
        words = ["make", "--no-print-directory", f"PYTHON={python}", "install"]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return make


def test_a_python_that_is_too_old_is_refused_before_anything_is_made(install, tmp_path):
    status, said = install(OLD)
    assert status == 2
    assert said.startswith(f"make: {tmp_path}/a folder/python3 is no Python 3.11 or newer")
    assert not (tmp_path / ".venv").exists()


def test_a_python_in_a_folder_with_a_blank_makes_the_environment(install, tmp_path):
    status, said = install(NEW)
    assert status == 2
    assert f"from {sys.executable}" in said
    assert "makes .venv" in said
