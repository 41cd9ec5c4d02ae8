"""A bundle of one episode in a trap with two drifts, one of a small suite, and a hand that seals receipts again."""

import shutil

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from tests.toys import CLIMB
from tests.toys.bundles import receipts_of
from tools.tampering.forger import HELP, Forger

SUITE = """
spec: suite/v1
name: heights
runs: {long: {scenarios: [climb], seeds: [3, 4]}}
measures:
  heights: "steps.map(s, s.record.reached)"
figures:
  arrives: {rate: success}
  high: {mean: heights}
  never: {rate: "steps.map(s, s.record.reached > 99)"}
  nothing: {mean: "heights.filter(h, h > 99)"}
checks:
  - {id: climbs, require: high.value > 0, opportunities: high.of, witness: {height: high.value}}
mutants:
  - {id: no-bound, set: {governor.gates.tired: null, agent.candidates: [{op: climb, for_each: {by: "[0]"}}]}}
"""


@pytest.fixture(scope="session")
def read():
    """Read the receipts of a bundle."""
    return receipts_of


@pytest.fixture(scope="session")
def trap(tmp_path_factory):
    """The evidence of the picture in docs/reports.md."""
    bundle = load("concave", kind="scenario", set=["seed=1", "horizon=100"])[0]
    return execute(bundle, tmp_path_factory.mktemp("report") / "trap").place


@pytest.fixture(scope="session")
def heights(tmp_path_factory):
    """The evidence of a suite with a mutant."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copytree(CLIMB, folder / "project")
    (folder / "project" / "heights.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    return execute(load(folder / "project" / "heights.yaml")[0], folder / "heights").place


@pytest.fixture
def forge(tmp_path):
    """A copy of a bundle after a change of its receipts, with chain, root and result made to fit."""

    def make(place, change):
        forger = Forger(shutil.copytree(place, tmp_path / "forged"))
        for name in HELP:  # they follow from the rest, and nothing depends on them
            forger.remove(name)
        change({type_: forger.bodies(type_) for type_ in ("start", "episode", "drift", "step", "episode_end")})
        forger.seal()
        return forger.folder

    return make
