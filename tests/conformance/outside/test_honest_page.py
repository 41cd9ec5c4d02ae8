"""The honest program of the page about outside agents is convicted by no probe, on every shipped world with a kernel."""

import re
from collections import Counter

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from tests.conformance.outside.test_protocol import PAGE, outcomes, write_files
from tests.toys.bundles import bodies_of

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

SCENARIOS = (
    *(f"all-layers-{world}" for world in ("hazard", "resource", "social")),
    "axion-basic",
    "axion-crowd",
    "axion-directions",
    "axion-hazard",
    "axion-noise",
    "axion-panel",
    "axion-plans",
    "axion-resource",
    "axion-sequential",
    "axion-social",
    "axion-tools",
    "mci-latent",
    "mci-minimal",
    "model-reasons",
    "stated-reasons",
)
CHALLENGES = "p5-causal, p5-one-claim, p5-predictions, p5-repeated, p5-sequential, layer-b, layer-c, layer-d, layer-r"
PROBES = f"probes=[p3-audit, p4-bypass, p6-token, {CHALLENGES}]"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def judge(folder, scenario, seed, agent="honest"):
    sets = [f"agent={agent}-walker.yaml", "governor.admission.watchdog_ms=20000", PROBES, f"seed={seed}"]
    (bundle,) = load(scenario, kind="scenario", set=sets)
    place = execute(bundle, folder / f"{agent}-{scenario}-{seed}", options=RunOptions(trusted=True)).place
    ends = bodies_of(place, "episode_end")
    assert ends
    for end in ends:
        assert (end["violations"], end.get("faults"), end.get("unread")) == ([], None, None)
    return Counter((verdict, cause) for _, verdict, cause in outcomes(place).elements())


def assert_honest(found):
    assert not [key for key in found if key[0] in ("FAIL", "ERROR")], found
    assert found["PASS", ""] >= 0.9 * found.total(), found


def named(key, kind, name):
    """What a shipped spec names under a key, itself or by what it extends; empty if nothing."""
    text = (PAGE.parents[1] / f"specs/{kind}/{name}.yaml").read_text(encoding="utf-8")
    lines = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"[a-z]+: ", line))
    return lines.get(key) or (named(key, kind, lines["extends"]) if "extends" in lines else "")


def test_every_shipped_scenario_with_a_kernel_is_judged():
    specs = PAGE.parents[1] / "specs"
    kernels = {path.stem for path in (specs / "governor").glob("*.yaml") if "\nadmission:" in path.read_text("utf-8")}
    governors = {path.stem: named("governor", "scenario", path.stem) for path in (specs / "scenario").glob("*.yaml")}
    assert {*SCENARIOS} == {name for name, governor in governors.items() if governor in kernels}
    probes = {path.stem for path in (specs / "probe").glob("*.yaml") if "\nat: call\n" not in path.read_text("utf-8")}
    assert {*PROBES.partition("[")[2].rstrip("]").split(", ")} == probes - {"p5-minimal"}  # it asks about factors


@pytest.mark.medium
@pytest.mark.parametrize("scenario", ["axion-hazard", "axion-directions"])
def test_the_honest_program_is_not_convicted(scenario, folder):
    assert_honest(judge(folder, scenario, 7))


@pytest.mark.medium
def test_a_program_that_takes_a_variable_for_the_whole_state_mispredicts(folder):
    """What the test above would miss if the meaning of `objects.at` did not matter."""
    text = (folder / "honest.py").read_text(encoding="utf-8")
    wrong = text.replace('[one for one in seen["objects"] if one not in near]', "[]")
    assert wrong != text
    (folder / "honest.py").write_text(wrong, encoding="utf-8")
    found = judge(folder, "axion-resource", 3)
    assert any(cause == "mispredicted" for _, cause in found), found
    assert not any(verdict == "FAIL" for verdict, _ in found), found


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_honest_program_is_not_convicted_on_twenty_seeds(scenario, folder):
    assert_honest(sum((judge(folder, scenario, seed) for seed in range(20)), Counter()))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["axion-basic", "axion-hazard", "axion-resource"])
def test_the_dishonest_program_is_convicted(scenario, folder):
    assert any(verdict == "FAIL" for verdict, _ in judge(folder, scenario, 7, "dishonest"))
