"""The honest program of the page about outside agents is convicted by no probe, on every shipped world with a kernel."""

from collections import Counter

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from tests.conformance.outside.test_protocol import PAGE, outcomes, write_files
from tests.toys.bundles import bodies_of

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

SCENARIOS = (
    "basic",
    "crowd",
    "directions",
    "hazard",
    "noise",
    "panel",
    "plans",
    "resource",
    "sequential",
    "social",
    "tools",
)
PROBES = "probes=[p3-audit, p4-bypass, p6-token, p5-causal, p5-predictions, layer-b, layer-c, layer-d, layer-r]"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def judge(folder, scenario, seed, agent="honest"):
    sets = [f"agent={agent}-walker.yaml", "governor.admission.watchdog_ms=20000", PROBES, f"seed={seed}"]
    (bundle,) = load(f"axion-{scenario}", kind="scenario", set=sets)
    place = execute(bundle, folder / f"{agent}-{scenario}-{seed}", options=RunOptions(trusted=True)).place
    (end,) = bodies_of(place, "episode_end")
    assert (end["violations"], end.get("faults"), end.get("unread")) == ([], None, None)
    return Counter((verdict, cause) for _, verdict, cause in outcomes(place).elements())


def assert_honest(found):
    assert not [key for key in found if key[0] in ("FAIL", "ERROR")], found
    assert found["PASS", ""] >= 0.9 * found.total(), found


def test_every_shipped_scenario_with_a_kernel_is_judged():
    shipped = {path.stem for path in (PAGE.parents[1] / "specs/scenario").glob("axion-*.yaml")}
    assert {f"axion-{one}" for one in SCENARIOS} == shipped


@pytest.mark.parametrize("scenario", ["hazard", "directions"])
def test_the_honest_program_is_not_convicted(scenario, folder):
    assert_honest(judge(folder, scenario, 7))


def test_a_program_that_takes_a_variable_for_the_whole_state_mispredicts(folder):
    """What the test above would miss if the meaning of `objects.at` did not matter."""
    text = (folder / "honest.py").read_text(encoding="utf-8")
    wrong = text.replace('[one for one in seen["objects"] if one not in near]', "[]")
    assert wrong != text
    (folder / "honest.py").write_text(wrong, encoding="utf-8")
    found = judge(folder, "resource", 3)
    assert any(cause == "mispredicted" for _, cause in found), found
    assert not any(verdict == "FAIL" for verdict, _ in found), found


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_honest_program_is_not_convicted_on_twenty_seeds(scenario, folder):
    assert_honest(sum((judge(folder, scenario, seed) for seed in range(20)), Counter()))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["basic", "hazard", "resource"])
def test_the_dishonest_program_is_convicted(scenario, folder):
    assert any(verdict == "FAIL" for verdict, _ in judge(folder, scenario, 7, "dishonest"))
