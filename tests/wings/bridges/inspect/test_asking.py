"""Runs whose model somebody else asks: the verdict, the evidence, and a replay that asks nobody."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from specledger import inspect
from specledger.core.diagnostics import Rejected
from specledger.evidence.layout import TAPE
from specledger.kinds import load
from specledger.oracles.model import Call, answered
from specledger.pipeline.verifying import verify
from specledger.wings.bridges.inspect.asking import load_asked, load_recorded, run_asked, trajectories_of
from tests.loopback_model import BEHAVIOURS

# what the other package leaves open in a test before is collected in one of these
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

ROOT = Path(__file__).parents[4]
SMALL = ["episodes=1", "horizon=4", "probes=[p5-causal]", "map.vary=run"]
VERDICTS = {"faithful": "PASS", "hidden": "FAIL", "refusing": "INCONCLUSIVE", "broken": "INCONCLUSIVE"}


def asking(behaviour):
    """Asks a scripted behaviour as Inspect asks a model."""

    def ask(request):
        tools = {tool.name: dict(tool.parameters) for tool in request.tools}
        said = BEHAVIOURS[behaviour](SimpleNamespace(system=request.system, prompt=request.prompt, tools=tools))
        return answered(said.text or "", calls=[Call(*call) for call in said.calls])

    return ask


@pytest.mark.medium
@pytest.mark.parametrize(
    "behaviour", [name if name == "faithful" else pytest.param(name, marks=pytest.mark.slow) for name in VERDICTS]
)
def test_a_run_ends_as_its_model_deserves_and_replays_without_it(tmp_path, behaviour):
    finished = run_asked(load_asked("axion-resource", None, SMALL), tmp_path / "run", asking(behaviour))
    assert finished.verdict.value == VERDICTS[behaviour]
    assert (tmp_path / "run" / TAPE).exists()
    assert verify(tmp_path / "run").intact


@pytest.mark.medium
@pytest.mark.parametrize("agent", ["honest", "examples/agents/honest.yaml"])
def test_an_agent_that_is_no_model_is_refused(agent):
    with pytest.raises(Rejected, match="E_INSPECT_AGENT"):
        load_asked("axion-resource", agent, SMALL)


@pytest.mark.parametrize("package", ["anyio", "inspect_ai"])
def test_without_a_package_of_the_extra_a_diagnostic_names_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "specledger.wings.bridges.inspect.evaluation", raising=False)
    with pytest.raises(Rejected, match=r"E_INSPECT_MISSING.*specledger\[inspect\]"):
        inspect.task("axion-resource")


DETERMINISTIC = "agent.trajectories.asks.deterministic"


@pytest.mark.parametrize(
    ("changes", "deterministic"),
    [([], False), (["seed=4"], False), ([f"{DETERMINISTIC}=true"], True), ([f"{DETERMINISTIC}=false"], False)],
)
def test_a_model_that_is_asked_about_recorded_calls_is_no_script(changes, deterministic):
    """It is the one of the shipped agent for Inspect, and not taken for deterministic unless a change says so."""
    bundle = load_recorded("recorded-decisions", changes)
    assert bundle is not None
    agent = bundle.specs[bundle.main.refs["agent",]].data["trajectories"]["asks"]
    assert agent.get("deterministic", False) == deterministic
    stand_in = load("asked-by-inspect", kind="agent")[0]
    assert agent["model"].rpartition("@")[0] == stand_in.main.data["outside"]["model"].rpartition("@")[0]
    assert bundle.main.data["seed"] == (4 if "seed=4" in changes else 240991)


def test_a_scenario_without_a_recording_has_nothing_to_be_asked_about():
    assert load_recorded("axion-resource", []) is None
    assert load_recorded("pursuit", []) is None  # it has several agents


def test_a_recording_that_names_no_model_is_refused_at_its_agent():
    with pytest.raises(Rejected) as refused:
        load_recorded("recorded-calls", [])
    (finding,) = refused.value.diagnostics
    assert finding.message == "recorded-calls names no model that is asked about its calls (`asks`)"
    assert finding.span is not None
    assert (finding.code, finding.span.file.rpartition("/")[2]) == ("E_INSPECT_AGENT", "recorded-calls.yaml")


def test_trajectories_are_those_of_the_logs_else_those_of_the_recording():
    bundle = load_recorded("recorded-decisions", [])
    assert bundle is not None
    own = trajectories_of(bundle, [])
    logs = sorted((ROOT / "specs/agent/recorded-decisions").glob("*.json"))
    assert len(own) == len(logs) == 4
    assert [each.id for each in trajectories_of(bundle, logs[1:2])] == [own[1].id]
