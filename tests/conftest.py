"""Property tests draw the same examples on every machine, at whatever speed it has."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")

HERE = Path(__file__).parent


@pytest.fixture
def interruptible():
    """The environment of a process that will be sent a signal: it finds the engine from any folder and is not measured.

    The measuring of coverage holds a lock that is not reentrant: a signal that arrives while it is held, and whose handler
    runs measured code, makes the process wait for itself (`Collector.lock_data` of coverage 7). And where a shell put the
    tests into the background, they ignore SIGINT, and so would the process.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    yield own | {"PYTHONPATH": str(HERE.parent / "engine")}
    signal.signal(signal.SIGINT, before)
