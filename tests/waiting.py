"""Waiting for what another process does."""

import time
from pathlib import Path

import pytest


def wait(ready):
    """Look until something is so; a test in which it never is fails after two minutes."""
    for _ in range(12_000):
        if ready():
            return
        time.sleep(0.01)
    pytest.fail("it takes for ever")


def alive(pid):
    """Whether a process exists and is no zombie that nobody has waited for."""
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self").exists():
        pytest.skip("this system does not tell")
    return stat.exists() and stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
