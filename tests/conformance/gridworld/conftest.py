"""A shipped suite, run once for all tests of a module."""

from pathlib import Path

import pytest
import yaml

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.golden import pin_evidence
from specledger.pipeline.verifying import verify
from tests.pins import assert_pinned


class Ran:
    """A suite that was run: its receipts by type and name."""

    def __init__(self, finished):
        self.finished = finished
        self.result = finished.manifest["result"]
        self.runs = [one for one in finished.receipts if one["type"] == "run"]
        self.checks = {one["check"]: one for one in finished.receipts if one["type"] == "check"}
        self.mutants = {one["mutant"]: one for one in finished.receipts if one["type"] == "mutant"}
        self.figures = {one["figure"]: one["groups"] for one in finished.receipts if one["type"] == "figure"}

    def figure(self, name):
        (group,) = self.figures[name]
        return group

    def holds(self, check):
        """Whether a check passed, and could have failed."""
        found = self.checks[check]
        return (found["verdict"], found["opportunities"] > 0, found["error"]) == ("PASS", True, None)

    @property
    def layouts(self):
        return {run["scenario"] for run in self.runs}

    def assert_pinned(self, snapshot):
        """Assert that the receipts are the pinned ones."""
        assert_pinned(pin_evidence(self.finished), snapshot, "fixtures/suites")

    @property
    def whole(self):
        """What is refuted in the evidence, without a second replay."""
        verification = verify(self.finished.place, replay=False)
        return [check.message for check in verification.checks if check.code]


def load_suite(name):
    (bundle,) = load(f"specs/suite/{name}.yaml")
    return bundle


def checks_of(name):
    """The ids of the checks of a suite, to be tested one by one."""
    text = Path(f"specs/suite/{name}.yaml").read_text(encoding="utf-8")
    return [check["id"] for check in yaml.safe_load(text)["checks"]]


@pytest.fixture(scope="module")
def ran(request, tmp_path_factory):
    """The suite that the module calls `SUITE`, as it ships."""
    name = request.module.SUITE
    place = tmp_path_factory.mktemp("suite") / name
    return Ran(execute(load_suite(name), place))
