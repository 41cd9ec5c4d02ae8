"""Property tests draw the same examples on every machine, at whatever speed it has; units alone are measured."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("deterministic")

HERE = Path(__file__).parent
UNMEASURED = ("conformance", "golden", "properties")
"""Folders whose tests run at full speed: what they go through, the units' tests cover."""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.relative_to(HERE).parts[0] in UNMEASURED:
            item.add_marker("no_cover")


@pytest.fixture
def interruptible():
    """The environment of a process that will be sent a signal: it finds the engine from any folder and is not measured.

    The measuring of coverage holds a lock that is not reentrant: a signal that arrives while it is held, and whose handler
    runs measured code, makes the process wait for itself (`Collector.lock_data` of coverage 7).
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    return own | {"PYTHONPATH": str(HERE.parent)}
