"""What two source documents leave to future work: the suites of `examples/future-work` pass, and their receipts are pinned."""

import pytest

from specledger.pipeline.checking import load_runs
from specledger.pipeline.golden import pin
from tests.pins import ROOT, assert_pinned

FOLDER = "examples/future-work/golden"
SUITES = ROOT / "examples/future-work"


@pytest.fixture
def holds(snapshot):
    """Whether a suite passes, and gives the pinned receipts."""

    def pinned(name):
        (bundle,) = load_runs([str(SUITES / f"{name}.yaml")])
        made = pin(bundle)
        assert_pinned(made, snapshot, FOLDER)
        return made.tree["result"]["verdict"] == "PASS"

    return pinned


def test_a_line_is_learnt_under_a_budget(holds):
    assert holds("learns-under-a-budget")


def test_exploration_is_drawn_from_receipts(holds):
    assert holds("explores-by-receipts")


def test_agents_share_the_work(holds):
    assert holds("shares-the-work")


@pytest.mark.slow
def test_persistent_excitation_gives_competence_on_all_small_grids(holds):
    assert holds("excitation-gives-competence")


def test_nothing_else_is_pinned():
    suites = {
        path.stem for path in SUITES.glob("*.yaml") if path.read_text(encoding="utf-8").startswith("spec: suite/")
    }
    assert {path.stem for path in (SUITES / "golden").iterdir()} == suites
