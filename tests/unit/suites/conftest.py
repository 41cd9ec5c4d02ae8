"""A small suite on the smallest scenario, changed as a test wants it, run and verified."""

import json
import shutil

import pytest

from specledger.compile.suite import compile_suite
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.run.workers import Processes
from tests.toys import CLIMB

SUITE = """
spec: suite/v1
name: heights
constants: {ENOUGH: 2}
functions:
  leaps: {args: [s], is: "s.rejections.filter(r, r.gate == 'leap')"}
runs:
  short: {scenarios: [climb], seeds: [3, 4], set: {horizon: 2}}
  long: {scenarios: [climb], seeds: [3, 4]}
measures:
  heights: "steps.map(s, s.record.reached)"
  top: "maximum(heights, 0)"
  tempted: "steps.map(s, size(leaps(s)) > 0)"
figures:
  arrives: {rate: success, over: long}
  arrives_by_seed: {rate: success, by: seed}
  high: {mean: heights}
  highest: {greatest: top, over: [long]}
  lead: {difference: top, over: [long, short]}
  temptations: {rate: tempted}
checks:
  - {id: climbs, require: highest.value > ENOUGH, opportunities: highest.of, witness: {height: highest.value}}
  - {id: further, require: lead.value > 0, opportunities: lead.of}
  - id: one-at-a-time
    require: "temptations.of > 0 && runs.all(r, r.steps * 2 >= highest.value)"
    opportunities: temptations.count
mutants:
  - {id: no-bound, arms: [long], set: {governor.gates.tired: null, agent.candidates: [{op: climb, for_each: {by: "[0]"}}]}}
"""


def write_project(folder):
    """A folder with the suite and what it refers to."""
    project = shutil.copytree(CLIMB, folder / "project")
    (project / "heights.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    return project


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working folder of one's own with the suite and what it refers to."""
    folder = write_project(tmp_path)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def edit(project):
    """Replace a text in the suite, which must be there."""

    def replace(old, new, name="heights.yaml"):
        text = (project / name).read_text(encoding="utf-8")
        assert old in text
        (project / name).write_text(text.replace(old, new), encoding="utf-8")

    return replace


@pytest.fixture
def findings(project):
    """The (code, line, message) of every finding in the suite as it is."""

    def find(*changes):
        try:
            compile_suite(load("heights.yaml", set=changes)[0])
        except Rejected as rejected:
            return [
                (one.code, one.span.start.line if one.span else None, one.message, one.hint)
                for one in rejected.diagnostics
            ]
        return []

    return find


@pytest.fixture
def finished(project):
    """Run the suite as it is."""

    def run(*changes, workers=1, out="out"):
        return execute(load("heights.yaml", set=changes)[0], project / out, RunOptions(Processes(workers)))

    return run


@pytest.fixture
def receipts(finished):
    """Run the suite as it is: its receipts by type."""

    def read(*changes):
        found: dict[str, list] = {}
        for line in (finished(*changes).place / "receipts.jsonl").read_bytes().splitlines():
            receipt = json.loads(line)
            found.setdefault(receipt["type"], []).append(receipt["body"])
        return found

    return read
