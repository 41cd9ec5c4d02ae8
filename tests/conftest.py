"""Property tests draw the same examples on every machine, at whatever speed it has."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("deterministic")

MEASURED = "COVERAGE_PROCESS"
"""What the variables begin with by which coverage measures the processes that a test starts."""


@pytest.fixture
def interruptible():
    """The environment of a process that will be sent a signal: it finds the engine from any folder and is not measured.

    The measuring of coverage holds a lock that is not reentrant: a signal that arrives while it is held, and whose handler
    runs measured code, makes the process wait for itself (`Collector.lock_data` of coverage 7).
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith(MEASURED)}
    return own | {"PYTHONPATH": str(Path(__file__).parents[1])}


@contextmanager
def unmeasured() -> Iterator[None]:
    """Workers that are started inside are not measured, which halves the time of what is long; small tests cover it."""
    held = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(MEASURED)}
    try:
        yield
    finally:
        os.environ.update(held)
