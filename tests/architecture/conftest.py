"""What the tests of the architecture look at: the checkout, its sources, and Python processes that know neither."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """The checkout's pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def sources() -> Mapping[str, str]:
    """Text of each module of the engine by its path from the root."""
    found = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.glob("engine/**/*.py")
    }
    assert found, "there is no engine to look at"
    return dict(sorted(found.items()))


@pytest.fixture(scope="session")
def run_python() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run `python ARGUMENTS` in a directory, with a clean environment: no coverage, no path to the checkout."""

    def run(*arguments: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHON"))}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=inherited | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run
