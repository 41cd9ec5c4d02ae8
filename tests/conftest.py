"""Property tests draw the same examples on every machine, at whatever speed it has."""

import gc
import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from specledger.core.wing import wings

pytest_plugins = ["pytester"]

for name, most in (("few", 30), ("many", 100)):  # `make slow` runs property tests with the second
    settings.register_profile(
        name,
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=most,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("few")

# Commands run in these processes, too, and collect garbage as rarely as in their own (`specledger.__main__`).
gc.set_threshold(200_000, 20, 100)

# `readline`, which pytest imports, sets COLUMNS where only child processes see it, among them the workers of xdist.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")


def examples(most):
    """So many examples where `make slow` runs property tests, and three tenths of them beside the other tests."""
    return most * settings().max_examples // 100


def quick(names, *chosen):
    """Names as parameters of a test, of which all but the chosen ones are marked slow."""
    assert {*chosen} <= {*names}
    return [pytest.param(name, marks=() if name in chosen else pytest.mark.slow) for name in names]


HERE = Path(__file__).parent
ALL_TESTS = pytest.StashKey[frozenset[str]]()
"""The node ids of all tests, if all were collected."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that `docs/codes.yaml` names for a diagnostic code fails unless that code is given in it."""
    from tests.given_codes import demanded, named_tests

    due = named_tests().get(item.nodeid)
    if due is None:
        return (yield)
    with demanded(due):
        return (yield)


def pytest_collection_finish():
    """What the collection made lives as long as the process, so that no test has it searched for garbage."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep the node ids of all tests if all were collected, the slow ones too."""
    if [config.invocation_params.dir / argument for argument in config.args] == [HERE]:
        config.stash[ALL_TESTS] = frozenset(item.nodeid for item in items)


def pytest_runtest_setup(item):
    installed = {wing.name for wing in wings()}
    for marker in item.iter_markers("wing"):
        if marker.args[0] not in installed:
            pytest.skip(f"the wing {marker.args[0]} is not installed")


class Done(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def codes(self):
        return [finding["code"] for finding in self.json["diagnostics"]]


@pytest.fixture
def spec(monkeypatch, capsys):
    """Run `spec WORDS...` in this process, and in no other one unless `--workers` says so."""
    from specledger.cli.main import _guarded

    monkeypatch.setattr("specledger.run.workers.available", lambda: 1)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["spec", *map(str, words)])
        capsys.readouterr()
        status = _guarded()
        return Done(int(status), *capsys.readouterr())

    return run


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
