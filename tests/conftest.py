"""Property tests draw the same examples on every machine, at whatever speed it has; units alone are measured.

Measuring coverage makes a test two to four times slower, and the later rows of a table mostly go through the same lines
as the first one. So where cases are dear, the first one of each test is measured and the others only run. What is told is
less than what is covered, never more.
"""

import os
import pkgutil
import signal
from collections import Counter
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

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
UNMEASURED = ("architecture", "conformance", "golden", "properties")
"""Folders whose tests run at full speed: what they go through, the units' tests cover."""
CHEAP = ("core", "expr", "load", "oracles", "probes", "spec")
"""Rooms whose tests cost so little that all of their cases are measured."""
MEASURED_CASES = 1
"""How many cases of one test of another room are."""
MEASURED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    cases: Counter = Counter()
    for item in items:
        folder, room, *_ = item.path.relative_to(HERE).parts
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        chosen = room in CHEAP or cases[test] <= MEASURED_CASES
        item.stash[MEASURED] = chosen and folder not in UNMEASURED and item.get_closest_marker("no_cover") is None


def measuring(config):
    """What measures coverage, or None if nobody asked for it."""
    return getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)


def pytest_collection_finish(session):
    """What a module does when it is imported is measured, although a test that is not may be the first to import it."""
    if measuring(session.config) is not None:
        import specledger

        for module in pkgutil.walk_packages(specledger.__path__, "specledger."):
            import_module(module.name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Switch the measuring on or off before an item is set up: much of the work is done in fixtures."""
    controller, wanted = measuring(item.config), item.stash[MEASURED]
    if controller is None or controller.started == wanted:
        return
    if wanted:
        controller.resume()
        return
    controller.pause()
    while (other := Coverage.current()) is not None:  # in a worker two were started, and the first one would take over
        other.stop()


@pytest.fixture(scope="session", autouse=True)
def _examples_of_no_module():
    """Else constants of the modules that happen to be imported are among the examples, and others are drawn with them.

    There is no setting for it; where the place that holds them is another, examples depend on the imports again.
    """
    try:
        providers = import_module("hypothesis.internal.conjecture.providers")
        none = import_module("hypothesis.internal.constants_ast").Constants()
    except (ImportError, AttributeError, TypeError):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", lambda: none, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _parsed_once():
    """The tree of a text depends on nothing else, and tests load the shipped specs thousands of times."""
    from specledger.core.diagnostics import Diagnostics
    from specledger.load import library, tree

    @lru_cache(500)
    def parsed(text, file):
        found = Diagnostics()
        return tree.parse(text, file, found), found.sorted()

    def parse(text, file, diagnostics):
        document, found = parsed(text, file)
        diagnostics.extend(found)
        return document

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "parse", parse)
        yield


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
