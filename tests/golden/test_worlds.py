"""The worlds of `examples/worlds` keep their rules, and each broken variant is noticed; their receipts are pinned."""

from specledger.pipeline.checking import load_runs
from specledger.pipeline.golden import pin
from tests.pins import ROOT, assert_pinned

FOLDER = "examples/worlds/golden"
SUITE = ROOT / "examples/worlds/worlds.yaml"


def test_receipts_of_the_suite_are_the_pinned_ones(snapshot):
    (bundle,) = load_runs([str(SUITE)])
    pinned = pin(bundle)
    assert pinned.tree["result"]["verdict"] == "PASS"
    assert_pinned(pinned, snapshot, FOLDER)


def test_every_world_of_the_folder_is_an_arm_of_the_suite():
    text = SUITE.read_text(encoding="utf-8")
    scenarios = [path.stem for path in SUITE.parent.glob("*-run.yaml")]
    assert len(scenarios) == 6
    assert all(f"scenarios: [{name}]" in text for name in scenarios)
    worlds = [
        path for path in SUITE.parent.glob("*.yaml") if path.read_text(encoding="utf-8").startswith("spec: world/")
    ]
    assert len(worlds) == len(scenarios)
